package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/image"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// containerdConfig is a configuration for containerd 1.6 to 2.x.
const containerdConfig = `version = 2
root = %[1]q
state = %[2]q
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper"]

[grpc]
  address = %[3]q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[4]q
  # Without CAP_SYS_RESOURCE, as on some virtual machines, no process may lower its OOM score.
  restrict_oom_score_adj = true
  # The profiles would have to be installed on the machine.
  disable_apparmor = true
  netns_mounts_under_state_dir = true

[plugins."io.containerd.grpc.v1.cri".cni]
  bin_dir = %[5]q
  conf_dir = %[6]q

[plugins."io.containerd.grpc.v1.cri".containerd]
  snapshotter = %[7]q

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
  SystemdCgroup = false
`

func (n *node) containerdSocket() string { return n.state.File("containerd.sock") }

func (n *node) containerdConfig() string {
	return fmt.Sprintf(containerdConfig, n.state.File("containerd"), n.state.File("containerd-state"), n.containerdSocket(), image.Pause,
		n.run.Plugins, n.state.File("cni"), n.run.Snapshotter)
}

func (n *node) writeRuntimeConfiguration() error {
	network, err := json.MarshalIndent(podNetwork(n.state), "", "  ")
	if err != nil {
		return fmt.Errorf("describing the network of pods: %w", err)
	}
	if err := os.MkdirAll(n.state.File("cni"), 0o700); err != nil {
		return fmt.Errorf("creating the folder of the pods' network: %w", err)
	}
	return errors.Join(
		host.WriteFile(n.state.File("containerd.toml"), []byte(n.containerdConfig())),
		host.WriteFile(n.state.File("cni", "10-cauri.conflist"), network),
	)
}

func (n *node) containerd() (process.Component, error) {
	program, err := exec.LookPath(process.ContainerdName)
	if err != nil {
		return process.Component{}, fmt.Errorf("looking for containerd: %w", err)
	}
	return process.Component{
		Name: process.ContainerdName, Program: program, Args: []string{"--config", n.state.File("containerd.toml")}, Dir: n.state.Path,
		StopSignal: syscall.SIGTERM, StopWithin: 5 * time.Second, ReadyWithin: time.Minute,
		Ready: func(ctx context.Context) error {
			connection, err := (&net.Dialer{}).DialContext(ctx, "unix", n.containerdSocket())
			if err != nil {
				return err
			}
			return connection.Close()
		},
	}, nil
}

// startRuntime starts containerd and imports the images of the first pods.
func (n *node) startRuntime(ctx context.Context) error {
	containerd, err := n.containerd()
	if err != nil {
		return err
	}
	if err := n.start(ctx, containerd); err != nil {
		return err
	}
	return n.importImages(ctx, n.run.NodeImages)
}

// importImages imports images into the namespace that the kubelet uses.
func (n *node) importImages(ctx context.Context, archives []string) error {
	for _, archive := range archives {
		cmd := exec.CommandContext(ctx, "ctr", "--address", n.containerdSocket(), "--namespace", "k8s.io",
			"images", "import", "--snapshotter", n.run.Snapshotter, archive)
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("importing the image %s: %w: %s; remove the file if it is not an image", archive, err, host.EndOf(string(output), 5))
		}
		n.stages.reached("image " + filepath.Base(archive))
	}
	return nil
}
