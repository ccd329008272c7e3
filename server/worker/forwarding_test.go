package worker_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorstest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestCollectionIsForwardedAndSettledByTheOperator(t *testing.T) {
	for _, operator := range payments.Operators {
		t.Run(string(operator), func(t *testing.T) {
			w := newPassthrough(t)
			o := newOperators(w, nil)
			stop := w.run()
			id := w.collect(`a/reference of "mine"?..`, operator)
			got := w.ended(id)
			w.until(ledger.EventDelivered, 1)
			stop()
			if got.Status != payments.Success {
				t.Fatalf("it ended %s: %s", got.Status, got.NativeRaw)
			}
			w.once(got)
			if native := o.Payments()[0].NativeID; got.NativeID != native || got.ProviderTxID() != native {
				t.Errorf("the provider's id is %q, the operator gave %q", got.ProviderTxID(), native)
			}
			simulated := keysOf(t, operators.Raw(&payments.Transaction{
				Type: payments.Collection, Operator: operator, Status: payments.Success, CreatedAt: time.Now(),
			}))
			if operator == payments.MPesa { // its query tells neither receipt nor date, so that Item is shorter
				simulated = append(simulated[:slices.Index(simulated, "Item")+1], "Name", "Value", "Name", "Value")
			}
			if diff := cmp.Diff(simulated, keysOf(t, got.NativeRaw)); diff != "" {
				t.Errorf("keys of raw (-simulated +native):\n%s", diff)
			}
			body := w.hook.deliveries()[0].body
			for _, part := range []string{`"provider_tx_id":"` + got.NativeID + `"`, `"raw":` + string(got.NativeRaw), `"status":"SUCCESS"`} {
				if !strings.Contains(body, part) {
					t.Errorf("the event has no %s: %s", part, body)
				}
			}
			posts, want := "POST /"+string(operator)+"/", 2
			switch operator {
			case payments.Moov: // without a token, and with questions by POST
				posts, want = posts+"Flooz/DebitService/Debit", 1
			case payments.Orange: // with questions by POST
				posts, want = posts+"orange-money-webpay/dev/v1/webpayment", 1
			case payments.MPesa: // with questions by POST, and tokens by GET
				posts, want = posts+"mpesa/stkpush/", 1
			}
			if n := o.count(posts); n != want {
				t.Errorf("%d requests beside questions, want one for a token and one to pay: %v", n, o.asked)
			}
		})
	}
}

// The outcome is due when the simulated latency is over, not before.
func TestForwardedCollectionTakesItsLatency(t *testing.T) {
	w := newPassthrough(t, func(c *sandboxes.Config) { c.LatencyPercent = 50 })
	var mu sync.Mutex
	var questions []time.Time
	o := newOperators(w, func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			mu.Lock()
			defer mu.Unlock()
			questions = append(questions, time.Now())
		}
		return false
	})
	o.Answer = 700 * time.Millisecond
	w.run()
	got := w.ended(w.collect("r1", payments.MTN)) // a second, scaled to half
	if took := got.CompletedAt.Sub(got.CreatedAt); took < 500*time.Millisecond {
		t.Errorf("it took %s", took)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(questions) == 0 {
		t.Error("the operator was not asked")
	}
	for last := got.CreatedAt.Add(250 * time.Millisecond); len(questions) > 0; questions = questions[1:] {
		if since := questions[0].Sub(last); since < 250*time.Millisecond {
			t.Errorf("a question came after %s: the first is due after 500 ms, each other 250 ms after the one before", since)
		}
		last = questions[0]
	}
}

