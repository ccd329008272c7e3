package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// What the frame carries and no operator needs yet is tested by an API that no operator has: several callbacks for a payment, and callbacks
// about none, which are repeated.

const kioskKey = "X-Kiosk-Key"

// kioskAPI is the API of a made-up operator. A payment names its callbacks.
func kioskAPI() *operatorapi.API {
	return &operatorapi.API{
		Operator: payments.MTN, KeyHeader: kioskKey, ContentType: "application/json",
		Key: func(r *http.Request, _ func() []byte) string { return r.Header.Get(kioskKey) },
		Derive: func(apiKey string) operatorapi.Credentials {
			return operatorapi.Credentials{Key: operatorapi.Derived(apiKey, "kiosk")}
		},
		Refuse: func(r *operatorapi.Refusal) operatorapi.Answer {
			return operatorapi.Answer{Status: http.StatusBadRequest, Body: r.Code()}
		},
		SecretForm: regexp.MustCompile("[0-9a-f]{32}"),
		Retries:    []time.Duration{time.Minute, time.Hour},
		Callback: func(t *payments.Transaction, sent json.RawMessage, how operatorapi.StatusView) operatorapi.Callback {
			told := object{"kind": how.Kind, "sent": sent}
			if t != nil {
				told["status"] = t.Status
			}
			body, _ := json.Marshal(told)
			return operatorapi.Callback{Method: http.MethodPut, Header: http.Header{"X-Kiosk-Kind": {how.Kind}}, Body: body}
		},
		Routes: []operatorapi.Route{
			{Name: "pay", Method: http.MethodPost, Path: "/pay", Orders: true, Handle: kioskPay},
			{Name: "inquire", Method: http.MethodPost, Path: "/inquire", Handle: kioskInquire},
			{Name: "buy", Method: http.MethodPost, Path: "/buy", Orders: true, Handle: kioskBuy},
			{Name: "status", Method: http.MethodPost, Path: "/status", Handle: kioskStatus, Flicker: &operatorapi.Flicker{
				Pending: []operatorapi.WrongAnswer{nil, kioskSays(http.StatusOK, "nothing"), kioskSays(http.StatusInternalServerError, "busy")},
				Ended:   []operatorapi.WrongAnswer{nil, nil, nil, kioskSays(http.StatusInternalServerError, "busy")},
			}},
			{Name: "check", Method: http.MethodPost, Path: "/check", Handle: kioskStatus},
			{Name: "keep", Method: http.MethodPost, Path: "/keep", Handle: kioskKeep},
			{Name: "kept", Method: http.MethodPost, Path: "/kept", Handle: kioskKept},
			{Name: "paid", Method: http.MethodPost, Path: "/paid", Handle: kioskPaid},
			{Name: "open", Method: http.MethodPost, Path: "/open", Handle: kioskOpen},
		},
		Files: []operatorapi.File{{Path: "/certificate", ContentType: "application/x-pem-file", Certificate: true}},
	}
}

func kioskPay(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var o operatorapi.Order
	if err := json.Unmarshal(r.Body, &o.Callbacks); err != nil {
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.Invalid)
	}
	o.Order = payments.Order{
		Details: payments.Details{
			Reference: r.Query.Get("reference"), MSISDN: r.Query.Get("payer"), Currency: string(payments.RWF),
		},
		OrderRef: r.Query.Get("reference"), Country: payments.Rwanda, Amount: 100,
	}
	o.Operation, o.Sent, o.Confirmed = "pay", object{"reference": o.Reference}, r.Query.Has("confirmed")
	return operatorapi.Answer{Status: http.StatusAccepted, Body: object{}}, s.Collect(ctx, o)
}

// kioskStatus tells the status of a payment.
func kioskStatus(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	p, err := s.Find(ctx, r.Query.Get("reference"), "pay")
	if err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: p.Status}, nil
}

func kioskSays(status int, text string) operatorapi.WrongAnswer {
	return func() operatorapi.Answer { return operatorapi.Answer{Status: status, Body: text} }
}

func kioskInquire(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	err := s.Notify(ctx, operatorapi.Notice{
		URL: r.Query.Get("url"), Kind: "balance", Sent: object{"balance": 7}, After: 10 * time.Second,
	})
	return operatorapi.Answer{Status: http.StatusAccepted, Body: object{}}, err
}

// kioskBuy asks the shop before it records a payment. A shop that does not reply has agreed.
func kioskBuy(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	limit, err := time.ParseDuration(r.Query.Get("limit"))
	if err != nil {
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.Invalid)
	}
	question := operatorapi.Notice{URL: r.Query.Get("url"), Kind: "question", Sent: object{"reference": r.Query.Get("reference")}}
	reply, err := s.Ask(ctx, question, limit)
	switch {
	case err != nil:
		return operatorapi.Answer{}, err
	case reply != nil && reply.Status == http.StatusOK && string(reply.Body) == "no":
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.NotFound)
	}
	r.Body = []byte("[]")
	return kioskPay(ctx, s, r)
}

