package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// ownNamespaces returns the attributes for the network, mount and process namespaces of a node. Its first process gets
// a new session, so that Ctrl-C reaches only the outer part, which passes the signal on once.
func ownNamespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Setsid:     true,
		Pdeathsig:  syscall.SIGKILL,
	}
}

// checkNamespaces checks that the system allows namespaces.
func checkNamespaces() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = ownNamespaces()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("this system does not allow namespaces (%w), for example because it is an unprivileged container: %s", err, withoutNode)
	}
	return nil
}

// nodeInit is the first process of the namespaces. It starts the inner command, passes signals to it, collects orphaned
// processes, and ends with the exit code of the command. The kernel then kills all other processes.
func nodeInit(described string) error {
	if os.Getpid() != 1 {
		return errors.New("this is an internal command of `localcluster node`")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// Do not use os/exec: its wait and the wait below would collect each other's children.
	child, err := syscall.ForkExec(self, []string{self, nodeInsideName, described}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2},
	})
	if err != nil {
		return fmt.Errorf("starting the node: %w", err)
	}
	go func() {
		for received := range signals {
			syscall.Kill(child, received.(syscall.Signal))
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("waiting for the node: %w", err)
		case pid == child && status.Signaled():
			return process.ExitStatus(128 + int(status.Signal()))
		case pid == child && status.ExitStatus() != 0:
			return process.ExitStatus(status.ExitStatus())
		case pid == child:
			return nil
		}
	}
}

// fixedFolders are the folders that containerd, the CNI plugins and the kubelet write to, independent of their
// configuration.
var fixedFolders = []string{"/run/containerd", "/run/netns", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"}

// kernelTunables are the kernel settings that the kubelet requires. It would change them for the whole machine.
var kernelTunables = map[string]string{
	"kernel/keys/root_maxbytes": "25000000",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
}

// isolateMounts mounts private versions of the folders outside the node's own folder. The mounts end with the
// namespace.
func isolateMounts(state process.StateDir) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making mounts private to the node: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	for _, folder := range fixedFolders {
		if err := unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID, "mode=0755"); err != nil {
			return fmt.Errorf("mounting %s: %w", folder, err)
		}
	}
	return errors.Join(shieldTunables(state), replaceResolver(state))
}

// shieldTunables mounts files over the kernel settings, so that the kubelet reads the values that it requires and its
// writes have no effect.
func shieldTunables(state process.StateDir) error {
	for name, value := range kernelTunables {
		path := filepath.Join("/proc/sys", name)
		if _, err := os.Stat(path); err != nil {
			continue // this kernel does not have the setting, so the kubelet does not read it
		}
		shown := state.File("run", strings.ReplaceAll(name, "/", "."))
		if err := os.WriteFile(shown, []byte(value+"\n"), 0o644); err != nil {
			return fmt.Errorf("shielding %s: %w", path, err)
		}
		if err := unix.Mount(shown, path, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("shielding %s: %w", path, err)
		}
	}
	return nil
}

// replaceResolver makes the command resolve names as a pod does.
func replaceResolver(state process.StateDir) error {
	const path = "/etc/resolv.conf"
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // there was no resolver before
	}
	own := state.File("run", "resolv.conf")
	text := "nameserver " + dnsServiceIP + "\nsearch svc." + clusterDomain + " " + clusterDomain + "\noptions ndots:3\n"
	if err := os.WriteFile(own, []byte(text), 0o644); err != nil {
		return fmt.Errorf("replacing %s: %w", path, err)
	}
	if err := unix.Mount(own, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("replacing %s: %w", path, err)
	}
	return nil
}

// snapshotterFor returns the containerd snapshotter for a folder. In a container, this is not overlayfs, because an
// overlay cannot be on top of another overlay.
func snapshotterFor(path string) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &stat); err == nil && stat.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native"
	}
	return "overlayfs"
}