func TestOperatorThatCannotBeUsed(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	answer := func(status int, body string) func(http.ResponseWriter, *http.Request) bool {
		return func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(body))
			return true
		}
	}
	only := func(path string, f func(http.ResponseWriter, *http.Request) bool) func(http.ResponseWriter, *http.Request) bool {
		return func(rw http.ResponseWriter, r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, path) && f(rw, r)
		}
	}
	const payPath = "/merchant/v1/payments/"
	for name, c := range map[string]struct {
		change func(*sandboxes.Config)
		before func(http.ResponseWriter, *http.Request) bool
		reason string
		tries  int // of paying
		asked  int // how it stands
	}{
		"the Secret is missing":   {change: named("http://127.0.0.1:1", nil), reason: "the store's credentials for this operator are missing"},
		"credentials are refused": {before: only("/token", answer(401, "{}")), reason: "the operator refused the credentials (Unauthorized)"},
		"no token is any good":    {before: only(payPath, answer(401, "{}")), reason: "the operator takes no token that it gives (401)", tries: 2},
		"the operator is down":    {before: only(payPath, answer(503, "")), reason: "the operator answered 503", tries: 3, asked: 1},
		"garbage": {before: only(payPath, answer(200, "<html>")), reason: "the operator answered 200 with what cannot be read",
			tries: 3, asked: 1},
		"the request is refused": {before: only(payPath, answer(400, `{"status":{"result_code":"ESB000008"}}`)),
			reason: "the operator refused the request (ESB000008 )", tries: 1},
		"link-local is not allowed": {change: named("http://169.254.169.254", known), reason: "requests to 169.254.169.254 are not allowed"},
		"nobody is at that address": {change: named("http://nobody.invalid", known), reason: "the operator cannot be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPassthrough(t)
			o := newOperators(w, c.before)
			if c.change != nil {
				w.configure(c.change)
			}
			w.run()
			got := w.ended(w.collect("r1", payments.Airtel))
			if got.Status != payments.ServiceUnavailable || !strings.Contains(string(got.NativeRaw), c.reason) ||
				!strings.HasPrefix(string(got.NativeRaw), `{"_simulated":true,`) {
				t.Errorf("it ended %s: %s, want %s", got.Status, got.NativeRaw, c.reason)
			}
			if strings.Contains(string(got.NativeRaw), known.ClientSecret) {
				t.Errorf("raw shows the secret: %s", got.NativeRaw)
			}
			if n := o.count(airtelPay); n != c.tries {
				t.Errorf("it was tried %d times, want %d", n, c.tries)
			}
			if n := o.count("GET "); n != c.asked {
				t.Errorf("it was asked after %d times, want %d", n, c.asked)
			}
			w.once(got)
		})
	}
}

// A worker is killed after the operator has the payment and before anybody knows: the next one finds it there.
func TestWorkerKilledBetweenForwardingAndSettling(t *testing.T) {
	for _, operator := range []payments.Operator{payments.MTN, payments.Airtel, payments.Orange, payments.Moov} {
		t.Run(string(operator), func(t *testing.T) {
			w := newPassthrough(t)
			o := newOperators(w, nil)
			id := w.collect("r1", operator)
			lost := w.leaseForward(time.Millisecond) // by the one that is killed
			w.begin(&lost)
			w.tellOperator(o, &lost)
			w.run()
			got := w.ended(id)
			if got.Status != payments.Success {
				t.Errorf("it ended %s: %s", got.Status, got.NativeRaw)
			}
			w.once(got)
			want := 1
			if operator == payments.Orange { // nobody has the page of the first order
				want = 2
			}
			if n := len(o.Payments()); n != want {
				t.Errorf("the operator has %d payments", n)
			}
			kept, err := w.SettleForward(t.Context(), &lost, ledger.OperatorResult{Status: payments.Success})
			if kept || err != nil {
				t.Errorf("the killed worker comes back: kept %t, %v", kept, err)
			}
			w.once(got)
		})
	}
}

