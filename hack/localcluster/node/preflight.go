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

// Measured: 450 MB with Postgres and two versions of Cauri; databases grow from there.
const spaceForNode = 2000 * host.Mebibyte

// checkNode refuses early what cannot work.
func checkNode() error {
	if err := host.CheckSystem(withoutNode); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("a node needs root, for namespaces, mounts and cgroups: run this as root, or " + withoutNode)
	}
	return checkNamespaces()
}

// nodePrograms are what a node runs beside Kubernetes, and the packages of Debian that have them.
var nodePrograms = []struct{ program, pack string }{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"iptables", "iptables"},
	{"ip", "iproute2"},
	{"mount", "mount"},
}

// pluginFolders are where packages put the CNI plugins.
var pluginFolders = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}

// pluginNames are those that the node's network uses.
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
	return "", fmt.Errorf("the CNI plugins %s are in none of %s", strings.Join(pluginNames, ", "), strings.Join(pluginFolders, ", "))
}

// missingPackages are those whose programs are not there. What was installed some other way counts: a package of Debian would
// replace the containerd of a Docker.
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

// installNodePackages installs what is missing. Two that do it at the same time wait for each other.
func installNodePackages(ctx context.Context, out io.Writer) error {
	if len(missingPackages(inSystemPath)) == 0 {
		return nil
	}
	unlock, err := host.LockFile(filepath.Join(host.SystemHome, "packages.lock"), func() {
		fmt.Fprintln(out, "another localcluster is installing packages: waiting for it")
	})
	if err != nil {
		return err
	}
	defer unlock()
	missing := missingPackages(inSystemPath) // now that the other is done
	if len(missing) == 0 {
		return nil
	}
	advice := fmt.Sprintf("install what the packages %s of Debian have, or %s", strings.Join(missing, ", "), withoutNode)
	if _, err := exec.LookPath("apt-get"); err != nil {
		return errors.New("a node needs programs that are missing, and this system has no apt-get: " + advice)
	}
	fmt.Fprintf(out, "installing packages that a node needs: %s\n", strings.Join(missing, ", "))
	args := append([]string{"install", "-q", "-y", "--no-install-recommends", "--no-remove"}, missing...)
	if err := image.AptGet(ctx, out, args); err != nil {
		return fmt.Errorf("%w\n%s", err, advice)
	}
	if still := missingPackages(inSystemPath); len(still) > 0 {
		return fmt.Errorf("after the installation there is still nothing of %s: %s", strings.Join(still, ", "), advice)
	}
	return nil
}
