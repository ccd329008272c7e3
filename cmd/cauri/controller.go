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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/store"
)

// migrationRetry is the time between two attempts to bring the tables up to date.
const migrationRetry = 5 * time.Second

// controllerFlags are the settings of `cauri controller`.
type controllerFlags struct {
	databaseURL             string
	kubeconfig              string
	baseURL                 string
	encryptionKeyFile       string
	healthProbeBindAddress  string
	metricsBindAddress      string
	leaderElect             bool
	leaderElectionNamespace string
	concurrency             int
	kubeAPIQPS              float32
	kubeAPIBurst            int
	statusWritesPerSecond   float64
}

func newControllerCommand() *cobra.Command {
	var f controllerFlags
	cmd := &cobra.Command{
		Use:   "controller",
		Short: "Turn SandboxEnvironments and TestClients into rows, and rows into status",
		Long: `Turn SandboxEnvironments and TestClients into rows of the database, and rows into status.

The controller brings the database's tables up to date when it starts. While the database is away it keeps trying, stays
ready in the sense of its probe, and says so on the resources with the condition DatabaseReady. Payments never pass through
it: sandboxes go on working while it is away.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runController(cmd.Context(), f) },
	}
	databaseURL(cmd, &f.databaseURL)
	flags := cmd.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "path of a kubeconfig file; empty uses the pod's service account")
	flags.StringVar(&f.baseURL, "base-url", "http://localhost:8080", "URL at which the API is served; a sandbox's URL is below it")
	flags.StringVar(&f.encryptionKeyFile, "encryption-key-file", "", "file with the keys that stored secrets are encrypted by, one a line in base64")
	flags.StringVar(&f.healthProbeBindAddress, "health-probe-bind-address", ":8081", "address of /healthz and /readyz; 0 turns them off")
	flags.StringVar(&f.metricsBindAddress, "metrics-bind-address", ":8082", "address of /metrics; 0 turns it off")
	flags.BoolVar(&f.leaderElect, "leader-elect", false, "elect a leader among several replicas, which alone works")
	flags.StringVar(&f.leaderElectionNamespace, "leader-election-namespace", "", "namespace of the leader's Lease; empty uses the pod's own")
	flags.IntVar(&f.concurrency, "concurrency", 8, "how many resources of each kind are reconciled at a time")
	flags.Float32Var(&f.kubeAPIQPS, "kube-api-qps", 500, "requests to the Kubernetes API per second, on average")
	flags.IntVar(&f.kubeAPIBurst, "kube-api-burst", 1000, "requests to the Kubernetes API at once, at most")
	flags.Float64Var(&f.statusWritesPerSecond, "status-writes-per-second", 50, "live balances written to the status of resources per second, over all of them")
	return cmd
}

// runController runs until the context ends, and then lets running reconciliations finish.
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
	logger := logr.FromSlogHandler(slog.Default().Handler())
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)

	db, err := store.Open(f.databaseURL, store.Options{KeyRing: keys})
	if err != nil {
		return err
	}
	defer db.Close()

	mgr, err := f.newManager()
	if err != nil {
		return err
	}
	migrated := controllers.NewMigrated(db, func(ctx context.Context) error { return store.Migrate(ctx, f.databaseURL) }, migrationRetry)
	if err := mgr.Add(migrated); err != nil {
		return fmt.Errorf("adding the migration: %w", err)
	}
	err = controllers.SetupWithManager(mgr, controllers.Options{
		Database:              migrated,
		BaseURL:               baseURL,
		Random:                rand.Reader,
		Concurrency:           f.concurrency,
		StatusWritesPerSecond: f.statusWritesPerSecond,
	})
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// check returns the base URL, or all that is wrong with the flags.
func (f controllerFlags) check() (*url.URL, error) {
	var problems []error
	if f.concurrency < 1 {
		problems = append(problems, errors.New("--concurrency must be at least 1"))
	}
	if f.statusWritesPerSecond <= 0 {
		problems = append(problems, errors.New("--status-writes-per-second must be above 0"))
	}
	baseURL, err := parseBaseURL(f.baseURL)
	if err != nil {
		problems = append(problems, err)
	}
	return baseURL, errors.Join(problems...)
}

// newManager makes the manager without contacting the cluster.
func (f controllerFlags) newManager() (ctrl.Manager, error) {
	config, err := f.restConfig()
	if err != nil {
		return nil, fmt.Errorf("finding the Kubernetes API: %w", err)
	}
	options := controllers.ManagerOptions()
	options.HealthProbeBindAddress = f.healthProbeBindAddress
	options.Metrics = metricsserver.Options{BindAddress: f.metricsBindAddress}
	options.LeaderElection = f.leaderElect
	options.LeaderElectionID = controllers.LeaseName
	options.LeaderElectionNamespace = f.leaderElectionNamespace
	options.LeaderElectionReleaseOnCancel = true // the process ends right after the manager
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		return nil, fmt.Errorf("making the manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("ping", healthz.Ping)
}

// restConfig is the way to the Kubernetes API. The environment variable KUBECONFIG is left alone: it names the cluster of
// whoever runs the command, which may not be the one that this process is meant for.
func (f controllerFlags) restConfig() (*rest.Config, error) {
	load := rest.InClusterConfig
	if f.kubeconfig != "" {
		load = func() (*rest.Config, error) { return clientcmd.BuildConfigFromFlags("", f.kubeconfig) }
	}
	config, err := load()
	if err != nil {
		return nil, err
	}
	config.QPS = f.kubeAPIQPS
	config.Burst = f.kubeAPIBurst
	config.UserAgent = "cauri-controller"
	return config, nil
}
