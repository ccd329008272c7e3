// Package up has the commands up, down and status: Cauri on this machine.
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

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/postgres"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/hack/localcluster/source"
)

// apiPortVariable gives the port of the API, as --api-port does.
const apiPortVariable = "CAURI_API_PORT"

// processDatabaseVariables name, for each process, a database URL of its own: that of a user with no more than it needs.
var processDatabaseVariables = map[string]string{
	process.ControllerName: "CAURI_CONTROLLER_DATABASE_URL",
	process.APIName:        "CAURI_API_DATABASE_URL",
	process.WorkerName:     "CAURI_WORKER_DATABASE_URL",
}

// baseURLVariable is what the env file calls the address of the API.
const baseURLVariable = "CAURI_BASE_URL"

const defaultAPIPort = 8080

// spaceForState is more than a fresh set takes (150 MB): Postgres and etcd grow from there.
const spaceForState = 500 * host.Mebibyte

// upOptions are what the user decides.
type upOptions struct {
	dir     string
	cauri   string
	crds    string
	samples string
	apiPort int

	// Given from outside; empty means that one is run here.
	kubeconfig   string
	databaseURL  string
	databaseURLs map[string]string // of single processes
}

func NewUpCommand() *cobra.Command {
	var options upOptions
	var apiPort string
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start everything, or what is missing or has changed",
		Long: `up starts Postgres, a Kubernetes control plane and the roles of the cauri program, applies the custom resource
definitions and the samples, and returns when the sandboxes are ready to be used. The processes go on running; down stops
them. It can be repeated at any time: what runs stays, what has ended is started, what was built again is restarted.

The first time it builds the control plane from source, which takes minutes.

Environment:
  ` + kube.KubeconfigVariable + `     a kubeconfig: use the cluster of its current context instead of running one
  ` + postgres.DatabaseVariable + `   postgres://...: use this database instead of running one
  ` + processDatabaseVariables[process.ControllerName] + `, ` + processDatabaseVariables[process.APIName] + `, ` +
			processDatabaseVariables[process.WorkerName] + `
                       the same database for one process, as a user of its own
  ` + apiPortVariable + `       the port of the API (default ` + strconv.Itoa(defaultAPIPort) + `)
  CAURI_<FLAG>         a flag of the cauri program, for all roles: CAURI_LOG_LEVEL=debug
A KUBECONFIG that happens to be set is never used.`,
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
	cmd.Flags().StringVar(&options.samples, "samples", filepath.Join("config", "samples"), "file or folder of objects to apply; empty: none")
	cmd.Flags().
		StringVar(&apiPort, "api-port", "", "port of the API; 0: any free one, the same every time (default $"+apiPortVariable+" or "+strconv.Itoa(defaultAPIPort)+")")
	return cmd
}

// chooseAPIPort takes the flag before the variable before the default. 0 means any.
func chooseAPIPort(flag, variable string) (int, error) {
	for _, given := range []struct{ from, value string }{{"--api-port", flag}, {apiPortVariable, variable}} {
		if given.value == "" {
			continue
		}
		port, err := strconv.Atoi(given.value)
		if err != nil || port < 0 || port > 65535 {
			return 0, fmt.Errorf("%s=%s is no port: give a number up to 65535", given.from, given.value)
		}
		return port, nil
	}
	return defaultAPIPort, nil
}

// up is one run of the command. Its steps fill it in from top to bottom.
type up struct {
	options    upOptions
	out        io.Writer
	begun      time.Time
	state      process.StateDir
	supervisor process.Supervisor

	cauri       string // absolute path
	build       source.Build
	ports       process.Ports
	databaseURL string           // of its owner
	postgres    *postgres.Server // nil: the database is given from outside
	kubeconfig  []byte
	roles       roles
	cluster     *kube.Cluster
	ready       []*unstructured.Unstructured // the samples
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
		u.buildControlPlane,
		u.choosePorts,
		u.dismissUnwanted,
		u.startPostgres,
		u.startControlPlane,
		u.migrate,
		u.defineResources,
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

// checkGiven refuses early what cannot work, before anything is built, made or started.
func (u *up) checkGiven(ctx context.Context) (err error) {
	if u.ownControlPlane() || u.ownPostgres() {
		if err := host.CheckSystem("give both " + kube.KubeconfigVariable + " and " + postgres.DatabaseVariable); err != nil {
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
	if err := checkFiles(u.options.cauri, u.options.crds, u.options.samples); err != nil {
		return err
	}
	if err := host.CheckSpace(
		u.state.Path,
		spaceForState,
		"the data of a local Cauri",
		"free some, or name a folder with more by --dir",
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
	u.build, err = kube.FindBuild()
	return err
}

// checkAPIPort looks at a port that was given. One that is chosen here is free.
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

// tell prints what there is now.
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
		dir: u.options.dir, cauri: u.options.cauri, running: running, kubeconfig: u.state.Kubeconfig(), baseURL: u.roles.baseURL(),
		sample: found, reference: fmt.Sprintf("TRY-PAY-%s", u.begun.UTC().Format("20060102150405")), stop: stopCommand(u.options.dir),
	}.print(u.out)
}

// stopCommand is how to stop what was started from a folder.
func stopCommand(dir string) string {
	program, err := os.Executable()
	if err != nil {
		program = "localcluster"
	}
	if working, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(working, program); err == nil && len(short) < len(program) {
			program = short
		}
	}
	return fmt.Sprintf("%s down --dir=%s", program, shellWord(dir))
}

// addStateFlag adds the flag that every command about a running set of processes has.
func addStateFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVar(dir, "dir", ".cauri", "the folder that holds logs, certificates, data and what is running")
}
