package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/fronts/frontstest"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	testKey    = "cauri_sk_test_0123456789abcdefghijklmnopqrstuv"
	testSecret = listenSecret
	alice      = "+250788000001"
	manual     = "+250788000002"
)

// No test uses the cluster of the machine that it runs on.
func TestMain(m *testing.M) {
	if err := os.Setenv("KUBECONFIG", "/none"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// fixture is a sandbox on a real database, behind the real handlers of the API, without a worker.
type fixture struct {
	t      *testing.T
	store  *ledgertest.Store
	db     string // its URL
	config sandboxes.Config
	url    string // of the sandbox
	api    *sandboxapi.Client
	log    *requests.Log
	// directory is the copy of the configuration that the API has.
	directory *sandboxes.Directory
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	url := ledgertest.URL(t)
	f := &fixture{t: t, store: ledgertest.Open(t, url), db: url}
	f.config = sandboxes.Config{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "team", Name: "checkout", Stores: []string{"shop"},
		Environments: []sandboxes.EnvironmentConfig{{
			Operator: payments.MTN, Country: "RW", Enabled: true, Terms: payments.Terms{CommissionBPS: 150, AbsorptionPct: 100},
			UnknownPolicy: payments.Reject,
		}},
		OpeningFloat: map[payments.Currency]int64{payments.RWF: 1000},
	}
	f.config.API.Reset = true
	if _, err := f.store.ApplySandbox(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	credentials := sandboxes.Credentials{APIKeyHash: sha256.Sum256([]byte(testKey)), SigningSecret: testSecret}
	if err := f.store.ApplyCredentials(t.Context(), f.config.UID, credentials); err != nil {
		t.Fatal(err)
	}
	f.client("alice", alice, payments.Approve)
	f.client("manual", manual, payments.Manual)
	api := ledgertest.OpenAs(t, url, ledgertest.API)
	o := frontstest.Options(api)
	o.Requests, o.Version = requests.New(api.DB, requests.Options{}), "v1.2.3"
	f.log, f.directory = o.Requests, o.Directory
	server := httptest.NewServer(fronts.New(o))
	t.Cleanup(server.Close)
	f.url = server.URL + "/sandboxes/team/checkout"
	f.api = sandboxapi.New(f.url, testKey, nil)
	return f
}

func (f *fixture) client(name, msisdn string, behavior payments.Behavior) {
	f.t.Helper()
	c := sandboxes.TestClientConfig{
		UID: "33333333-3333-3333-3333-0000000000" + msisdn[len(msisdn)-2:], Name: name, MSISDN: msisdn, Operator: payments.MTN, Country: "RW",
		Behavior: behavior, Balance: 50_000,
	}
	if _, err := f.store.ApplyTestClient(f.t.Context(), f.config.UID, c); err != nil {
		f.t.Fatal(err)
	}
}

// run runs `cauri` with the sandbox's URL and key.
func (f *fixture) run(args ...string) result {
	f.t.Helper()
	return run(f.t, Options{}, append(args, "--url="+f.url, "--api-key="+testKey)...)
}

// result is what a command printed, and how it ended.
type result struct {
	out, progress string
	err           error
}

// run runs a command. What it waits for comes soon.
func run(t *testing.T, o Options, args ...string) result {
	t.Helper()
	return runFrom(t, o, "", args...)
}

func runFrom(t *testing.T, o Options, input string, args ...string) result {
	t.Helper()
	return runWithin(t.Context(), t, o, input, args...)
}

func runWithin(ctx context.Context, t *testing.T, o Options, input string, args ...string) result {
	t.Helper()
	o.Version = "v1.2.3"
	if o.Config == "" {
		o.Config = t.TempDir()
	}
	p := &program{Options: o, now: time.Now, poll: 10 * time.Millisecond, await: 10 * time.Millisecond}
	if slices.Contains(args, "grade") {
		p.now = standing() // how fast this machine answers decides no grade here
	}
	return p.run(ctx, input, args...)
}

func (p *program) run(ctx context.Context, input string, args ...string) result {
	var out, progress bytes.Buffer
	err := p.runTo(ctx, &out, &progress, input, args...)
	return result{out.String(), progress.String(), err}
}

// runTo runs a command that prints to out and progress.
func (p *program) runTo(ctx context.Context, out, progress io.Writer, input string, args ...string) error {
	root := &cobra.Command{Use: "cauri", SilenceErrors: true, SilenceUsage: true}
	root.SetFlagErrorFunc(FlagError)
	root.AddGroup(Groups()...)
	root.AddCommand(p.commands()...)
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(progress)
	root.SetIn(strings.NewReader(input))
	return root.ExecuteContext(ctx)
}

// standing is a clock that stands.
func standing() func() time.Time {
	now := time.Now()
	return func() time.Time { return now }
}

// want fails unless a command ended with an exit code, and printed or said each text.
func (r result) want(t *testing.T, code int, texts ...string) {
	t.Helper()
	if got := ExitCode(r.err); got != code {
		t.Errorf("exit code %d, want %d: %v\n%s", got, code, r.err, r.out)
	}
	whole := r.out + r.progress
	if r.err != nil {
		whole += Message(r.err)
	}
	for _, text := range texts {
		if !strings.Contains(whole, text) {
			t.Errorf("there is no %q in\n%s", text, whole)
		}
	}
}

// decoded is what a command printed as JSON.
func decoded[T any](t *testing.T, r result) (value T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), &value); err != nil {
		t.Fatalf("%v, %v:\n%s", err, r.err, r.out)
	}
	return value
}

// cluster is an API server with one sandbox in the namespace team, as much as the commands use of one.
type cluster struct {
	t          *testing.T
	kubeconfig string

	mutex   sync.Mutex
	sandbox []byte   // the resource
	others  []string // the other resources of the namespace, as JSON
	secret  map[string]string
	denied  map[string]bool                       // verb and resource that the user may not
	other   map[string]http.HandlerFunc           // by method and path
	streams map[string]http.HandlerFunc           // those that last
	applied func(sandbox map[string]any, n int64) // what the controller does with a change
}

// newCluster makes one whose sandbox has an URL.
func newCluster(t *testing.T, url string) *cluster {
	t.Helper()
	c := &cluster{t: t, denied: map[string]bool{}, other: map[string]http.HandlerFunc{}, streams: map[string]http.HandlerFunc{},
		secret: map[string]string{keyURI: url, keyAPIKey: testKey, keySecret: testSecret}}
	c.sandbox = []byte(`{"apiVersion":"cauri.dev/v1alpha1","kind":"SandboxEnvironment",
		"metadata":{"name":"checkout","namespace":"team","generation":1},
		"spec":{"environments":[{"operator":"mtn","country":"RW"}],"stores":[{"slug":"shop"}],"webhook":{"url":"http://shop.team.svc/hooks"}},
		"status":{"observedGeneration":1,"url":"` + url + `","balances":[{"currency":"RWF","amount":1000}],
			"transactions":{"total":3,"pending":1},"webhook":{"delivered":7,"failed":2},
			"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"all is applied","observedGeneration":1,"lastTransitionTime":"2026-05-31T12:00:00Z"},
				{"type":"WebhookReady","status":"False","reason":"DeliveryFailing","message":"the receiver answered 500","lastTransitionTime":"2026-05-31T12:00:00Z"}]}}`)
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(server.Close)
	c.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"apiVersion":"v1","kind":"Config","current-context":"c","clusters":[{"name":"c","cluster":{"server":"` + server.URL + `"}}],
		"users":[{"name":"u","user":{}}],"contexts":[{"name":"c","context":{"cluster":"c","user":"u","namespace":"team"}}]}`
	if err := os.WriteFile(c.kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// run runs `kubectl cauri` on the cluster.
func (c *cluster) run(args ...string) result {
	c.t.Helper()
	return run(c.t, Options{Plugin: true}, append(args, "--kubeconfig="+c.kubeconfig)...)
}

const sandboxesOfTeam = "/apis/cauri.dev/v1alpha1/namespaces/team/sandboxenvironments"

func (c *cluster) serve(w http.ResponseWriter, r *http.Request) {
	if stream := c.streams[r.Method+" "+r.URL.Path]; stream != nil {
		stream(w, r)
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch at := r.Method + " " + r.URL.Path; {
	case c.other[at] != nil:
		c.other[at](w, r)
	case c.denied[at]:
		refuse(w, http.StatusForbidden, "Forbidden", "you are a guest")
	case at == "GET "+sandboxesOfTeam:
		fmt.Fprintf(w, `{"kind":"SandboxEnvironmentList","apiVersion":"cauri.dev/v1alpha1","items":[%s]}`,
			strings.Join(append([]string{string(c.sandbox)}, c.others...), ","))
	case at == "GET "+sandboxesOfTeam+"/checkout":
		_, _ = w.Write(c.sandbox)
	case at == "PATCH "+sandboxesOfTeam+"/checkout":
		c.patch(w, r)
	case at == "GET /api/v1/namespaces/team/secrets/checkout-credentials":
		data := map[string]string{}
		for name, value := range c.secret {
			data[name] = base64.StdEncoding.EncodeToString([]byte(value))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Secret", "apiVersion": "v1", "data": data})
	case at == "GET /api/v1/namespaces/cauri-system/pods":
		_, _ = io.WriteString(w, `{"kind":"PodList","apiVersion":"v1","items":[]}`)
	case at == "GET /version":
		_, _ = io.WriteString(w, `{"gitVersion":"v1.36.1"}`)
	case at == "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews":
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Verb, Resource string }
			}
		}
		_ = json.NewDecoder(r.Body).Decode(&review)
		asked := review.Spec.ResourceAttributes
		fmt.Fprintf(w, `{"status":{"allowed":%t}}`, !c.denied[asked.Verb+" "+asked.Resource])
	default:
		refuse(w, http.StatusNotFound, "NotFound", r.URL.Path+" not found")
	}
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.WriteHeader(code)
	fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"message":%q,"code":%d}`, reason, message, code)
}

