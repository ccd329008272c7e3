// Package node runs a Kubernetes of one node that runs pods, in namespaces of its own, around a command.
package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/image"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// withoutNode is what one does where no node can be brought up.
const withoutNode = "run `make kind`, which needs Docker"

// runNode is the part outside of the namespaces: it makes what the node needs, starts it and removes what it leaves.
func runNode(ctx context.Context, out io.Writer, options nodeOptions) (err error) {
	if err := checkNode(); err != nil {
		return err
	}
	home, err := nodeHome(options.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(home.path), 0o755); err != nil {
		return fmt.Errorf("making the folder of nodes: %w", err)
	}
	unlock, err := host.LockFile(home.path+".lock", func() {
		fmt.Fprintln(out, "another node of this checkout runs: waiting for its end")
	})
	if err != nil {
		return err
	}
	defer unlock()
	if err := home.clean(); err != nil { // of one that was killed
		return err
	}
	run, err := home.prepare(ctx, out, options)
	if err != nil {
		return err
	}
	leave, err := makeMountPoints(filepath.Join(host.SystemHome, "mount-points"), fixedFolders)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, leave()) }()
	if err := home.state().Create(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, home.clean()) }()
	if err := makeCgroup(home.cgroup()); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("interrupted before the node was started")
	}
	return runInNamespaces(run)
}

// nodeFolder is the place of one node on this machine. All that it leaves here has a name that follows from the path, so that
// the next one finds it.
type nodeFolder struct {
	path string // absolute
}

// nodeHome chooses a folder by the working directory, which is that of the checkout: two checkouts may have a node each.
func nodeHome(given string) (nodeFolder, error) {
	if given != "" {
		absolute, err := filepath.Abs(given)
		if err != nil {
			return nodeFolder{}, fmt.Errorf("finding the folder of the node: %w", err)
		}
		return nodeFolder{absolute}, nil
	}
	working, err := os.Getwd()
	if err != nil {
		return nodeFolder{}, fmt.Errorf("finding the working directory: %w", err)
	}
	return nodeFolder{filepath.Join(host.SystemHome, "node-"+shortHash(working))}, nil
}

func shortHash(text string) string {
	hash := sha256.Sum256([]byte(text))
	return hex.EncodeToString(hash[:6])
}

func (f nodeFolder) state() process.StateDir { return process.StateDir{Path: f.path} }
func (f nodeFolder) cgroup() string          { return "cauri-node-" + shortHash(f.path) }

// clean removes what a node leaves: the cgroup of its pods and its folder. Its processes, mounts and interfaces are gone with
// the namespaces.
func (f nodeFolder) clean() error {
	if err := removeCgroup(f.cgroup()); err != nil {
		return err
	}
	if !f.state().IsOurs() {
		return nil
	}
	if err := os.RemoveAll(f.path); err != nil {
		return fmt.Errorf("removing the data of a node: %w", err)
	}
	return nil
}

// prepare makes what is made once, and looks for the rest.
func (f nodeFolder) prepare(ctx context.Context, out io.Writer, options nodeOptions) (nodeRun, error) {
	if err := installNodePackages(ctx, out); err != nil {
		return nodeRun{}, err
	}
	build, err := kube.FindBuild()
	if err != nil {
		return nodeRun{}, err
	}
	if err := build.Ensure(ctx, out); err != nil {
		return nodeRun{}, err
	}
	nodeImages, err := image.EnsureNodeImages(ctx, out)
	if err != nil {
		return nodeRun{}, err
	}
	images, err := imagesIn(options.images, nodeImages)
	if err != nil {
		return nodeRun{}, err
	}
	if err := host.CheckSpace(f.path, spaceForNode, "the data of a node", "free some, or name a folder with more by --dir"); err != nil {
		return nodeRun{}, err
	}
	plugins, err := pluginFolder()
	if err != nil {
		return nodeRun{}, err
	}
	logs, err := filepath.Abs(options.logs)
	if err != nil {
		return nodeRun{}, fmt.Errorf("finding the folder of logs: %w", err)
	}
	path, err := commandPath(build.Folder)
	if err != nil {
		return nodeRun{}, err
	}
	return nodeRun{
		Dir: f.path, Programs: build.Folder, Plugins: plugins, NodeImages: nodeImages, Images: images, Logs: logs, KeepLogs: options.keep,
		Cgroup: f.cgroup(), Snapshotter: snapshotterFor(f.path), Path: path, Command: options.command,
	}, nil
}

// imagesIn lists the archives of a folder, but for those that are imported anyway. A folder that is not there has none.
func imagesIn(folder string, without []string) ([]string, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("finding the folder of images: %w", err)
	}
	archives, err := filepath.Glob(filepath.Join(absolute, "*.tar"))
	if err != nil {
		return nil, fmt.Errorf("listing the images: %w", err)
	}
	var images []string
	for _, archive := range archives {
		known := false
		for _, other := range without {
			known = known || filepath.Base(other) == filepath.Base(archive)
		}
		if !known {
			images = append(images, archive)
		}
	}
	return images, nil
}

// commandPath is where the command's programs are looked for: those of the checkout and of Kubernetes first.
func commandPath(programs string) (string, error) {
	own, err := filepath.Abs("bin")
	if err != nil {
		return "", fmt.Errorf("finding the folder bin: %w", err)
	}
	return strings.Join([]string{own, programs, systemPath()}, string(filepath.ListSeparator)), nil
}

// systemPath is PATH with the folders of the administrator's programs, where iptables is: a user's PATH often lacks them.
func systemPath() string {
	return os.Getenv("PATH") + string(filepath.ListSeparator) + "/usr/sbin:/sbin"
}

// runInNamespaces starts the rest of the command in namespaces of its own, and passes signals on to it. Its first process
// takes all others with it when it ends, and it ends with this one.
func runInNamespaces(run nodeRun) error {
	described, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("describing what to run: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.Command(self, nodeInitName, string(described))
	cmd.SysProcAttr = ownNamespaces()
	// The end that it shares is that of the thread that starts it. This one is kept until the end of the program.
	runtime.LockOSThread()
	return process.Forward(cmd, func(received os.Signal) { cmd.Process.Signal(received) })
}