// What only the answer to a payment has, such as the page of an order and its token, is kept until the outcome: a worker that starts later
// asks with it. Its raw shows the page, and that of the outcome does not.
func TestWorkerThatStartsAfterAnOrderWasOpened(t *testing.T) {
	w := newPassthrough(t)
	o := newOperators(w, nil)
	o.Answer = time.Hour
	stop := w.run()
	id := w.collect("r1", payments.Orange)
	var waiting *payments.Transaction
	eventually(t, func() string {
		if o.count("POST /orange/orange-money-webpay/dev/v1/transactionstatus") == 0 {
			return "nobody asks"
		}
		var err error
		if waiting, err = w.GetTransaction(t.Context(), w.sandbox.Tenant, id); err != nil || waiting.NativeRaw == nil {
			return fmt.Sprint("nothing is kept: ", err)
		}
		return ""
	})
	stop()
	const page = `"payment_url":"https://webpayment.example/payment/pay_token/`
	if raw := string(operators.Raw(waiting)); waiting.Status != payments.Pending || !strings.Contains(raw, page) {
		t.Errorf("it is %s: %s", waiting.Status, raw)
	}
	o.Answer = 0
	w.run()
	got := w.ended(id)
	if raw := string(got.NativeRaw); got.Status != payments.Success || strings.Contains(raw, "payment_url") || strings.Contains(raw, "operator_order_id") {
		t.Errorf("it ended %s: %s", got.Status, raw)
	}
	if n := o.count("POST /orange/orange-money-webpay/dev/v1/webpayment"); n != 1 {
		t.Errorf("%d orders were opened", n)
	}
	w.once(got)
}

// leaseForward takes the one collection that is due.
func (w *fixture) leaseForward(lease time.Duration) ledger.Forward {
	w.t.Helper()
	due, err := w.TenantsToForward(w.t.Context())
	if err != nil || len(due) != 1 {
		w.t.Fatalf("due %v, %v", due, err)
	}
	leased, _, err := w.LeaseDueForwards(w.t.Context(), []queues.SlotGrant{{DueTenant: due[0], Slots: 10}}, lease)
	if err != nil || len(leased) != 1 {
		w.t.Fatalf("leased %v, %v", leased, err)
	}
	return leased[0]
}

// begin writes an attempt down.
func (w *fixture) begin(f *ledger.Forward) {
	w.t.Helper()
	if begun, err := w.BeginForwardAttempt(w.t.Context(), f); !begun || err != nil {
		w.t.Fatalf("begun %t, %v", begun, err)
	}
}

// tellOperator forwards a collection as a worker would, and tells nobody.
func (w *fixture) tellOperator(o *operatorsOf, f *ledger.Forward) {
	w.t.Helper()
	access := adapter.Access{
		BaseURL: operatorstest.BaseURL(o.URL, f.Transaction.Operator), HTTP: o.Client(),
		ClientID: known.ClientID, ClientSecret: known.ClientSecret, MerchantKey: known.MerchantKey, Tokens: adapter.NewTokens(time.Now),
	}
	answer, err := operators.NewClient(f.Transaction.Operator, access).Collect(w.t.Context(), f.Transaction)
	if err != nil || answer.Status != payments.Pending {
		w.t.Fatalf("answered %+v, %v", answer, err)
	}
}

// An operator that has a payment of the same id, which nobody sent, has somebody else's. Attempts tell, and not how often a lease was
// taken: a worker that died before it sent anything, or gave back what it did not begin, sent nothing.
func TestIDThatTheOperatorHasAlready(t *testing.T) {
	w := newPassthrough(t)
	o := newOperators(w, nil)
	id := w.collect("r1", payments.Airtel)
	lost := w.leaseForward(time.Hour)
	w.tellOperator(o, &lost) // not written down: not ours
	if err := w.GiveBackForwards(t.Context(), []ledger.Forward{lost}); err != nil {
		t.Fatal(err)
	}
	w.run()
	got := w.ended(id)
	if got.Status != payments.DuplicateReference || !strings.Contains(string(got.NativeRaw), "ESB000041") {
		t.Errorf("it ended %s: %s", got.Status, got.NativeRaw)
	}
	w.once(got)
}