// kioskOpen answers with what the key of the certificate decrypts.
func kioskOpen(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	var text []byte
	if err := json.Unmarshal(r.Body, &text); err != nil || len(text) != s.CredentialKey().Size() {
		return operatorapi.Answer{}, operatorapi.Refuse(operatorapi.Invalid)
	}
	padded, err := s.OpenCredential(ctx, text)
	if err != nil || !bytes.HasSuffix(padded, []byte("\x00initiator's password")) {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusAccepted, Body: object{}}, nil
}

// kiosk is a sandbox of the made-up operator, and its shop.
type kiosk struct {
	*fixture
	shop *httptest.Server

	mu      sync.Mutex
	came    []string // each with method, path, kind and body
	refuses bool
	silent  chan struct{} // ends what the shop does not answer
}

func newKiosk(t *testing.T) *kiosk {
	t.Cleanup(operators.Replace(payments.MTN, kioskAPI()))
	k := &kiosk{silent: make(chan struct{})}
	k.shop = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/silent":
			<-k.silent
		case "/no":
			_, _ = w.Write([]byte("no"))
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.came = append(k.came, fmt.Sprint(r.Method, " ", r.URL.Path, " ", r.Header.Get("X-Kiosk-Kind"), " ", string(body)))
		if k.refuses {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(k.shop.Close)
	t.Cleanup(func() { close(k.silent) })
	k.fixture = newFixtureAlone(t) // it waits for no other test, since it replaces an API
	k.config.Clock, k.config.CallbackHosts = sandboxes.ClockConfig{Mode: sandboxes.ManualClock}, []string{"127.0.0.1"}
	k.sandbox(k.config, key)
	k.client("alice", alice, 50_000)
	k.runWorker()
	return k
}

// paymentsWait lets a payment wait for the clock. Otherwise the worker settles it soon.
func (k *kiosk) paymentsWait() {
	k.t.Helper()
	k.config.LatencyPercent = 100
	k.sandbox(k.config, key)
}

// sent returns what has come to the shop, in the order of the texts, and forgets it.
func (k *kiosk) sent() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	came := k.came
	k.came = nil
	slices.Sort(came)
	return came
}

func (k *kiosk) ask(path string, body any) {
	k.t.Helper()
	if status := k.answer(path, body); status != http.StatusAccepted {
		k.t.Fatalf("%s is answered %d", path, status)
	}
}

// answer is the status of the answer to a request.
func (k *kiosk) answer(path string, body any) int {
	k.t.Helper()
	status, _, _ := k.told(path, body)
	return status
}

// told returns the status of the answer to a request, its body, and the fault that it names.
func (k *kiosk) told(path string, body any) (status int, said, fault string) {
	k.t.Helper()
	return k.toldWith(key, path, body)
}

// toldWith is told for a request with an API key.
func (k *kiosk) toldWith(apiKey, path string, body any) (status int, said, fault string) {
	k.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		k.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(k.t.Context(), "POST", k.url+"/operators/mtn"+path, bytes.NewReader(text))
	if err != nil {
		k.t.Fatal(err)
	}
	r.Header.Set(kioskKey, operatorapi.Derived(apiKey, "kiosk"))
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		k.t.Fatal(err)
	}
	defer got.Body.Close()
	raw, err := io.ReadAll(got.Body)
	if err != nil {
		k.t.Fatal(err)
	}
	return got.StatusCode, string(raw), got.Header.Get("X-Cauri-Fault")
}

// pay pays by the operator's API. The callbacks go to the shop, to a path that is their kind.
func (k *kiosk) pay(reference, payer string, callbacks ...payments.PlannedCallback) {
	k.t.Helper()
	for i := range callbacks {
		callbacks[i].URL = k.shop.URL + "/" + callbacks[i].Kind
	}
	if callbacks == nil {
		callbacks = []payments.PlannedCallback{}
	}
	k.ask("/pay?reference="+reference+"&payer=%2B"+payer[1:], callbacks)
}

func (k *kiosk) advance(by string) {
	k.t.Helper()
	if got := k.call("POST", "/v1/clock/advance", object{"by": by}); got.status != http.StatusOK {
		k.t.Fatalf("the advance is answered %d %s", got.status, got.raw)
	}
}

func (k *kiosk) resend(id string) {
	k.t.Helper()
	if got := k.call("POST", "/v1/events/"+id+"/resend", nil); got.status != http.StatusAccepted || got.body["state"] != "queued" {
		k.t.Errorf("%s, sent again, is %d %s", id, got.status, got.raw)
	}
}

