package controllers

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/expectation"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/controllers/sandboxenvironment"
	"github.com/cauri-dev/cauri/controllers/testclient"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Options are the settings of the controllers. The zero value means the default, if there is one.
type Options struct {
	Database reconciler.Database         // required
	Ready    func(context.Context) error // returns nil once the tables are up to date; default: returns nil
	BaseURL  *url.URL                    // required: base URL of the API; prefix of the URLs of sandboxes
	// OperatorRoot returns the URL of the root of an operator's own API in a sandbox, of which it reads the namespace, the
	// name and the id of the organization; "" for none. nil: no API has one.
	OperatorRoot func(*sandboxes.Sandbox, payments.Operator) string
	Random       io.Reader // required: random bytes for keys and secrets

	Installation          string           // name, unique in the cluster, that marks its sandboxes; empty: they are not marked
	CallbackHosts         []string         // used by sandboxes that name none; default: as documented in the resource
	Guard                 egress.Guard     // of the workers
	SigningSecret         string           // used by webhooks that name none; default: a generated one for each sandbox
	Concurrency           int              // concurrent reconciliations of a kind; default 8
	StatusWritesPerSecond float64          // maximum of writes of live values, over all resources; default 4
	Namespaces            []string         // watched namespaces; default all
	MaxSandboxes          int              // maximum in a namespace; 0: no limit
	MaxTestClients        int              // maximum in a sandbox, also of those added by the API; 0: no limit
	Clock                 clock.WithTicker // default: the real clock
	Drift                 time.Duration    // interval between two checks for drift; default 10 minutes
	Resync                time.Duration    // interval of the resync of a resource; default 10 hours
	Retry                 time.Duration    // interval while a resource waits; default 5 seconds
	Poll                  time.Duration    // polling interval for live values; default 1 second; tripled during outages and idle times
	SkipNameValidation    bool             // for tests with several managers in a process

	Counts *telemetry.Resources // counts the resources by their conditions; nil for none
}

func (o *Options) setDefaults() {
	if o.Ready == nil {
		o.Ready = func(context.Context) error { return nil }
	}
	if o.Concurrency == 0 {
		o.Concurrency = 8
	}
	if o.StatusWritesPerSecond == 0 {
		o.StatusWritesPerSecond = 4
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	if o.Drift == 0 {
		o.Drift = 10 * time.Minute
	}
	if o.Resync == 0 {
		o.Resync = 10 * time.Hour
	}
	if o.Retry == 0 {
		o.Retry = 5 * time.Second
	}
	if o.Poll == 0 {
		o.Poll = time.Second
	}
}

// The backoff of failed reconciliations. It starts with firstBackoff and doubles up to longestBackoff.
const (
	firstBackoff   = 200 * time.Millisecond
	longestBackoff = 30 * time.Second
)

// attemptTimeout limits one reconciliation, so that a call that hangs does not block a worker forever.
const attemptTimeout = 2 * time.Minute

// Scheme has the kinds that the controllers read and write.
var Scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}()

// ManagerOptions returns the options of a manager for the controllers. The cache has only the controller's Secrets.
// Reads from the cache see the controller's own earlier writes.
func ManagerOptions(namespaces ...string) ctrl.Options {
	own := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{sandboxenvironment.ManagedByLabel: sandboxenvironment.ManagedByCauri})}
	return ctrl.Options{
		Scheme: Scheme,
		Cache: cache.Options{
			ByObject:          map[client.Object]cache.ByObject{&corev1.Secret{}: own},
			DefaultNamespaces: cachedNamespaces(namespaces),
			DefaultTransform:  keepWhatIsRead,
			NewInformer:       informers(namespaces),
		},
		Client: client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	}
}

// keepWhatIsRead removes the managed fields and kubectl's copy of the manifest from a cached object. No controller
// reads them, and they may be as large as the rest. Writes are patches of changed fields, so they do not remove these
// parts at the API server.
func keepWhatIsRead(obj any) (any, error) {
	if o, ok := obj.(client.Object); ok {
		o.SetManagedFields(nil)
		if annotations := o.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
			delete(annotations, corev1.LastAppliedConfigAnnotation)
			o.SetAnnotations(annotations)
		}
	}
	return obj, nil
}

// cachedNamespaces returns the namespaces of a cache. Without names, it returns nil, which means all namespaces.
func cachedNamespaces(names []string) map[string]cache.Config {
	if len(names) == 0 {
		return nil
	}
	namespaces := make(map[string]cache.Config, len(names))
	for _, name := range names {
		namespaces[name] = cache.Config{}
	}
	return namespaces
}

// The controller needs the leader's Lease. client-go records events about it in the core group.
//
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=cauri-system,resources=leases,verbs=create
// +kubebuilder:rbac:groups=coordination.k8s.io,namespace=cauri-system,resources=leases,resourceNames=cauri-controller,verbs=get;update
// +kubebuilder:rbac:groups="",namespace=cauri-system,resources=events,verbs=create;patch

// LeaseName is the name of the Lease for the leader election of the controller's replicas. The role above has the same
// name.
const LeaseName = "cauri-controller"

