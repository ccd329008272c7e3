package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/test/system"
)

const (
	// shoppers is the number of clients of a sandbox.
	shoppers = 3
	// pace is the pause of a shopper between two purchases, so that the load does not exhaust the machine.
	pace = 100 * time.Millisecond
	// patience is how long a shopper waits for an answer before it tries the next replica.
	patience = 3 * time.Second
	// openingBalance of each SIM, in francs. The purchases never exhaust it.
	openingBalance = 1_000_000_000
)

// trade is a sandbox under load.
type trade struct {
	name     string
	receives system.Behavior
}

var trades = []trade{
	{"prompt", system.Acknowledge},
	{"slow", system.AcknowledgeAfter(50 * time.Millisecond)},
	{"flaky", system.FailFirst(1)},
}

// payers are the behaviors of the SIMs of each sandbox, by number.
var payers = map[payments.Behavior]string{
	payments.Approve: "+250788000001", payments.Cancel: "+250788000002", payments.WrongPIN: "+250788000003",
	payments.Manual: "+250788000004", payments.Ignore: "+250788000005",
}

// shop is a sandbox with its clients and its endpoint.
type shop struct {
	*system.Sandbox
	resource  *v1alpha1.SandboxEnvironment
	sims      []*v1alpha1.TestClient
	receiver  *system.Receiver
	callbacks *system.Callbacks // of the operators' own APIs
	client    *system.Client
	shoppers  []*system.Shopper
	sql       *pgxpool.Pool

	answers, settlements, deliveries *series

	mu      sync.Mutex
	seen    answered
	audited map[string]bool // references that the list of the api returned
	since   time.Time       // the list had no newer transactions
}

// answered counts the answers without a result.
type answered struct{ Nothing, Unavailable, Internal int }

func (w *fixture) openShop(ctx context.Context, t trade) (s *shop, err error) {
	s = &shop{
		sql:         w.SQL,
		answers:     new(series),
		settlements: new(series),
		deliveries:  new(series),
		audited:     map[string]bool{},
		since:       time.Now().Add(-time.Hour),
	}
	s.receiver, err = system.NewReceiver(func(rw http.ResponseWriter, r *http.Request, a system.Arrival, closed <-chan struct{}) {
		s.deliveries.note(a.CompletedAt)
		t.receives(rw, r, a, closed)
	})
	if err != nil {
		return nil, err
	}
	s.callbacks = system.NewCallbacks()
	if err := w.applyShop(ctx, s, t.name); err != nil {
		s.close()
		return nil, err
	}
	for i := range shoppers {
		s.shoppers = append(s.shoppers, &system.Shopper{
			Client: s.client, Name: fmt.Sprintf("%s-%d", t.name, i), Payers: payers, Settled: s.settlements.note, Callbacks: s.callbacks,
		})
	}
	return s, nil
}

func (s *shop) close() {
	s.receiver.Close()
	s.callbacks.Close()
}

// applyShop creates the resources and reads the key and the secret from the Secret of the controller.
func (w *fixture) applyShop(ctx context.Context, s *shop, name string) error {
	s.resource = newSandbox(name)
	s.resource.Spec.Webhook = &v1alpha1.Webhook{URL: s.receiver.URL, RetryPolicy: &v1alpha1.RetryPolicy{
		MaxRetries: new(int32(20)), InitialDelay: "1s", Factor: new(int32(1)), MaxDelay: "1s",
	}}
	s.resource.Spec.CallbackHosts = []v1alpha1.CallbackHost{"*"} // at another port than the webhook
	for i := range s.resource.Spec.Environments {
		if e := &s.resource.Spec.Environments[i]; e.Operator == "airtel" || e.Operator == "moov" { // whose requests name no URL
			e.CallbackURL = s.callbacks.URL
		}
	}
	if err := w.kube.Create(ctx, s.resource); err != nil {
		return err
	}
	for i, behavior := range slices.Sorted(maps.Keys(payers)) {
		sim := newTestClient(fmt.Sprintf("%s-%d", name, i), name, payers[behavior], behavior)
		if err := w.kube.Create(ctx, sim); err != nil {
			return err
		}
		s.sims = append(s.sims, sim)
	}
	if err := w.ready(ctx, append(objects(s.sims), s.resource)...); err != nil {
		return err
	}
	secret := &corev1.Secret{}
	if err := w.kube.Get(ctx, client.ObjectKey{Namespace: system.Namespace, Name: s.resource.CredentialsSecretName()}, secret); err != nil {
		return err
	}
	var err error
	config := sandboxes.Config{UID: string(s.resource.UID), Namespace: system.Namespace, Name: name}
	if s.Sandbox, err = w.Adopt(ctx, config, string(secret.Data["api-key"]), string(secret.Data["webhook-signing-secret"])); err != nil {
		return err
	}
	s.receiver.Trust(s.Secret)
	if s.client, err = s.Client(ctx, w.apis...); err != nil {
		return err
	}
	s.client.AnswerWithin, s.client.Observe = patience, s.observe
	return nil
}

// observe sees every answer.
func (s *shop) observe(a system.Answer, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.seen.Nothing++
	case a.Status == http.StatusInternalServerError:
		s.seen.Internal++
	case a.Status/100 == 5:
		s.seen.Unavailable++
	default:
		s.answers.note(a.Begun)
	}
}

// refused returns the counts since the last call.
func (s *shop) refused() answered {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = answered{}
	return seen
}

// told returns what all clients of the sandbox were told, by reference.
func (s *shop) told() map[string]system.Transaction {
	all := map[string]system.Transaction{}
	for _, shopper := range s.shoppers {
		maps.Copy(all, shopper.Told())
	}
	return all
}

func objects[T client.Object](list []T) (all []client.Object) {
	for _, obj := range list {
		all = append(all, obj)
	}
	return all
}

// newSandbox is a sandbox with 1 % of the usual operator latency.
func newSandbox(name string) *v1alpha1.SandboxEnvironment {
	return &v1alpha1.SandboxEnvironment{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace, Name: name},
		Spec: v1alpha1.SandboxEnvironmentSpec{
			Environments: []v1alpha1.Environment{
				{Operator: "mtn", Country: "RW", CommissionBps: 150}, {Operator: "airtel", Country: "RW"},
				{Operator: "orange", Country: "CI"}, {Operator: "moov", Country: "BJ"},
			},
			OpeningFloat:   []v1alpha1.Money{{Currency: "RWF", Amount: openingBalance}, {Currency: "XOF", Amount: openingBalance}},
			TestNumbers:    "Standard",
			Stores:         []v1alpha1.Store{{Slug: "shop"}},
			LatencyPercent: new(int32(1)),
		},
	}
}

func newTestClient(name, sandbox, msisdn string, behavior payments.Behavior) *v1alpha1.TestClient {
	return &v1alpha1.TestClient{
		ObjectMeta: metav1.ObjectMeta{Namespace: system.Namespace, Name: name},
		Spec: v1alpha1.TestClientSpec{
			SandboxRef: v1alpha1.SandboxReference{Name: sandbox}, MSISDN: msisdn, Balance: openingBalance, Behavior: string(behavior),
		},
	}
}
