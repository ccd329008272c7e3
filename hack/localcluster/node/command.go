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

// Where things are in a checkout.
var (
	defaultLogs = filepath.Join("bin", "node-logs")
)

// nodeOptions are what the user decides.
type nodeOptions struct {
	dir     string // empty: chosen by the checkout
	images  string
	logs    string
	keep    bool
	command []string
}

func NewCommand() *cobra.Command {
	var options nodeOptions
	cmd := &cobra.Command{
		Use:   "node [flags] -- COMMAND [ARGUMENTS]",
		Short: "Run a command beside a whole Kubernetes that runs pods",
		Long: `node brings up a Kubernetes of one node (etcd, API server, controller manager, scheduler, kubelet, proxy, containerd, CoreDNS)
around a command, in network, mount and process namespaces of its own: the machine's own network, mounts and processes are
left alone, and nothing remains, not even after a SIGKILL. The exit code is that of the command.

The command finds the cluster in KUBECONFIG, and kubectl and the programs of bin/ in PATH. It runs on the node: the addresses
of Services and pods answer it, and names in the cluster (cauri-api.cauri-system) resolve. There is no other network.

Every archive in the folder of images is there when the command starts. There is a StorageClass ` + "`standard`" + ` with volumes
on this machine. Where the command fails, logs and events are kept in the folder of logs.

It needs Linux and root, and installs what it lacks of ` + "containerd, runc, iptables and the CNI plugins" + ` as packages of
Debian. Elsewhere ` + "`make kind`" + ` does the same with Docker.`,
		Example: "  localcluster node -- kubectl get pods --all-namespaces\n  localcluster node -- bash",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			options.command = args
			return runNode(cmd.Context(), cmd.ErrOrStderr(), options)
		},
	}
	cmd.Flags().
		StringVar(&options.dir, "dir", "", "the folder of the node's data, gone afterwards (default: below "+host.SystemHome+", one for each checkout)")
	cmd.Flags().StringVar(&options.images, "images", image.DefaultFolder, "folder of archives (*.tar) of images that are to be there")
	cmd.Flags().StringVar(&options.logs, "logs", defaultLogs, "folder for logs and events where the command fails; what it held is removed")
	cmd.Flags().BoolVar(&options.keep, "keep-logs", false, "write logs and events where the command succeeds too")
	return cmd
}

// nodeRun is what the part of the command within the namespaces is told by the part outside.
type nodeRun struct {
	Dir         string
	Programs    string   // folder of Kubernetes' programs
	Plugins     string   // folder of the CNI plugins
	NodeImages  []string // archives that the node itself needs
	Images      []string // all others
	Logs        string
	KeepLogs    bool
	Cgroup      string // name of the cgroup of all pods
	Snapshotter string
	Path        string // PATH of the command
	Command     []string
}

// Names of the parts that the node's command starts of itself.
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
		Short:  "Bring up a node within its namespaces and run the command",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var run nodeRun
			if err := json.Unmarshal([]byte(args[0]), &run); err != nil {
				return fmt.Errorf("reading what to run: %w", err)
			}
			if os.Getppid() != 1 {
				return fmt.Errorf("this is a part of `localcluster node`, which starts it")
			}
			return runInside(cmd.Context(), run)
		},
	}
}
