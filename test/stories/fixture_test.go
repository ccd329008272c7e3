// Package stories plays the stories of config/samples/stories: it applies them as `cauri dev` does, and is the merchant of each.
package stories

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/controllers/localapi"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	told "github.com/cauri-dev/cauri/server/stories"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

const (
	folder    = "../../config/samples/stories"
	other     = "other" // namespace of the stories in other markets
	wrongShop = "wrong" // namespace of the stories that a wrong shop plays
	deadline  = 3 * time.Minute
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// installation is api, worker and controller in this process, with the sandboxes of all stories.
type installation struct {
	resources *localapi.API
	baseURL   string
	receiver  *receiver
}

func install(t *testing.T) *installation {
	t.Helper()
	databaseURL := ledgertest.URL(t)
	api := ledgertest.OpenAs(t, databaseURL, ledgertest.API)
	o := frontstest.Options(api)
	o.Draw, o.Held = mathrand.Int64N, httpfront.HeldBounds{Process: 100, Sandbox: 100}
	server := httptest.NewServer(fronts.New(o))
	t.Cleanup(server.Close)
	background(t, func(ctx context.Context) error { api.RunActivity(ctx); return nil })
	s := &installation{baseURL: server.URL, receiver: receive(t)}
	s.work(t, databaseURL)
	s.control(t, databaseURL)

	manifests, err := localapi.Read(folder, copies(t))
	if err != nil {
		t.Fatal(err)
	}
	manifests.SetDefaults(map[string]any{"webhook": map[string]any{"url": s.receiver.url}})
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	if _, err := s.resources.Apply(ctx, manifests); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.resources.WaitReady(ctx), o.Directory.Refresh(ctx)); err != nil {
		t.Fatal(err)
	}
	return s
}

// copies returns a folder with the stories of other markets, in the namespace other, and with those of wrong shops.
func copies(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	for i, story := range told.All() {
		if market, there := elsewhere(i, &story); there {
			copyTo(t, to, &story, market, other)
		}
		if wrongShops[story.Name] != nil {
			copyTo(t, to, &story, story.Market(), wrongShop)
		}
	}
	return to
}

