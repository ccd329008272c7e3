package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/image"
)

// Paths in a checkout.
var (
	defaultLogs = filepath.Join("bin", "node-logs")
)

// nodeOptions are the flags of the command.
type nodeOptions struct {
	dir     string // empty: derived from the checkout
	images  string
	logs    string
	keep    bool
	command []string
}

func NewCommand() *cobra.Command {
	var options nodeOptions
	cmd := &cobra.Command{
		Use:   "node [flags] -- COMMAND [ARGUMENTS]",
		Short: "Run a command next to a complete Kubernetes that runs pods",
		Long: `node starts a Kubernetes of one node (etcd, API server, controller manager, scheduler, kubelet, proxy, containerd, CoreDNS)
and runs a command on it, in its own network, mount and process namespaces. It does not change the machine's network, mounts
and processes. It leaves nothing behind, even after a SIGKILL. The exit code is that of the command.

The command finds the cluster in KUBECONFIG, and kubectl and the programs of bin/ in PATH. It runs on the node and reaches
Services and pods by address and by name (cauri-api.cauri-system). There is no other network.

The node has every image in the folder of images before the command starts. There is a StorageClass ` + "`standard`" + ` with volumes
on this machine. If the command fails, node saves logs and events in the folder of logs.

It needs Linux and root. If necessary, it installs ` + "containerd, runc, iptables and the CNI plugins" + ` as
Debian packages. On other systems, ` + "`make kind`" + ` does the same with Docker.`,
		Example: "  localcluster node -- kubectl get pods --all-namespaces\n  localcluster node -- bash",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options.command = args
			return runNode(cmd.Context(), cmd.ErrOrStderr(), options)
		},
	}
	cmd.Flags().
		StringVar(&options.dir, "dir", "", "the folder of the node's data, removed at the end (default: below "+host.SystemHome+", one for each checkout)")
	cmd.Flags().StringVar(&options.images, "images", image.DefaultFolder, "folder of image archives (*.tar) to load")
	cmd.Flags().StringVar(&options.logs, "logs", defaultLogs, "folder for logs and events if the command fails; its old content is removed")
	cmd.Flags().BoolVar(&options.keep, "keep-logs", false, "also write logs and events if the command succeeds")
	return cmd
}

// nodeRun is the input of the part of the command that runs inside the namespaces. The outer part passes it.
type nodeRun struct {
	Dir         string
	Programs    string   // folder of the Kubernetes programs
	Plugins     string   // folder of the CNI plugins
	NodeImages  []string // image archives that the node itself needs
	Images      []string // other image archives
	Logs        string
	KeepLogs    bool
	Cgroup      string // name of the cgroup of all pods
	Snapshotter string
	Path        string // PATH of the command
	Command     []string
}

// Names of the subcommands that the node command uses internally.
const (
	nodeInitName   = "node-init"
	nodeInsideName = "node-inside"
)

func NewInitCommand() *cobra.Command {
	return &cobra.Command{
		Use:    nodeInitName + " RUN",
		Short:  "The first process of a node's namespaces",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE:   func(_ *cobra.Command, args []string) error { return nodeInit(args[0]) },
	}
}

func NewInsideCommand() *cobra.Command {
	return &cobra.Command{
		Use:    nodeInsideName + " RUN",
		Short:  "Start a node inside its namespaces and run the command",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var run nodeRun
			if err := json.Unmarshal([]byte(args[0]), &run); err != nil {
				return fmt.Errorf("reading the description of the run: %w", err)
			}
			if os.Getppid() != 1 {
				return fmt.Errorf("this is an internal command of `localcluster node`")
			}
			return runInside(cmd.Context(), run)
		},
	}
}
