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

// ownNamespaces are those of a node: its network, its mounts and its processes are nobody else's. The first process gets a
// session of its own, so that Ctrl-C reaches only the part outside, which passes it on once.
func ownNamespaces() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Setsid:     true,
		Pdeathsig:  syscall.SIGKILL,
	}
}

// checkNamespaces tries whether they may be made at all.
func checkNamespaces() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = ownNamespaces()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("this system allows no namespaces (%w), as in an unprivileged container: %s", err, withoutNode)
	}
	return nil
}

// nodeInit is the first process of the namespaces. It starts the rest of the command, passes signals on, collects the
// processes that others left behind, and ends with the code of what it started: the system then kills whatever still runs.
func nodeInit(described string) error {
	if os.Getpid() != 1 {
		return errors.New("this is a part of `localcluster node`, which starts it")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// Not by os/exec: its waiting and the one below would take each other's children.
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

// fixedFolders are those that containerd, the CNI plugins and the kubelet write to whatever they are told.
var fixedFolders = []string{"/run/containerd", "/run/netns", "/var/lib/cni", "/var/lib/kubelet", "/var/log/containers"}

// kernelTunables are what the kubelet wants of the kernel, and would set for the whole machine.
var kernelTunables = map[string]string{
	"kernel/keys/root_maxbytes": "25000000",
	"kernel/keys/root_maxkeys":  "1000000",
	"kernel/panic":              "10",
	"kernel/panic_on_oops":      "1",
	"vm/overcommit_memory":      "1",
	"vm/panic_on_oom":           "0",
}

// isolateMounts gives the node what it writes to outside of its folder. All of it is gone with the namespace.
func isolateMounts(state process.StateDir) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keeping mounts to the node: %w", err)
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

// shieldTunables shows the kubelet the values it wants. What it writes goes nowhere.
func shieldTunables(state process.StateDir) error {
	for name, value := range kernelTunables {
		path := filepath.Join("/proc/sys", name)
		if _, err := os.Stat(path); err != nil {
			continue // not of this kernel: the kubelet does not find it either
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

// replaceResolver has the command ask the cluster for names, as a pod does.
func replaceResolver(state process.StateDir) error {
	const path = "/etc/resolv.conf"
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // no names were resolved before
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

// snapshotterFor is how containerd keeps the layers of images in a folder. One overlay cannot stand on another, as it would
// in a container.
func snapshotterFor(path string) string {
	var stat unix.Statfs_t
	if err := unix.Statfs(filepath.Dir(path), &stat); err == nil && stat.Type == unix.OVERLAYFS_SUPER_MAGIC {
		return "native"
	}
	return "overlayfs"
}