// The merchant's reference is no id at the operator: an account of a merchant's serves several sandboxes, and a sandbox's references are
// free again after a reset.
func TestOneReferenceInTwoSandboxesOfOneAccount(t *testing.T) {
	w := newPassthrough(t)
	o := newOperators(w, nil)
	for _, operator := range payments.Operators {
		o.Keep(operatorstest.Payment{Operator: operator, Reference: "order-" + string(operator), NativeID: "OTHER"}) // of before a reset
	}
	other := w.beside("other", w.hook.url)
	var ids []payments.ID
	for _, operator := range payments.Operators {
		ids = append(ids, w.collect("order-"+string(operator), operator))
		w.copies(ids[len(ids)-1], 1, other)
	}
	read[int](w, "with same as (update transactions set reference = 'order-' || operator returning 1) select count(*)::int from same")
	w.run()
	for _, id := range ids {
		if got := w.ended(id); got.Status != payments.Success {
			t.Errorf("one ended %s: %s", got.Status, got.NativeRaw)
		}
	}
	eventually(t, func() string {
		if n := read[int](w, "select count(*)::int from transactions where status = 'SUCCESS'"); n != 2*len(payments.Operators) {
			return fmt.Sprintf("%d ended in success", n)
		}
		return ""
	})
}

func TestWorkersShareTheForwarding(t *testing.T) {
	w := newPassthrough(t)
	o := newOperators(w, nil)
	const total = 60
	var ids []payments.ID
	for i := range total {
		ids = append(ids, w.collect(fmt.Sprint("r", i), payments.MTN))
	}
	for range 3 {
		w.run()
	}
	for _, id := range ids {
		if got := w.ended(id); got.Status != payments.Success {
			t.Errorf("one ended %s: %s", got.Status, got.NativeRaw)
		}
	}
	if got := w.float("RWF"); got != 1000+985*total {
		t.Errorf("the merchant has %d, want %d", got, 1000+985*total)
	}
	if got := o.count(mtnPay); got != total {
		t.Errorf("%d requests to pay, want %d", got, total)
	}
	if got := read[int](w, "select count(*)::int from events"); got != total {
		t.Errorf("%d events, want %d", got, total)
	}
}

// pending answers a question about an MTN payment as if the payer had not answered yet.
func pending(rw http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodGet {
		return false
	}
	_, _ = rw.Write([]byte(`{"amount":"1000","currency":"RWF","status":"PENDING"}`))
	return true
}

func TestPayerWhoNeverAnswersAnOperator(t *testing.T) {
	w := newPassthrough(t)
	o := newOperators(w, pending)
	w.run()
	got := w.ended(w.collect("r1", payments.MTN, func(n *ledger.NewCollection) { n.ExpireAfter = 1200 * time.Millisecond }))
	if got.Status != payments.Timeout || !strings.Contains(string(operators.Raw(got)), `"reason":"EXPIRED"`) {
		t.Errorf("it ended %s: %s", got.Status, operators.Raw(got))
	}
	if took := got.CompletedAt.Sub(got.CreatedAt); took < 1200*time.Millisecond {
		t.Errorf("it expired after %s", took)
	}
	w.once(got)
	if n := o.count(mtnPay); n != 1 {
		t.Errorf("it was forwarded %d times", n)
	}
}