// patch applies a merge patch, and does what the controller does after it.
func (c *cluster) patch(w http.ResponseWriter, r *http.Request) {
	patch, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/merge-patch+json" {
		refuse(w, http.StatusUnsupportedMediaType, "UnsupportedMediaType", "not a merge patch")
		return
	}
	if c.sandbox, err = jsonpatch.MergePatch(c.sandbox, patch); err != nil {
		refuse(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	var resource map[string]any
	if err := json.Unmarshal(c.sandbox, &resource); err != nil {
		c.t.Error(err)
	}
	metadata := resource["metadata"].(map[string]any)
	generation := int64(metadata["generation"].(float64)) + 1
	metadata["generation"] = generation
	before, _ := json.Marshal(resource)
	_, _ = w.Write(before)
	if c.applied != nil {
		c.applied(resource, generation)
	}
	c.sandbox, _ = json.Marshal(resource)
}

// reconciled makes the status that of a spec that was applied.
func reconciled(resource map[string]any, generation int64) {
	spec, status := resource["spec"].(map[string]any), resource["status"].(map[string]any)
	status["observedGeneration"], status["observedReset"], status["observedKeyRotation"] = generation, spec["reset"], spec["keyRotation"]
	status["conditions"].([]any)[0].(map[string]any)["observedGeneration"] = generation
}

// until runs f with a context that ends when stop is called, and returns what f returned.
func until(t *testing.T, f func(context.Context) error) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	return func() error { cancel(); return <-done }
}

// entries are those of the list that a command printed as JSON.
func entries[T any](t *testing.T, r result) []T {
	t.Helper()
	return decoded[sandboxapi.List[T]](t, r).Data
}
