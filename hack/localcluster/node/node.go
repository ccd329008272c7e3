// Package node starts a Kubernetes cluster with one node in its own namespaces, and runs a command on that node.
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

// withoutNode is the alternative if no node can start.
const withoutNode = "run `make kind`, which needs Docker"

// runNode is the part of the command that runs outside the namespaces. It prepares the node, starts it and cleans up.
func runNode(ctx context.Context, out io.Writer, options nodeOptions) (err error) {
	if err := checkNode(); err != nil {
		return err
	}
	home, err := nodeHome(options.dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(home.path), 0o755); err != nil {
		return fmt.Errorf("creating the folder of nodes: %w", err)
	}
	unlock, err := host.LockFile(home.path+".lock", func() {
		fmt.Fprintln(out, "waiting for another node of this checkout to end")
	})
	if err != nil {
		return err
	}
	defer unlock()
	if err := home.clean(); err != nil { // left by a node that was killed
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

// nodeFolder is the folder of one node on this machine. The names of its cgroup and other objects are derived from its
// path, so that the next run finds and removes them.
type nodeFolder struct {
	path string // absolute
}

// nodeHome returns the folder given, or else a folder derived from the working directory, so that each checkout can
// have its own node.
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

// clean removes the cgroup of a node's pods and the folder. The kernel removes processes, mounts and interfaces
// together with the namespaces.
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

// prepare builds the programs and images if necessary, and returns the input for the inner part.
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
	if err := host.CheckSpace(f.path, spaceForNode, "the data of a node", "free some, or set --dir to a folder with more"); err != nil {
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

// imagesIn returns the archives in a folder, except those in without. It returns none for a missing folder.
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

// commandPath returns the PATH of the user's command. The programs of the checkout and of Kubernetes come first.
func commandPath(programs string) (string, error) {
	own, err := filepath.Abs("bin")
	if err != nil {
		return "", fmt.Errorf("finding the folder bin: %w", err)
	}
	return strings.Join([]string{own, programs, systemPath()}, string(filepath.ListSeparator)), nil
}

// systemPath returns PATH with the folders of system programs such as iptables, which a user's PATH often lacks.
func systemPath() string {
	return os.Getenv("PATH") + string(filepath.ListSeparator) + "/usr/sbin:/sbin"
}

// runInNamespaces runs the inner part in new namespaces and passes signals to it. All processes in the namespaces end
// with the first process, which ends with this process.
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
	// The death signal is tied to the thread that starts the process. Keep this thread until the program ends.
	runtime.LockOSThread()
	return process.Forward(cmd, func(received os.Signal) { cmd.Process.Signal(received) })
}