// The operator approved in time, and was asked only after the payment's time was over.
func TestLastQuestionBeforeAForwardedCollectionExpires(t *testing.T) {
	for name, accepted := range map[string]bool{"known to be forwarded": true, "not known to be forwarded": false} {
		t.Run(name, func(t *testing.T) {
			w := newPassthrough(t)
			o := newOperators(w, nil)
			id := w.collect("r1", payments.MTN)
			f := w.leaseForward(time.Hour)
			w.begin(&f)
			w.tellOperator(o, &f)
			if accepted {
				if _, err := w.DeferForward(t.Context(), &f, ledger.Deferred{Accepted: true, After: time.Hour}); err != nil {
					t.Fatal(err)
				}
			}
			read[int](
				w,
				"with late as (update transactions set expires_at = now() - interval '1 hour', due_at = now() - interval '1 hour' returning 1) select count(*)::int from late",
			)
			w.run()
			if got := w.ended(id); got.Status != payments.Success {
				t.Errorf("it ended %s", got.Status)
			}
			if n := o.count(mtnPay); n != 1 {
				t.Errorf("it was forwarded %d times", n)
			}
		})
	}
}

// What nobody forwarded before its time was over is not forwarded after it.
func TestCollectionThatExpiredBeforeItWasForwarded(t *testing.T) {
	w := newPassthrough(t)
	o := newOperators(w, nil)
	id := w.collect("r1", payments.MTN)
	read[int](w, "with late as (update transactions set expires_at = due_at returning 1) select count(*)::int from late")
	w.run()
	if got := w.ended(id); got.Status != payments.Timeout {
		t.Errorf("it ended %s", got.Status)
	}
	if n := o.count(""); n != 0 {
		t.Errorf("%d requests were made", n)
	}
}

// Once an operator has a payment, no failure of the operator's ends it.
func TestOperatorThatFailsAfterItAccepted(t *testing.T) {
	var failures atomic.Int32
	w := newPassthrough(t)
	o := newOperators(w, func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || failures.Add(1) > 5 {
			return false
		}
		rw.WriteHeader(http.StatusBadGateway)
		return true
	})
	w.run()
	got := w.ended(w.collect("r1", payments.MTN))
	if got.Status != payments.Success {
		t.Errorf("it ended %s: %s", got.Status, got.NativeRaw)
	}
	w.once(got)
	if n := o.count(mtnPay); n != 1 {
		t.Errorf("it was forwarded %d times", n)
	}
}

// A failure before the operator accepted is tried again, with the same id.
func TestAnswerThatIsLost(t *testing.T) {
	var lost atomic.Bool
	w := newPassthrough(t)
	o := newOperators(w, nil)
	behind := o.Config.Handler
	o.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/requesttopay") && lost.CompareAndSwap(false, true) {
			behind.ServeHTTP(httptest.NewRecorder(), r) // the operator has it, and nobody learns of it
			panic(http.ErrAbortHandler)
		}
		behind.ServeHTTP(rw, r)
	})
	w.run()
	got := w.ended(w.collect("r1", payments.MTN))
	if got.Status != payments.Success {
		t.Errorf("it ended %s: %s", got.Status, got.NativeRaw)
	}
	w.once(got)
	if n := len(o.Payments()); n != 1 {
		t.Errorf("the operator has %d payments", n)
	}
}

// The operator has the payment, and every answer that says so is lost: it is asked once more before it is given up on.
func TestEveryAnswerIsLost(t *testing.T) {
	w := newPassthrough(t)
	o := newOperators(w, nil)
	behind := o.Config.Handler
	o.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !strings.Contains(r.URL.Path, "/token") {
			behind.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		behind.ServeHTTP(rw, r)
	})
	w.run()
	got := w.ended(w.collect("r1", payments.Airtel))
	if got.Status != payments.Success || len(o.Payments()) != 1 {
		t.Errorf("it ended %s, the operator has %d payments: %s", got.Status, len(o.Payments()), got.NativeRaw)
	}
	w.once(got)
}

// A request that is refused may come after one that was not: the operator is asked before the refusal ends the collection.
func TestRefusalAfterAnAnswerThatWasLost(t *testing.T) {
	w := newPassthrough(t)
	var came atomic.Int32
	o := newOperators(w, nil)
	behind := o.Config.Handler
	o.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/requesttopay") {
			behind.ServeHTTP(rw, r)
			return
		}
		if came.Add(1) == 1 {
			behind.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		rw.WriteHeader(http.StatusBadRequest)
	})
	w.run()
	got := w.ended(w.collect("r1", payments.MTN))
	if got.Status != payments.Success {
		t.Errorf("it ended %s: %s", got.Status, got.NativeRaw)
	}
	w.once(got)
}