// copyTo writes the resources of a story, in a market and a namespace, into a folder.
func copyTo(t *testing.T, folder string, story *told.Story, market told.Market, namespace string) {
	t.Helper()
	sandbox, expectation, err := story.Resources(market)
	if err != nil {
		t.Fatal(err)
	}
	for kind, resource := range map[string]map[string]any{"sandbox": sandbox, "expectation": expectation} {
		resource["metadata"].(map[string]any)["namespace"] = namespace
		text, err := json.Marshal(resource)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, namespace+"-"+story.Name+"-"+kind+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// work runs a worker until the test ends.
func (s *installation) work(t *testing.T, databaseURL string) {
	t.Helper()
	store := ledgertest.OpenAs(t, databaseURL, ledgertest.Worker)
	background(t, func(ctx context.Context) error { store.RunActivity(ctx); return nil })
	w := worker.New(worker.Options{
		Database: store, Log: slog.New(slog.DiscardHandler),
		Sender:    webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", time.Now),
		Operators: worker.NewOperatorAccess(egress.Guard{AllowLoopback: true}, time.Now),
	})
	background(t, func(ctx context.Context) error { w.Run(ctx); return nil })
}

// control runs a controller until the test ends.
func (s *installation) control(t *testing.T, databaseURL string) {
	t.Helper()
	var err error
	if s.resources, err = localapi.New(t.Context(), localapi.Options{}); err != nil {
		t.Fatal(err)
	}
	options := controllers.ManagerOptions()
	options.Metrics = metricsserver.Options{BindAddress: "0"}
	manager, err := s.resources.NewManager(options)
	if err != nil {
		t.Fatal(err)
	}
	base, err := url.Parse(s.baseURL)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := controllers.SetupWithManager(manager, controllers.Options{
		Database: ledgertest.OpenAs(t, databaseURL, ledgertest.Controller), BaseURL: base, Random: rand.Reader,
		Retry: 50 * time.Millisecond, Poll: 100 * time.Millisecond, SkipNameValidation: true,
	}); err != nil {
		t.Fatal(err)
	}
	background(t, manager.Start)
}

// background runs until the test ends.
func background(t *testing.T, run func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// merchant is the shop of one story.
type merchant struct {
	*testing.T
	*installation
	sandbox     types.NamespacedName
	market      told.Market
	uri         string
	credentials map[string]string
}

func (s *installation) merchant(t *testing.T, story *told.Story, market told.Market) *merchant {
	t.Helper()
	namespace := "default"
	if market != story.Market() {
		namespace = other
	}
	return s.merchantIn(t, story, market, namespace)
}

// merchantIn is the merchant of a story in a namespace.
func (s *installation) merchantIn(t *testing.T, story *told.Story, market told.Market, namespace string) *merchant {
	t.Helper()
	sandbox := types.NamespacedName{Namespace: namespace, Name: story.Name}
	credentials := s.resources.Secret(types.NamespacedName{Namespace: sandbox.Namespace, Name: story.Name + "-credentials"})
	if credentials["uri"] == "" {
		t.Fatalf("there is no sandbox %s", sandbox)
	}
	return &merchant{T: t, installation: s, sandbox: sandbox, market: market, uri: credentials["uri"], credentials: credentials}
}

// number returns the test number of the market with these last digits.
func (m *merchant) number(suffix string) string {
	m.Helper()
	for _, n := range operators.TestNumbersOf(m.market.Operator, m.market.Country) {
		if n.Suffix == suffix {
			return n.MSISDN
		}
	}
	m.Fatalf("%+v has no test number %s", m.market, suffix)
	return ""
}

// is reports whether a resource is the one of the story.
func (m *merchant) is(namespace, name string) bool {
	return m.sandbox == types.NamespacedName{Namespace: namespace, Name: name}
}

// isMet waits for the verdict of the story's Expectation.
func (m *merchant) isMet() {
	m.Helper()
	m.until(func() string {
		for _, e := range m.resources.Expectations() {
			if m.is(e.Namespace, e.Name) && meta.IsStatusConditionTrue(e.Status.Conditions, v1alpha1.ConditionMet) {
				return ""
			} else if m.is(e.Namespace, e.Name) {
				return fmt.Sprintf("the Expectation is %+v", e.Status)
			}
		}
		return "there is no Expectation"
	})
}

// hasFailed waits until the story's Expectation has failed, and returns what became of its lines.
func (m *merchant) hasFailed() (lines []v1alpha1.ExpectationResult) {
	m.Helper()
	m.until(func() string {
		for _, e := range m.resources.Expectations() {
			if !m.is(e.Namespace, e.Name) {
				continue
			}
			if meta.IsStatusConditionTrue(e.Status.Conditions, v1alpha1.ConditionMet) {
				m.Fatal("the Expectation is met")
			}
			if meta.IsStatusConditionTrue(e.Status.Conditions, v1alpha1.ConditionFailed) {
				lines = e.Status.Results
				return ""
			}
			return fmt.Sprintf("the Expectation is %+v", e.Status)
		}
		return "there is no Expectation"
	})
	return lines
}

// payment is what the API says of one.
type payment struct {
	ID          string
	Reference   string
	Status      string
	CompletedAt *time.Time
	Faults      []string
}

// answer is what came back for a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (m *merchant) send(method, path string, body any) (answer, error) {
	m.Helper()
	return m.request(method, m.uri+"/api/v1"+path, http.Header{"Authorization": {"Bearer " + m.credentials["api-key"]}}, body)
}

func (m *merchant) request(method, url string, header http.Header, body any) (answer, error) {
	m.Helper()
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body) // of maps with texts and numbers
	}
	ctx, cancel := context.WithTimeout(m.Context(), deadline)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return answer{}, err
	}
	request.Header = header
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	return answer{response.StatusCode, response.Header, got}, err
}

// mtnToken is a token of MTN's own API.
func (m *merchant) mtnToken() string {
	m.Helper()
	request := http.Request{Header: http.Header{"Ocp-Apim-Subscription-Key": {m.credentials["mtn-subscription-key"]}}}
	request.SetBasicAuth(m.credentials["mtn-api-user"], m.credentials["mtn-api-key"])
	got, err := m.request(http.MethodPost, m.uri+"/operators/mtn/collection/token/", request.Header, nil)
	var token struct {
		Token string `json:"access_token"`
	}
	if err != nil || json.Unmarshal(got.body, &token) != nil || token.Token == "" {
		m.Fatalf("a token of MTN: %d %s, %v", got.status, got.body, err)
	}
	return token.Token
}

// mtn asks for a payment by MTN's own API, with a reference, or for what a path below it says.
func (m *merchant) mtn(method, path, token, reference string) (answer, error) {
	m.Helper()
	currency, _ := m.market.Country.Currency()
	target := map[payments.Country]string{payments.Rwanda: "mtnrwanda", payments.Benin: "mtnbenin"}[m.market.Country]
	header := http.Header{
		"Authorization": {"Bearer " + token}, "X-Target-Environment": {target},
		"Ocp-Apim-Subscription-Key": {m.credentials["mtn-subscription-key"]},
	}
	var order any
	if reference != "" {
		header.Set("X-Reference-Id", reference)
		header.Set("X-Callback-Url", m.receiver.url+"/mtn")
		order = map[string]any{
			"amount": "1000", "currency": currency, "externalId": m.reference(1),
			"payer": map[string]any{"partyIdType": "MSISDN", "partyId": m.number("901")[1:]},
		}
	}
	return m.request(method, m.uri+"/operators/mtn/collection/v1_0/requesttopay"+path, header, order)
}

