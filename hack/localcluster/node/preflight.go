package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/image"
)

// spaceForNode is the required free disk space, in bytes. A node with Postgres and two versions of Cauri took 450 MB,
// and databases grow.
const spaceForNode = 2000 * host.Mebibyte

// checkNode checks the requirements before anything is built or started.
func checkNode() error {
	if err := host.CheckSystem("a node", withoutNode); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("a node needs root, for namespaces, mounts and cgroups: run this as root, or " + withoutNode)
	}
	return checkNamespaces()
}

// nodePrograms are the programs that a node needs besides Kubernetes, and their Debian packages.
var nodePrograms = []struct{ program, pack string }{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"iptables", "iptables"},
	{"ip", "iproute2"},
	{"mount", "mount"},
}

// pluginFolders are the folders where packages install the CNI plugins.
var pluginFolders = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// pluginNames are the CNI plugins of the node's network.
var pluginNames = []string{"ptp", "host-local", "portmap"}

func pluginFolder() (string, error) {
	for _, folder := range pluginFolders {
		if !slices.ContainsFunc(pluginNames, func(name string) bool {
			_, err := os.Stat(filepath.Join(folder, name))
			return err != nil
		}) {
			return folder, nil
		}
	}
	return "", fmt.Errorf("the CNI plugins %s are not in any of %s", strings.Join(pluginNames, ", "), strings.Join(pluginFolders, ", "))
}

// missingPackages returns the packages of missing programs. It does not return the package of a program from another
// source: for example, Debian's containerd would replace that of Docker.
func missingPackages(has func(program string) bool) []string {
	var missing []string
	for _, needed := range nodePrograms {
		if !has(needed.program) && !slices.Contains(missing, needed.pack) {
			missing = append(missing, needed.pack)
		}
	}
	if _, err := pluginFolder(); err != nil {
		missing = append(missing, "containernetworking-plugins")
	}
	return missing
}

func inSystemPath(program string) bool {
	for _, folder := range filepath.SplitList(systemPath()) {
		if _, err := exec.LookPath(filepath.Join(folder, program)); err == nil {
			return true
		}
	}
	return false
}

// installNodePackages installs missing packages. A lock serializes installations.
func installNodePackages(ctx context.Context, out io.Writer) error {
	if len(missingPackages(inSystemPath)) == 0 {
		return nil
	}
	unlock, err := host.LockPackages(out)
	if err != nil {
		return err
	}
	defer unlock()
	missing := missingPackages(inSystemPath) // checked again, because another process may have installed them
	if len(missing) == 0 {
		return nil
	}
	advice := fmt.Sprintf("install the programs of the Debian packages %s, or %s", strings.Join(missing, ", "), withoutNode)
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("a node needs programs that are missing, and this system has no apt-get: " + advice)
	}
	args := append([]string{"install", "-q", "-y", "--no-install-recommends", "--no-remove"}, missing...)
	command := append([]string{"apt-get"}, args...)
	if err := host.AnnounceInstall(out, strings.Join(missing, ", "), "the node runs pods with it", [][]string{command}); err != nil {
		return err
	}
	if err := image.AptGet(ctx, out, args); err != nil {
		return fmt.Errorf("%w\n%s", err, advice)
	}
	if still := missingPackages(inSystemPath); len(still) > 0 {
		return fmt.Errorf("programs are still missing after the installation of %s: %s", strings.Join(still, ", "), advice)
	}
	return nil
}