// SetupWithManager adds the controllers to a manager with [ManagerOptions]. The returned readiness check fails until
// the caches are filled.
func SetupWithManager(mgr ctrl.Manager, options Options) (healthz.Checker, error) {
	options.setDefaults()
	breaker := resync.NewBreaker()
	live := resync.NewLiveStatus(
		options.Database, options.Ready, mgr.GetCache(), breaker, options.Clock, options.Poll, options.StatusWritesPerSecond)
	secretNames, err := newSecretNames(mgr, options.Namespaces)
	if err != nil {
		return nil, err
	}
	readiness := &readiness{cache: mgr.GetCache(), counts: options.Counts, installation: options.Installation}
	if err := mgr.Add(readiness); err != nil {
		return nil, fmt.Errorf("adding the counts of resources: %w", err)
	}
	gate := reconciler.DatabaseGate{Breaker: breaker, Ready: options.Ready}
	pace := reconciler.Pace{Resync: options.Resync, Retry: options.Retry}

	testClients := &testclient.Reconciler{
		Installation: options.Installation,
		Client:       mgr.GetClient(),
		APIReader:    mgr.GetAPIReader(),
		Cache:        mgr.GetCache(),
		Limit:        reconciler.NewResourceLimit(options.MaxTestClients),
		Gate:         gate,
		Database:     options.Database,
		LiveStatus:   live,
		Clock:        options.Clock,
		Recorder:     mgr.GetEventRecorder("cauri-controller"),
		Pace:         pace,
	}
	sandboxes := &sandboxenvironment.Reconciler{
		Client:         mgr.GetClient(),
		APIReader:      mgr.GetAPIReader(),
		Cache:          mgr.GetCache(),
		Limit:          reconciler.NewResourceLimit(options.MaxSandboxes),
		MaxTestClients: options.MaxTestClients,
		TestClients:    testClients,
		Gate:           gate,
		Writes:         live,
		Database:       options.Database,
		BaseURL:        options.BaseURL,
		OperatorRoot:   options.OperatorRoot,
		Random:         options.Random,
		SigningSecret:  options.SigningSecret,
		Installation:   options.Installation,
		CallbackHosts:  options.CallbackHosts,
		Guard:          options.Guard,
		Clock:          options.Clock,
		Recorder:       mgr.GetEventRecorder("cauri-controller"),
		Pace:           pace,
	}
	if err := sandboxes.Watch(mgr, controllerOptions(options), secretNames, live.Sandboxes()); err != nil {
		return nil, fmt.Errorf("setting up the controller of SandboxEnvironments: %w", err)
	}
	if err := testClients.Watch(mgr, controllerOptions(options), live.TestClients()); err != nil {
		return nil, fmt.Errorf("setting up the controller of TestClients: %w", err)
	}
	if err := addResync(mgr, options, live, testClients); err != nil {
		return nil, err
	}
	expectations := &expectation.Reconciler{
		Installation: options.Installation,
		Client:       mgr.GetClient(),
		Gate:         gate,
		Database:     options.Database,
		LiveStatus:   live,
		Clock:        options.Clock,
		Recorder:     mgr.GetEventRecorder("cauri-controller"),
		Pace:         pace,
	}
	if err := expectations.Watch(mgr, controllerOptions(options), live.Expectations()); err != nil {
		return nil, fmt.Errorf("setting up the controller of Expectations: %w", err)
	}
	return readiness.check, nil
}

// addResync adds the parts that reconcile resources without a watch event.
func addResync(mgr ctrl.Manager, options Options, live *resync.LiveStatus, testClients *testclient.Reconciler) error {
	if err := mgr.Add(live); err != nil {
		return fmt.Errorf("adding the live status: %w", err)
	}
	drift := &resync.Drift{
		Database: options.Database, Ready: options.Ready, Cache: mgr.GetCache(), Clock: options.Clock, Interval: options.Drift,
		Enqueue: live.Enqueue, SIM: testclient.RegisteredSIM, Orphaned: testClients.Orphaned, AllNamespaces: len(options.Namespaces) == 0,
		Installation: options.Installation,
	}
	if err := mgr.Add(drift); err != nil {
		return fmt.Errorf("adding the check for drift: %w", err)
	}
	return nil
}

// newSecretNames returns a cache of the names of all Secrets, without their content. It reports changes of Secrets that
// the manager's cache does not have, because that cache has only the controller's Secrets.
func newSecretNames(mgr ctrl.Manager, namespaces []string) (cache.Cache, error) {
	secretNames, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:        mgr.GetHTTPClient(),
		Scheme:            mgr.GetScheme(),
		Mapper:            mgr.GetRESTMapper(),
		DefaultNamespaces: cachedNamespaces(namespaces),
		DefaultTransform:  keepNameOnly,
		NewInformer:       informers(namespaces),
	})
	if err != nil {
		return nil, fmt.Errorf("making the cache of Secret names: %w", err)
	}
	return secretNames, mgr.Add(secretNames)
}

// keepNameOnly removes all metadata that no watch needs.
func keepNameOnly(obj any) (any, error) {
	if secret, ok := obj.(*metav1.PartialObjectMetadata); ok {
		secret.ObjectMeta = metav1.ObjectMeta{
			Namespace: secret.Namespace, Name: secret.Name, UID: secret.UID, ResourceVersion: secret.ResourceVersion,
		}
	}
	return obj, nil
}

func controllerOptions(options Options) controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: options.Concurrency,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstBackoff, longestBackoff),
		ReconciliationTimeout:   attemptTimeout,
		UsePriorityQueue:        new(true),
		SkipNameValidation:      &options.SkipNameValidation,
	}
}