// What was sent to an operator is not approved here because its store does not name the operator any more.
func TestOperatorThatIsNotNamedAnyMore(t *testing.T) {
	for name, accepted := range map[string]bool{"it has the payment": true, "it may have the payment": false} {
		t.Run(name, func(t *testing.T) {
			w := newPassthrough(t)
			newOperators(w, nil)
			id := w.collect("r1", payments.MTN, func(n *ledger.NewCollection) {
				if accepted { // it waits for the end of its time
					n.ExpireAfter = time.Second
				}
			})
			f := w.leaseForward(time.Hour)
			w.begin(&f)
			if _, err := w.DeferForward(t.Context(), &f, ledger.Deferred{Accepted: accepted}); err != nil {
				t.Fatal(err)
			}
			w.configure(func(c *sandboxes.Config) { c.Operators = nil })
			w.run()
			want := map[bool]payments.Status{true: payments.Timeout, false: payments.ServiceUnavailable}[accepted]
			got := w.ended(id)
			if got.Status != want {
				t.Errorf("it ended %s, want %s: %s", got.Status, want, got.NativeRaw)
			}
			w.once(got)
		})
	}
}

// The merchant is credited with what was paid, or with nothing.
func TestOperatorThatSaysAnotherAmount(t *testing.T) {
	w := newPassthrough(t)
	newOperators(w, func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet {
			return false
		}
		_, _ = rw.Write([]byte(`{"amount":"999","currency":"RWF","status":"SUCCESSFUL","financialTransactionId":"F1"}`))
		return true
	})
	w.run()
	got := w.ended(w.collect("r1", payments.MTN))
	if got.Status != payments.ServiceUnavailable || got.ProviderTxID() != "F1" || !strings.Contains(string(got.NativeRaw), "not 1000 RWF") {
		t.Errorf("it ended %s: %s", got.Status, got.NativeRaw)
	}
	w.once(got)
}

// A changed Secret is used by the next request, also by one for a payment that is on its way.
func TestCredentialsAreReadAtEachAttempt(t *testing.T) {
	w := newPassthrough(t)
	o := newOperators(w, nil)
	w.run()
	if got := w.ended(w.collect("r1", payments.Airtel)); got.Status != payments.Success {
		t.Fatalf("it ended %s: %s", got.Status, got.NativeRaw)
	}
	w.configure(named(o.URL, nil))
	if got := w.ended(w.collect("r2", payments.Airtel)); got.Status != payments.ServiceUnavailable {
		t.Errorf("without its Secret it ended %s", got.Status)
	}
	w.configure(named(o.URL, &sandboxes.OperatorCredentials{ClientID: "shop", ClientSecret: "new"}))
	if got := w.ended(w.collect("r3", payments.Airtel)); got.Status != payments.Success {
		t.Errorf("with a new Secret it ended %s: %s", got.Status, got.NativeRaw)
	}
	if n := o.count("POST /airtel/auth"); n != 2 {
		t.Errorf("%d tokens were asked for, want one for each pair of credentials", n)
	}
}

