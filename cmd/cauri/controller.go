package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	k8sclock "k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// migrationRetry is the pause between two attempts to migrate the database schema.
const migrationRetry = 5 * time.Second

// controllerStatementTimeout bounds every statement of the controller, so that the status of the resources soon reports
// a database that hangs.
const controllerStatementTimeout = 10 * time.Second

// sealingInterval is the interval between two checks for stored secrets that are encrypted with an older key.
const sealingInterval = 30 * time.Second

// reconciliationTimeout bounds the running reconciliations after the controller was told to stop. The grace period of
// the pod is 30 s.
const reconciliationTimeout = 25 * time.Second

// stopTimeout bounds the stop of the whole controller. It is longer than reconciliationTimeout, and shorter than the
// pod's grace period of 30 s.
const stopTimeout = 28 * time.Second

func newControllerCommand() *cobra.Command {
	var f controllerFlags
	cmd := &cobra.Command{
		Use:   "controller",
		Short: "Reconcile SandboxEnvironments, TestClients and Expectations with the database",
		Long: `Reconcile SandboxEnvironments, TestClients and Expectations with the database.

The controller writes the configuration of the resources to the database, and the state of the sandboxes to the status of
the resources. When it starts, it updates the database schema. While the database is unavailable, the controller retries,
stays ready, and reports the problem in the condition DatabaseReady of the resources. Payments do not pass through the
controller: sandboxes continue to work while it is stopped.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runController(cmd.Context(), f) },
	}
	databaseURL(cmd, &f.databaseURL)
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "path of a kubeconfig file; empty uses the service account of the pod")
	flags.StringVar(&f.baseURL, "base-url", "http://localhost:8080", "public URL of the API; the URL of each sandbox is below it")
	operatorDomain(cmd, &f.operatorDomain)
	flags.StringVar(&f.encryptionKeyFile, "encryption-key-file", "",
		"file with the keys that encrypt stored secrets, one key a line, in base64")
	flags.StringVar(&f.healthAddress, "health-address", ":8081", "address that serves /healthz and /readyz; 0 turns them off")
	flags.StringVar(&f.metricsAddress, "metrics-address", ":8082", "address that serves /metrics; 0 turns it off")
	flags.SetNormalizeFunc(usualNames)
	f.add(flags)
	clockOffset(cmd, &f.clockOffset)
	containerMemory(cmd, &f.containerMemory)
	flags.StringVar(&f.installation, "installation", "",
		"name of this installation, unique in the cluster; it marks its sandboxes, and leaves those of another one alone")
	flags.BoolVar(&f.leaderElect, "leader-elect", false, "elect a leader among several replicas; only the leader reconciles")
	flags.StringVar(&f.leaderElectionNamespace, "leader-election-namespace", "",
		"namespace of the leader's Lease; empty uses the namespace of the pod")
	flags.StringVar(&f.leaderElectionID, "leader-election-id", controllers.LeaseName,
		"name of the leader's Lease; two installations in one namespace need two")
	flags.IntVar(&f.concurrency, "concurrency", 8, "maximum number of resources of each kind that are reconciled at one time")
	flags.Float32Var(&f.kubeAPIQPS, "kube-api-qps", 500, "average number of requests to the Kubernetes API per second")
	flags.IntVar(&f.kubeAPIBurst, "kube-api-burst", 1000, "maximum burst of requests to the Kubernetes API")
	flags.Float64Var(&f.statusWritesPerSecond, "status-writes-per-second", 4,
		"status updates with current balances and counts per second, over all resources; up to 50 at once after a quiet time")
	flags.StringSliceVar(&f.watchNamespaces, "watch-namespaces", nil,
		"namespaces whose resources are reconciled; empty means all (config/namespaced also limits the RBAC rights)")
	flags.IntVar(&f.maxSandboxes, "max-sandboxes-per-namespace", 0,
		"maximum number of SandboxEnvironments that are reconciled in a namespace, oldest first; 0 means no limit")
	flags.IntVar(&f.maxTestClients, "max-test-clients-per-sandbox", 0,
		"maximum number of TestClients that are reconciled in a sandbox, oldest first; 0 means no limit")
	return cmd
}

// runController runs the controller until the context ends. Then it waits for the running reconciliations.
func runController(ctx context.Context, f controllerFlags) error {
	if err := requireDatabaseURL(f.databaseURL); err != nil {
		return err
	}
	keys, err := loadKeyRing(f.encryptionKeyFile)
	if err != nil {
		return err
	}
	baseURL, err := f.check()
	if err != nil {
		return err
	}
	limitMemory(f.containerMemory)
	if f.operatorRoot, err = f.rootsBelow(baseURL); err != nil {
		return err
	}
	logger := logr.FromSlogHandler(slog.Default().Handler())
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	db, err := f.openDatabase()
	if err != nil {
		return err
	}
	defer db.Close()
	mgr, err := f.newManager()
	if err != nil {
		return err
	}
	ready, err := f.setUp(mgr, db, keys, baseURL)
	if err != nil {
		return err
	}
	go keys.Follow(ctx, keyPoll)
	if err := f.addServers(mgr, ready); err != nil {
		return err
	}
	return startWithin(ctx, mgr.Start, stopTimeout)
}

func (f controllerFlags) openDatabase() (*postgres.DB, error) {
	return postgres.Open(f.databaseURL, postgres.Options{Now: clock(f.clockOffset), StatementTimeout: controllerStatementTimeout})
}

// setUp adds the controllers to a manager. It returns their readiness check.
func (f controllerFlags) setUp(mgr ctrl.Manager, db *postgres.DB, keys *secrets.KeyRing, baseURL *url.URL) (healthz.Checker, error) {
	guard, err := f.guard()
	if err != nil {
		return nil, err
	}
	configured := sandboxes.New(db, sandboxes.Options{KeyRing: keys})
	migration := controllers.NewMigration(func(ctx context.Context) error { return postgres.Migrate(ctx, f.databaseURL) }, migrationRetry)
	if err := mgr.Add(migration); err != nil {
		return nil, fmt.Errorf("adding the migration: %w", err)
	}
	if err := mgr.Add(controllers.NewSealing(migration.Ready, keys, configured.Reseal, sealingInterval)); err != nil {
		return nil, fmt.Errorf("adding the re-encryption of stored secrets: %w", err)
	}
	counts, err := registerMetrics(mgr, db)
	if err != nil {
		return nil, err
	}
	return controllers.SetupWithManager(mgr, controllers.Options{
		Database:              configured,
		Ready:                 migration.Ready,
		BaseURL:               baseURL,
		OperatorRoot:          f.operatorRoot,
		Random:                rand.Reader,
		Guard:                 guard,
		SigningSecret:         f.signingSecret,
		Installation:          f.installation,
		CallbackHosts:         f.callbackHosts,
		Concurrency:           f.concurrency,
		StatusWritesPerSecond: f.statusWritesPerSecond,
		Namespaces:            f.watchNamespaces,
		MaxSandboxes:          f.maxSandboxes,
		MaxTestClients:        f.maxTestClients,
		Clock:                 offsetClock{offset: f.clockOffset},
		Counts:                counts,
	})
}

// startWithin calls start and returns its error. It returns an error of its own if start does not return within timeout
// after the end of ctx. This happens if the Kubernetes API does not answer: a manager does not stop while its caches
// are not filled.
func startWithin(ctx context.Context, start func(context.Context) error, timeout time.Duration) error {
	stopped := make(chan error, 1)
	go func() { stopped <- start(ctx) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-stopped:
		return err
	case <-time.After(timeout):
		return fmt.Errorf("the controller did not stop within %s: does the Kubernetes API answer?", timeout)
	}
}

// check returns the base URL, or all errors in the flags.
func (f controllerFlags) check() (*url.URL, error) {
	var problems []error
	if f.concurrency < 1 {
		problems = append(problems, errors.New("--concurrency must be at least 1"))
	}
	if f.statusWritesPerSecond <= 0 {
		problems = append(problems, errors.New("--status-writes-per-second must be above 0"))
	}
	if f.maxSandboxes < 0 {
		problems = append(problems, errors.New("--max-sandboxes-per-namespace must not be negative; 0 means no limit"))
	}
	if f.maxTestClients < 0 {
		problems = append(problems, errors.New("--max-test-clients-per-sandbox must not be negative; 0 means no limit"))
	}
	for _, namespace := range f.watchNamespaces {
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			problems = append(problems, fmt.Errorf("--watch-namespaces: %q is not a valid namespace name; write, for example, team-a,team-b",
				namespace))
		}
	}
	baseURL, err := parseBaseURL("--base-url", f.baseURL)
	if err != nil {
		problems = append(problems, err)
	} else if _, err := f.rootsBelow(baseURL); err != nil {
		problems = append(problems, err)
	}
	return baseURL, cli.Usage(errors.Join(problems...))
}

// rootsBelow returns the addresses below the domain of --operator-domain, nil if the flag is empty.
func (f controllerFlags) rootsBelow(baseURL *url.URL) (func(*sandboxes.Sandbox, payments.Operator) string, error) {
	domain, err := parseOperatorDomain(f.operatorDomain, baseURL)
	if domain == nil {
		return nil, err
	}
	return func(of *sandboxes.Sandbox, operator payments.Operator) string {
		return domain.URL(operator, sandboxes.HostCode(of.OrganizationID))
	}, nil
}

// newManager returns a manager that is not started.
func (f controllerFlags) newManager() (ctrl.Manager, error) {
	config, err := f.restConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the Kubernetes API: %w", err)
	}
	options := f.managerOptions()
	options.GracefulShutdownTimeout = new(reconciliationTimeout)
	options.LeaderElection = f.leaderElect
	options.LeaderElectionID = f.leaderElectionID
	options.LeaderElectionNamespace = f.leaderElectionNamespace
	options.LeaderElectionReleaseOnCancel = true // safe, because the process ends right after the manager
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	return mgr, nil
}

func (f controllerFlags) managerOptions() ctrl.Options {
	options := controllers.ManagerOptions(f.watchNamespaces...)
	options.HealthProbeBindAddress = "0" // addServers serves probes and metrics
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	return options
}

// usualNames accepts the usual names of controllers' flags for the two addresses as aliases.
func usualNames(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "health-probe-bind-address":
		name = "health-address"
	case "metrics-bind-address":
		name = "metrics-address"
	}
	return pflag.NormalizedName(name)
}

// registerMetrics registers Cauri's metrics beside those of the manager. Only the leader reports the counts of
// resources.
func registerMetrics(mgr ctrl.Manager, db *postgres.DB) (*telemetry.Resources, error) {
	if err := telemetry.RegisterBuildInfo(ctrlmetrics.Registry, "controller", programVersion()); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	telemetry.RegisterPool(ctrlmetrics.Registry, db.PoolStat)
	if err := ctrlmetrics.Registry.Register(telemetry.UnreadableNamespaces); err != nil {
		return nil, fmt.Errorf("registering metrics: %w", err)
	}
	return telemetry.NewResources(ctrlmetrics.Registry, func() bool {
		select {
		case <-mgr.Elected():
			return true
		default:
			return false
		}
	})
}

// offsetClock is the clock of the machine plus an offset, for tests.
type offsetClock struct {
	k8sclock.RealClock
	offset time.Duration
}

// Now implements [k8sclock.Clock].
func (c offsetClock) Now() time.Time { return time.Now().Add(c.offset) }

// Since implements [k8sclock.Clock].
func (c offsetClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// clusterConfig returns the configuration of the Kubernetes client. It ignores the environment variable KUBECONFIG,
// because the variable may name another cluster than the one in which the process runs.
func clusterConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		return rest.InClusterConfig()
	}
	return clientcmd.BuildConfigFromFlags("", kubeconfig)
}

func (f controllerFlags) restConfig() (*rest.Config, error) {
	config, err := clusterConfig(f.kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = f.kubeAPIQPS
	config.Burst = f.kubeAPIBurst
	config.UserAgent = "cauri-controller"
	return config, nil
}
