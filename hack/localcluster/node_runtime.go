package main

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
)

// containerdConfig is read by containerd 1.6 up to 2.x.
const containerdConfig = `version = 2
root = %[1]q
state = %[2]q
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper"]

[grpc]
  address = %[3]q

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = %[4]q
  # Without CAP_SYS_RESOURCE, as on some virtual machines, no process may be made dearer to the kernel than it is.
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

func (n *node) containerdSocket() string { return n.state.file("containerd.sock") }

func (n *node) containerdConfig() string {
	return fmt.Sprintf(containerdConfig, n.state.file("containerd"), n.state.file("containerd-state"), n.containerdSocket(), pauseImage,
		n.run.Plugins, n.state.file("cni"), n.run.Snapshotter)
}

func (n *node) writeRuntimeConfiguration() error {
	network, err := json.MarshalIndent(podNetwork(n.state), "", "  ")
	if err != nil {
		return fmt.Errorf("describing the network of pods: %w", err)
	}
	if err := os.MkdirAll(n.state.file("cni"), 0o700); err != nil {
		return fmt.Errorf("making the folder of the pods' network: %w", err)
	}
	return errors.Join(
		writeFile(n.state.file("containerd.toml"), []byte(n.containerdConfig())),
		writeFile(n.state.file("cni", "10-cauri.conflist"), network),
	)
}

func (n *node) containerd() (component, error) {
	program, err := exec.LookPath(containerdName)
	if err != nil {
		return component{}, fmt.Errorf("looking for containerd: %w", err)
	}
	return component{
		name: containerdName, program: program, args: []string{"--config", n.state.file("containerd.toml")}, dir: n.state.path,
		stopSignal: syscall.SIGTERM, stopWithin: 5 * time.Second, readyWithin: time.Minute,
		ready: func(ctx context.Context) error {
			connection, err := (&net.Dialer{}).DialContext(ctx, "unix", n.containerdSocket())
			if err != nil {
				return err
			}
			return connection.Close()
		},
	}, nil
}

// startRuntime starts containerd and imports what the first pods need.
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

// importImages puts images where the kubelet looks for them.
func (n *node) importImages(ctx context.Context, archives []string) error {
	for _, archive := range archives {
		cmd := exec.CommandContext(ctx, "ctr", "--address", n.containerdSocket(), "--namespace", "k8s.io",
			"images", "import", "--snapshotter", n.run.Snapshotter, archive)
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("importing the image %s: %w: %s; remove the file if it is no image", archive, err, endOf(string(output), 5))
		}
		n.stages.reached("image " + filepath.Base(archive))
	}
	return nil
}
