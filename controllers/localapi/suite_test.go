package localapi

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// deadline is how long a test waits for something that must happen.
const deadline = 3 * time.Minute

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// process is an API with the controllers and a database, as in `cauri dev`.
type process struct {
	*testing.T
	*API
	databaseURL string
	stop        func()
}

// start starts a process on a new database.
func start(t *testing.T, options Options) *process {
	t.Helper()
	return startOn(t, ledgertest.URL(t), options)
}

func startOn(t *testing.T, databaseURL string, options Options, change ...func(*controllers.Options)) *process {
	t.Helper()
	api, err := New(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	managerOptions := controllers.ManagerOptions()
	managerOptions.Metrics = metricsserver.Options{BindAddress: "0"}
	mgr, err := api.NewManager(managerOptions)
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	settings := controllers.Options{
		Database: ledgertest.OpenAs(t, databaseURL, ledgertest.Controller), BaseURL: base, Random: rand.Reader,
		Retry: 50 * time.Millisecond, Poll: 100 * time.Millisecond, SkipNameValidation: true,
	}
	for _, f := range change {
		f(&settings)
	}
	if _, err := controllers.SetupWithManager(mgr, settings); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	p := &process{T: t, API: api, databaseURL: databaseURL}
	p.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the manager: %v", err)
		}
	})
	t.Cleanup(p.stop)
	return p
}

// manifests are those of a file with this text.
func manifests(t *testing.T, text string) Manifests {
	t.Helper()
	file := filepath.Join(t.TempDir(), "shop.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// apply applies manifests and waits until all is ready. It returns what changed.
func (p *process) apply(text string) []string {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), deadline)
	defer cancel()
	changes, err := p.Apply(ctx, manifests(p.T, text))
	if err != nil {
		p.Fatal(err)
	}
	if err := p.WaitReady(ctx); err != nil {
		p.Fatal(err)
	}
	said := make([]string, len(changes))
	for i, c := range changes {
		said[i] = c.String()
	}
	return said
}

func (p *process) credentials() map[string]string {
	return p.Secret(types.NamespacedName{Namespace: "default", Name: "checkout-credentials"})
}