// events returns the events that a query lists, each with the fields that it is about.
func (k *kiosk) events(query string) (ids, listed []string) {
	k.t.Helper()
	for _, each := range k.call("GET", "/v1/events?"+query, nil).body["data"].([]any) {
		event := each.(object)
		ids = append(ids, event["id"].(string))
		kind, _ := event["kind"].(string)
		listed = append(listed, kind+" "+fieldsOf(event, "event", "status", "state", "attemptCount"))
	}
	slices.Sort(listed)
	return ids, listed
}

func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// every are three callbacks, of which two are sent with each outcome.
func every() []payments.PlannedCallback {
	return []payments.PlannedCallback{
		{Kind: "receipt", When: payments.OnlySuccess}, {Kind: "refusal", When: payments.OnlyFailure}, {Kind: "result"},
	}
}

func TestSeveralCallbacksOfAPayment(t *testing.T) {
	k := newKiosk(t)
	k.paymentsWait()
	k.pay("paid", alice, every()...)
	k.pay("unknown", "+250788000099", every()...) // ends at once
	k.pay("silent", alice)
	if _, listed := k.events("event=operator.callback"); len(listed) != 2 {
		t.Errorf("before the outcome of the payments %q are listed", listed)
	}
	k.advance("1m")
	same(t, "what came", []string{
		`PUT /receipt receipt {"kind":"receipt","sent":{"reference":"paid"},"status":"SUCCESS"}`,
		`PUT /refusal refusal {"kind":"refusal","sent":{"reference":"unknown"},"status":"UNKNOWN_MSISDN"}`,
		`PUT /result result {"kind":"result","sent":{"reference":"paid"},"status":"SUCCESS"}`,
		`PUT /result result {"kind":"result","sent":{"reference":"unknown"},"status":"UNKNOWN_MSISDN"}`,
	}, k.sent())
	tx := k.call("GET", "/v1/payments?reference=paid", nil).body["data"].([]any)[0].(object)["id"].(string)
	ids, listed := k.events("tx_id=" + tx)
	same(t, "of the payment are listed", []string{
		" payment.completed SUCCESS recorded 0", "receipt operator.callback SUCCESS delivered 1", "result operator.callback SUCCESS delivered 1",
	}, listed)
	for _, id := range ids {
		read := k.call("GET", "/v1/events/"+id, nil)
		if read.body["id"] != id || read.body["txId"] != tx {
			t.Errorf("%s is read as %s", id, read.raw)
		}
		k.call("GET", "/v1/events/"+id, nil, withKey(otherKey)).is(t, http.StatusNotFound, "not_found")
		k.call("POST", "/v1/events/"+id+"/resend", nil, withKey(otherKey)).is(t, http.StatusNotFound, "not_found")
		if kind, is := read.body["kind"].(string); is {
			if fieldsOf(read.body, "method", "url") != "PUT "+k.shop.URL+"/"+kind || !strings.Contains(read.body["body"].(string), `"kind":"`+kind) {
				t.Errorf("the %s is read as %s", kind, read.raw)
			}
			k.resend(id)
			k.advance("1s")
			if came := k.sent(); len(came) != 1 || !strings.HasPrefix(came[0], "PUT /"+kind) {
				t.Errorf("of the %s, sent again, came %q", kind, came)
			}
		}
	}
	pages, cursor := []string{}, ""
	for range len(ids) {
		page := k.call("GET", "/v1/events?limit=1&tx_id="+tx+cursor, nil)
		pages = append(pages, page.each("id")...)
		cursor = fmt.Sprint("&cursor=", page.body["nextCursor"])
	}
	same(t, "page after page", ids, pages)
	k.reset("again")
	if _, listed := k.events(""); len(listed) != 0 {
		t.Errorf("after a reset %q are listed", listed)
	}
}

func TestCallbackOfNoPayment(t *testing.T) {
	k := newKiosk(t)
	k.ask("/inquire?url="+k.shop.URL+"/answer", nil)
	k.advance("1s")
	const told = `PUT /answer balance {"kind":"balance","sent":{"balance":7}}`
	same(t, "what came", []string{told}, k.sent())
	ids, listed := k.events("")
	same(t, "the events", []string{"balance operator.callback <nil> delivered 1"}, listed)
	read := k.call("GET", "/v1/events/"+ids[0], nil)
	if fieldsOf(read.body, "kind", "txId", "status", "method", "url") != "balance <nil> <nil> PUT "+k.shop.URL+"/answer" || len(read.body["attempts"].([]any)) != 1 {
		t.Errorf("it is read as %s", read.raw)
	}
	k.resend(ids[0])
	k.advance("1s")
	same(t, "what came again", []string{told}, k.sent())
	k.call("GET", "/v1/events/"+ids[0], nil, withKey(otherKey)).is(t, http.StatusNotFound, "not_found")
	k.call("POST", "/v1/events/"+ids[0]+"/resend", nil, withKey(otherKey)).is(t, http.StatusNotFound, "not_found")
	k.reset("again")
	k.call("GET", "/v1/events/"+ids[0], nil).is(t, http.StatusNotFound, "not_found")
}