// Without an operator's API that the store names a collection is approved, as the operator would tell it, and nothing is asked.
func TestCollectionWithoutAnOperatorsAPIIsApproved(t *testing.T) {
	for name, change := range map[string]func(*sandboxes.Config){
		"without credentials": func(c *sandboxes.Config) { c.Operators = nil }, "with credentials": named("", known),
	} {
		t.Run(name, func(t *testing.T) {
			w := newPassthrough(t)
			o := newOperators(w, nil)
			w.configure(change)
			w.run()
			ids := map[payments.Operator]payments.ID{}
			for _, operator := range payments.Operators {
				ids[operator] = w.collect("r-"+string(operator), operator)
			}
			earned := map[string]int64{"RWF": 1000}
			for operator, id := range ids {
				got := w.ended(id)
				if operators.NeedsCredentials(operator) && w.config.Operators == nil {
					const reason = "the store has no credentials for this operator"
					if got.Status != payments.ServiceUnavailable || !strings.Contains(string(got.NativeRaw), reason) {
						t.Errorf("it ended %s: %s, want %s", got.Status, got.NativeRaw, reason)
					}
					continue
				}
				earned[got.Currency] += got.NetAmount
				if got.Status != payments.Success || got.NativeRaw != nil || got.ProviderTxID() != got.ID.ProviderTxID() {
					t.Errorf("it ended %s as %s: %s", got.Status, got.ProviderTxID(), got.NativeRaw)
				}
			}
			for currency, want := range earned {
				if got := w.float(currency); got != want {
					t.Errorf("the merchant has %d %s, want %d", got, currency, want)
				}
			}
			if n := read[int](w, "select count(*)::int from events"); n != len(ids) {
				t.Errorf("%d events, want %d", n, len(ids))
			}
			if n := o.count(""); n != 0 {
				t.Errorf("%d requests left", n)
			}
		})
	}
}

// Missing credentials are told, whether the store names an API or not.
func TestMissingCredentialsWithoutAnOperatorsAPI(t *testing.T) {
	w := newPassthrough(t, named("", nil))
	w.run()
	got := w.ended(w.collect("r1", payments.Airtel))
	if got.Status != payments.ServiceUnavailable || !strings.Contains(string(got.NativeRaw),
		"the store's credentials for this operator are missing") {
		t.Errorf("it ended %s: %s", got.Status, got.NativeRaw)
	}
	w.once(got)
}

func TestApprovalTakesItsLatency(t *testing.T) {
	for name, c := range map[string]struct {
		expireAfter, ends time.Duration
		status            payments.Status
	}{
		"in time":             {time.Hour, 500 * time.Millisecond, payments.Success},
		"its time ran out":    {300 * time.Millisecond, 300 * time.Millisecond, payments.Timeout},
		"both at one instant": {500 * time.Millisecond, 500 * time.Millisecond, payments.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			w := newPassthrough(t, func(c *sandboxes.Config) { c.LatencyPercent = 50 })
			w.run()
			got := w.ended(w.collect("r1", payments.MTN, func(n *ledger.NewCollection) { n.ExpireAfter = c.expireAfter }))
			if took := got.CompletedAt.Sub(got.CreatedAt); got.Status != c.status || took < c.ends {
				t.Errorf("it ended %s after %s, want %s after %s", got.Status, took, c.status, c.ends)
			}
			w.once(got)
		})
	}
}

// The payer approved in time. That the worker which had the collection died, and the next one comes late, changes nothing.
func TestApprovalThatAWorkerComesLateTo(t *testing.T) {
	w := newPassthrough(t)
	id := w.collect("r1", payments.MTN)
	w.leaseForward(time.Hour) // by the one that dies
	read[int](w, `with late as (update transactions set created_at = now() - interval '3 hours', expires_at = now() - interval '2 hours',
		due_at = now() - interval '1 hour' returning 1) select count(*)::int from late`)
	w.run()
	if got := w.ended(id); got.Status != payments.Success {
		t.Errorf("it ended %s", got.Status)
	}
}

// keysOf are the names of a JSON object, in order and with those inside of it.
func keysOf(t *testing.T, text []byte) []string {
	t.Helper()
	var keys []string
	for _, part := range strings.Split(string(text), `":`) {
		if i := strings.LastIndexByte(part, '"'); i >= 0 && i < len(part)-1 {
			keys = append(keys, part[i+1:])
		}
	}
	return keys
}
