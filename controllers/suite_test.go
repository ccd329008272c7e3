package controllers_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// deadline is how long a test waits for something that must happen. It is long because the machine may be busy; a test that
// passes never waits for it.
const deadline = 3 * time.Minute

const baseURL = "http://cauri.example:8080"

// apiServer starts a real Kubernetes API server with the CRDs, once for all tests, when the first test asks for it.
var apiServer = sync.OnceValues(func() (*rest.Config, error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, fmt.Errorf("KUBEBUILDER_ASSETS is not set, so there is no Kubernetes API server to test with: run make test")
	}
	environment.CRDDirectoryPaths = []string{filepath.Join("..", "config", "crd")}
	environment.ErrorIfCRDPathMissing = true
	environment.ControlPlaneStartTimeout = deadline
	environment.ControlPlaneStopTimeout = deadline
	config, err := environment.Start()
	if err != nil {
		return nil, err
	}
	return config, applyFiles(config, filepath.Join("..", "config", "default", "namespace.yaml"), filepath.Join("..", "config", "rbac"))
})

// controllerUser is whom the controller runs as in a cluster. The tests run it as that user too, so that a right that it
// lacks fails a test.
const controllerUser = "system:serviceaccount:cauri-system:cauri-controller"

var environment envtest.Environment

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	code := m.Run()
	if environment.Config != nil {
		if err := environment.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the API server:", err)
		}
	}
	os.Exit(code)
}

// cluster is a namespace of the API server and a database, both of one test's own. Resources are made and read past the
// controller's cache.
type cluster struct {
	*testing.T
	client.Client
	config      *rest.Config
	namespace   string
	database    *faultyDatabase
	databaseURL string
	stop        func()
	readiness   healthz.Checker // of the controller that was started last
}

// newCluster prepares a test that runs beside others. The controller is not started yet.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	t.Parallel()
	config, err := apiServer()
	if err != nil {
		t.Fatal(err)
	}
	direct, err := client.New(config, client.Options{Scheme: controllers.Scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := direct.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	databaseURL := ledgertest.URL(t)
	c := &cluster{
		T: t, Client: direct, config: config, namespace: namespace.Name,
		database: newFaultyDatabase(ledgertest.OpenAs(t, databaseURL, ledgertest.Controller)), databaseURL: databaseURL,
	}
	return c
}

// start starts the controller for the test's namespace. It stops with the test, or by c.stop.
func (c *cluster) start(change ...func(*controllers.Options)) {
	c.Helper()
	c.startWith(controllers.ManagerOptions(c.namespace), change...)
}

func (c *cluster) startWith(managerOptions ctrl.Options, change ...func(*controllers.Options)) {
	c.Helper()
	c.startAs(controllerUser, managerOptions, change...)
}

// startAs starts the controller as a user of the API server.
func (c *cluster) startAs(user string, managerOptions ctrl.Options, change ...func(*controllers.Options)) {
	c.Helper()
	options := controllers.Options{
		Database:           c.database,
		BaseURL:            mustParse(baseURL),
		Random:             rand.Reader,
		Namespaces:         []string{c.namespace},
		Retry:              50 * time.Millisecond,
		Poll:               100 * time.Millisecond,
		SkipNameValidation: true,
	}
	for _, f := range change {
		f(&options)
	}
	managerOptions.Metrics = metricsserver.Options{BindAddress: "0"}
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	mgr, err := ctrl.NewManager(config, managerOptions)
	if err != nil {
		c.Fatal(err)
	}
	if c.readiness, err = controllers.SetupWithManager(mgr, options); err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	c.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			c.Errorf("the manager: %v", err)
		}
	})
	c.Cleanup(c.stop)
}

// restart ends the controller and starts another one.
func (c *cluster) restart() {
	c.Helper()
	c.stop()
	c.start()
}

func mustParse(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err)
	}
	return u
}