// must sends a request whose answer has to be a success, and reads it.
func (m *merchant) must(method, path string, body, into any) {
	m.Helper()
	got, err := m.send(method, path, body)
	if err != nil || got.status >= 300 {
		m.Fatalf("%s %s: %d %s, %v", method, path, got.status, got.body, err)
	}
	if err := json.Unmarshal(got.body, into); err != nil {
		m.Fatal(err)
	}
}

// reference is a reference of the story: the receiver tells the stories apart by it.
func (m *merchant) reference(n int) string { return fmt.Sprintf("%s%d", m.beginning(), n) }

func (m *merchant) beginning() string { return m.sandbox.Namespace + "-" + m.sandbox.Name + "-" }

// order is the request for a payment.
func (m *merchant) order(n int, msisdn string) map[string]any {
	currency, _ := m.market.Country.Currency()
	return map[string]any{"amount": 1000, "currency": currency, "msisdn": msisdn, "reference": m.reference(n), "application": "shop"}
}

func (m *merchant) get(id string) (p payment) {
	m.Helper()
	m.must(http.MethodGet, "/payments/"+id, nil, &p)
	return p
}

// payments are all that the sandbox has.
func (m *merchant) payments() []payment {
	m.Helper()
	var page struct{ Data []payment }
	m.must(http.MethodGet, "/payments?limit=100", nil, &page)
	return page.Data
}

// advance moves the clock, and waits until all that is due by then is done.
func (m *merchant) advance(by string) {
	m.Helper()
	got, err := m.send(http.MethodPost, "/clock/advance", map[string]any{"by": by, "wait": "60s"})
	if err != nil || got.status != http.StatusOK {
		m.Fatalf("advancing by %s: %d %s, %v", by, got.status, got.body, err)
	}
}

// until polls until check has nothing to complain of.
func (m *merchant) until(check func() string) {
	m.Helper()
	for end := time.Now().Add(deadline); ; time.Sleep(20 * time.Millisecond) {
		complaint := check()
		if complaint == "" {
			return
		}
		if time.Now().After(end) {
			m.Fatal(complaint)
		}
	}
}

// acted waits until the resource's status says how often a fault acted.
func (m *merchant) acted(fault string, times int64) {
	m.Helper()
	m.actedSo(fault, fmt.Sprint(times), func(n int64) bool { return n == times })
}

// acts waits until the resource's status says that a fault acted, which goes on acting meanwhile.
func (m *merchant) acts(fault string) {
	m.Helper()
	m.actedSo(fault, "1 or more", func(n int64) bool { return n > 0 })
}

func (m *merchant) actedSo(fault, times string, isRight func(int64) bool) {
	m.Helper()
	m.until(func() string {
		for _, sandbox := range m.resources.Sandboxes() {
			for _, f := range sandbox.Status.Faults {
				if m.is(sandbox.Namespace, sandbox.Name) && f.Name == fault && isRight(f.Times) && f.LastTime != nil {
					return ""
				}
			}
		}
		return fmt.Sprintf("the status does not say that %s acted %s times", fault, times)
	})
}

// stands waits until the resource's status says where the clock stands.
func (m *merchant) stands(at time.Time) {
	m.Helper()
	m.until(func() string {
		for _, sandbox := range m.resources.Sandboxes() {
			if clock := sandbox.Status.Clock; m.is(sandbox.Namespace, sandbox.Name) && clock != nil && clock.Now != nil && clock.Now.Time.Equal(at) {
				return ""
			}
		}
		return fmt.Sprintf("the status does not say that it is %s", at)
	})
}

// delivery is an event that arrived.
type delivery struct {
	ID        string // of the event: the same for every attempt
	TxID      string `json:"tx_id"`
	Reference string
	Status    string
}

// receiver is the webhook of all stories.
type receiver struct {
	url       string
	callbacks atomic.Int32 // of MTN's own API
	mutex     sync.Mutex
	arrived   []delivery
}

func receive(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		if strings.HasPrefix(request.URL.Path, "/webhooks/") { // callbacks of M-Pesa
			return
		}
		if request.URL.Path != "/webhooks" {
			r.callbacks.Add(1)
			return
		}
		var d delivery
		if err := json.NewDecoder(request.Body).Decode(&d); err != nil {
			t.Errorf("an event arrived that is no JSON: %v", err)
		}
		d.ID = request.Header.Get("X-Service-Delivery")
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.arrived = append(r.arrived, d)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL + "/webhooks"
	return r
}

// deliveries are those of the story, in the order of their arrival.
func (m *merchant) deliveries() []delivery {
	m.receiver.mutex.Lock()
	defer m.receiver.mutex.Unlock()
	return slices.DeleteFunc(slices.Clone(m.receiver.arrived), func(d delivery) bool {
		return !strings.HasPrefix(d.Reference, m.beginning())
	})
}