func TestCallbacksAreRepeatedByTheSchedule(t *testing.T) {
	k := newKiosk(t)
	k.refuses = true
	k.pay("paid", alice, payments.PlannedCallback{Kind: "result"})
	k.ask("/inquire?url="+k.shop.URL+"/answer", nil)
	after := func(by string, came int, state string, attempts int) {
		t.Helper()
		k.advance(by)
		if sent := k.sent(); len(sent) != came {
			t.Errorf("within %s came %q, want %d", by, sent, came)
		}
		_, listed := k.events("event=operator.callback")
		same(t, "after "+by, []string{
			fmt.Sprintf("balance operator.callback <nil> %s %d", state, attempts), fmt.Sprintf("result operator.callback SUCCESS %s %d", state, attempts),
		}, listed)
	}
	after("30s", 2, "queued", 1)
	after("29s", 0, "queued", 1)
	after("2s", 2, "queued", 2)
	after("59m", 0, "queued", 2)
	after("2m", 2, "failed", 3)
	after("48h", 0, "failed", 3)
	ids, _ := k.events("event=operator.callback")
	for _, id := range ids { // their schedule begins again
		k.resend(id)
	}
	after("1s", 2, "queued", 4)
	k.mu.Lock()
	k.refuses = false
	k.mu.Unlock()
	after("1m", 2, "delivered", 5)
	after("48h", 0, "delivered", 5)
}

// A payment about which the shop is asked is recorded if it agrees, if it does not reply within the limit, and if it cannot be reached.
func TestQuestionBeforeAPayment(t *testing.T) {
	k := newKiosk(t)
	closed := httptest.NewServer(nil)
	closed.Close()
	for reference, c := range map[string]struct {
		url, limit string
		recorded   bool
		event      string
	}{
		"yes":     {k.shop.URL + "/yes", "1h", true, "delivered 1"},
		"no":      {k.shop.URL + "/no", "1h", false, "delivered 1"},
		"silence": {k.shop.URL + "/silent", "100ms", true, ""},
		"nowhere": {closed.URL, "1h", true, "failed 1"},
	} {
		status := k.answer("/buy?limit="+c.limit+"&url="+c.url+"&reference="+reference+"&payer=%2B"+alice[1:], nil)
		recorded := k.call("GET", "/v1/payments?reference="+reference, nil).body["data"].([]any)
		if (status == http.StatusAccepted) != c.recorded || (len(recorded) == 1) != c.recorded {
			t.Errorf("%s: the answer is %d, and %d payments are recorded", reference, status, len(recorded))
		}
		if _, listed := k.events("event=operator.callback&limit=1"); c.event != "" {
			same(t, reference, []string{"question operator.callback <nil> " + c.event}, listed)
		}
	}
	k.conserved()
}

// A question that was refused is not asked again, whatever the schedule of the operator: its payment is recorded already.
func TestQuestionIsAskedOnce(t *testing.T) {
	k := newKiosk(t)
	k.refuses = true
	k.ask("/buy?limit=1h&url="+k.shop.URL+"/yes&reference=once&payer=%2B"+alice[1:], nil)
	k.advance("48h")
	same(t, "what came", []string{`PUT /yes question {"kind":"question","sent":{"reference":"once"}}`}, k.sent())
}

// A payment that its payer has confirmed rings no phone: what the payer would do decides at once.
func TestPaymentThatItsPayerHasConfirmed(t *testing.T) {
	k := newKiosk(t)
	for msisdn, c := range map[string]struct {
		behavior payments.Behavior
		want     payments.Status
	}{
		"+250788000011": {payments.Approve, payments.Success},
		"+250788000012": {payments.Manual, payments.Success},
		"+250788000013": {payments.Cancel, payments.UserCancelled},
		"+250788000014": {payments.WrongPIN, payments.PINInvalid},
		"+250788000015": {payments.Ignore, payments.Pending},
	} {
		k.client("payer", msisdn, 50_000, func(client *sandboxes.TestClientConfig) { client.Behavior = c.behavior })
		k.pay(msisdn[1:]+"&confirmed", msisdn)
		paid := k.call("GET", "/v1/payments?reference="+msisdn[1:], nil).body["data"].([]any)
		if len(paid) != 1 || paid[0].(object)["status"] != string(c.want) {
			t.Errorf("%s: the payments are %v, want %s", c.behavior, paid, c.want)
		}
	}
	k.conserved()
}
