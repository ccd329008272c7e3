package ledger_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/payments"
)

// asked records a payment of an operator's own API that has its outcome at once, with a callback to a URL that is due; empty: with none.
func (w *fixture) asked(reference, url string) payments.ID {
	w.T.Helper()
	n := w.Collection(reference, payments.Success, alice)
	n.RequestHash = ledger.NativeHash("requesttopay")
	n.Optional.Native = &ledger.NativeRequest{Operation: "requesttopay", Sent: json.RawMessage(`{}`), Callbacks: calls(url)}
	return w.Create(n).ID
}

// newBody never builds the same body twice.
func newBody() ledger.BuildCallback {
	built := 0
	return func(c *payments.Callback) []byte {
		built++
		return fmt.Appendf(nil, "%s %d %t", c.Transaction.Reference, built, c.Vague)
	}
}

// calls returns the plan of one callback to a URL; of none, if it is empty.
func calls(url string) []payments.PlannedCallback {
	if url == "" {
		return nil
	}
	return []payments.PlannedCallback{{URL: url}}
}

// leaseCallbacks takes callbacks of the sandbox, which are so many, for an hour.
func (w *fixture) leaseCallbacks(n int) []ledger.LeasedCallback {
	w.T.Helper()
	grant := queues.SlotGrant{DueTenant: queues.DueTenant{Tenant: w.Sandbox.Tenant}, Slots: 10}
	leased, found, err := w.LeaseDueCallbacks(w.T.Context(), []queues.SlotGrant{grant}, time.Hour, newBody())
	if err != nil || len(leased) != n || found[w.Sandbox.Tenant] != n {
		w.T.Fatalf("%d callbacks were taken, %v, %v; want %d", len(leased), found, err, n)
	}
	return leased
}

func (w *fixture) finishCallback(c *ledger.LeasedCallback, a ledger.AttemptResult) {
	w.T.Helper()
	a.StartedAt = c.Now
	if kept, err := w.FinishCallback(w.T.Context(), c, a); err != nil || !kept {
		w.T.Fatalf("the attempt was not kept: %v", err)
	}
}

func (w *fixture) giveBack(callbacks []ledger.LeasedCallback) {
	w.T.Helper()
	if err := w.GiveBackCallbacks(w.T.Context(), callbacks); err != nil {
		w.T.Fatal(err)
	}
}

func (w *fixture) callback(id payments.ID) *ledger.CallbackDetail {
	w.T.Helper()
	c, err := w.GetCallback(w.T.Context(), w.Sandbox.Tenant, id, newBody())
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}

func (w *fixture) resendCallback(id payments.ID) ledger.Event {
	w.T.Helper()
	c, err := w.ResendCallback(w.T.Context(), w.Sandbox.Tenant, id)
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}

// Callbacks are listed before the events of their transactions, whatever is asked for, and page after page.
func TestCallbacksAreListedAsEvents(t *testing.T) {
	w := newFixture(t)
	ids := map[string]payments.ID{}
	for _, reference := range []string{"a", "b", "c", "d"} {
		ids[reference] = w.asked(reference, "http://127.0.0.1:1/"+reference)
	}
	ids["e"] = w.asked("e", "")                                        // asks for none
	ids["f"] = w.Create(w.Collection("f", payments.Success, alice)).ID // of /v1
	n := w.Collection("g", payments.Pending, alice)
	n.RequestHash = ledger.NativeHash("requesttopay")
	n.Optional.Native = &ledger.NativeRequest{Operation: "requesttopay", Sent: json.RawMessage(`{}`), Callbacks: calls("http://127.0.0.1:1/g")}
	w.Create(n) // has none yet
	for _, c := range w.leaseCallbacks(4) {
		switch c.Transaction.Reference {
		case "a":
			w.finishCallback(&c, acknowledged)
		case "b":
			w.finishCallback(&c, refusedForev)
		case "c":
			w.giveBack([]ledger.LeasedCallback{c})
		}
	}
	w.Exec("update events set created_at = '2026-05-01'::timestamptz + make_interval(mins => ascii(t.reference) - 97) from transactions t where t.id = events.id")
	w.Exec("update transactions set completed_at = '2026-05-01'::timestamptz + make_interval(mins => ascii(reference) - 97) where status = 'SUCCESS'")
	name := func(id payments.EventID) string {
		for reference, of := range ids {
			if of == id.ID && id.Callback {
				return strings.ToUpper(reference)
			} else if of == id.ID {
				return reference
			}
		}
		return "?"
	}
	minute := func(n int) *time.Time { return new(time.Date(2026, time.May, 1, 0, n, 0, 0, time.UTC)) }
	for _, c := range []struct {
		want   string
		filter ledger.EventFilter
	}{
		{"feDdCcBbAa", ledger.EventFilter{}},
		{"DCBA", ledger.EventFilter{Callback: new(true)}},
		{"fedcba", ledger.EventFilter{Callback: new(false)}},
		{"fedcba", ledger.EventFilter{Type: payments.Collection}},
		{"", ledger.EventFilter{Type: payments.Refund}},
		{"", ledger.EventFilter{State: ledger.EventRecorded}},
		{"feDdCcba", ledger.EventFilter{State: ledger.EventQueued}},
		{"A", ledger.EventFilter{State: ledger.EventDelivered}},
		{"B", ledger.EventFilter{State: ledger.EventFailed}},
		{"B", ledger.EventFilter{State: ledger.EventFailed, Callback: new(true)}},
		{"Cc", ledger.EventFilter{Transaction: new(ids["c"])}},
		{"feDdCcBb", ledger.EventFilter{CreatedAfter: minute(1)}},
		{"Aa", ledger.EventFilter{CreatedBefore: minute(1)}},
		{"BbAa", ledger.EventFilter{CreatedAfter: minute(0), CreatedBefore: minute(2)}},
	} {
		for limit := 1; limit <= len(ids)*2; limit++ {
			got, pages := "", 0
			var after *payments.EventID
			for {
				page, err := w.ListEvents(t.Context(), w.Sandbox.Tenant, c.filter, after, limit)
				if err != nil {
					t.Fatal(err)
				}
				for i := range page {
					got += name(page[i].EventID())
				}
				if pages++; len(page) < limit || pages > 20 {
					break
				}
				after = new(page[limit-1].EventID())
			}
			if got != c.want {
				t.Errorf("%+v lists %s in pages of %d, want %s", c.filter, got, limit, c.want)
			}
			// From the last event back to the first:
			back, before := "", after
			for before != nil {
				page, err := w.ListNewerEvents(t.Context(), w.Sandbox.Tenant, c.filter, *before, limit)
				if err != nil {
					t.Fatal(err)
				}
				part := ""
				for i := range page {
					part += name(page[i].EventID())
				}
				back = part + back
				if before = nil; len(page) == limit {
					before = new(page[0].EventID())
				}
			}
			if after == nil {
				continue
			}
			if want, _, _ := strings.Cut(c.want, name(*after)); back != want {
				t.Errorf("%+v lists %s in pages of %d backward, want %s", c.filter, back, limit, want)
			}
		}
	}
	var states []string
	for _, e := range w.events(ledger.EventFilter{Callback: new(true)}, nil, 10) {
		states = append(states, fmt.Sprintf("%s %s %d next=%t delivered=%t", name(e.EventID()), e.State, e.Attempts, e.NextAttemptAt != nil,
			e.DeliveredAt != nil))
		if diff := cmp.Diff(e, w.callback(e.ID).Event); diff != "" {
			t.Errorf("-listed +read:\n%s", diff)
		}
	}
	want := []string{
		"D queued 0 next=false delivered=false", // it is being sent
		"C queued 0 next=true delivered=false",
		"B failed 1 next=false delivered=false",
		"A delivered 1 next=false delivered=true",
	}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every attempt sends the same bytes, which are those that were shown, and each attempt is kept.
func TestCallbackIsSentAgainAsBefore(t *testing.T) {
	w := newFixture(t)
	id := w.asked("r1", "http://127.0.0.1:1/hook?of=shop")
	shown := w.callback(id)
	w.Config.Environments[0].Vague = true
	w.Apply()
	c := w.leaseCallbacks(1)[0]
	if string(c.Body) != string(shown.Body) || len(c.Body) == 0 {
		t.Errorf("%s is sent, and %s was shown", c.Body, shown.Body)
	}
	if _, err := w.ResendCallback(t.Context(), w.Sandbox.Tenant, id); !errors.Is(err, ledger.ErrBeingSent) {
		t.Errorf("sending it again while it is being sent: %v", err)
	}
	refused := ledger.AttemptResult{
		State: ledger.EventFailed, Duration: 31 * time.Millisecond, ResponseStatus: 500, ResponseBody: []byte("no\xff"), Error: "the receiver answered 500",
	}
	w.finishCallback(&c, refused)
	again := w.resendCallback(id)
	if again.State != ledger.EventQueued || again.NextAttemptAt == nil || again.Attempts != 1 || !again.Callback {
		t.Errorf("sent again it is %+v", again)
	}
	second := w.leaseCallbacks(1)[0]
	if string(second.Body) != string(shown.Body) {
		t.Errorf("%s is sent again, and %s was sent", second.Body, shown.Body)
	}
	if kept, err := w.FinishCallback(t.Context(), &c, refused); err != nil || kept {
		t.Errorf("an attempt whose lease is over was kept: %v", err)
	}
	w.finishCallback(&second, ledger.AttemptResult{State: ledger.EventDelivered, ResponseStatus: 200})

	got := w.callback(id)
	if got.State != ledger.EventDelivered || got.DeliveredAt == nil || string(got.Body) != string(shown.Body) || got.URL != "http://127.0.0.1:1/hook?of=shop" {
		t.Errorf("it is %+v", got)
	}
	for i := range got.History {
		if got.History[i].StartedAt.IsZero() {
			t.Errorf("attempt %d began at no time", i+1)
		}
		if !got.History[i].RealStartedAt.Equal([]time.Time{c.TakenAt, second.TakenAt}[i]) {
			t.Errorf("attempt %d began in real time at %s", i+1, got.History[i].RealStartedAt)
		}
		got.History[i].StartedAt, got.History[i].RealStartedAt = time.Time{}, time.Time{}
	}
	want := []ledger.AttemptRecord{
		{Number: 1, Duration: 31 * time.Millisecond, ResponseStatus: new(500), ResponseBody: []byte("no\xff"), Error: new("the receiver answered 500")},
		{Number: 2, ResponseStatus: new(200)},
	}
	if diff := cmp.Diff(want, got.History); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
	if n := w.Count("select count(*) from endpoint_health"); n != 0 {
		t.Error("a callback says something about the endpoint of the webhook")
	}
}

// A callback that waits for the answer of its request goes on waiting.
func TestCallbackThatWasNeverSentStaysDueAtItsTime(t *testing.T) {
	w := newFixture(t)
	w.Config.Webhook = nil // which it does not need
	w.Apply()
	w.Reload()
	id := w.asked("r1", "http://127.0.0.1:1/hook")
	w.Exec("update native_callbacks set due_at = now() + interval '1 hour'")
	due := w.callback(id).NextAttemptAt
	if again := w.resendCallback(id); again.NextAttemptAt == nil || due == nil || !again.NextAttemptAt.Equal(*due) {
		t.Errorf("it is due at %v, before at %v", again.NextAttemptAt, due)
	}
}

func TestCallbacksOfOthersAreNotThere(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	foreign := other.asked("r1", "http://127.0.0.1:1/hook")
	none := w.asked("r2", "")
	for what, id := range map[string]payments.ID{"another's": foreign, "of a request without one": none, "of nothing": {1}} {
		if _, err := w.GetCallback(t.Context(), w.Sandbox.Tenant, id, newBody()); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("reading the callback %s: %v, want ErrNotFound", what, err)
		}
		if _, err := w.ResendCallback(t.Context(), w.Sandbox.Tenant, id); !errors.Is(err, ledger.ErrNotFound) {
			t.Errorf("sending the callback %s again: %v, want ErrNotFound", what, err)
		}
	}
	if n := w.Count("select count(*) from native_callbacks where body is not null or fence > 0"); n != 0 {
		t.Errorf("%d requests were touched", n)
	}
}

// The history of a callback is bounded as that of an event.
func TestHistoryOfACallbackIsBounded(t *testing.T) {
	w := newFixture(t)
	id := w.asked("r1", "http://127.0.0.1:1/hook")
	c := w.leaseCallbacks(1)[0]
	w.finishCallback(&c, acknowledged)
	w.Exec(`insert into callback_attempts (tenant, id, attempt, started_at, duration_ms)
		select tenant, id, i, started_at, duration_ms from callback_attempts, generate_series(2, 250) i`)
	w.Exec("update native_callbacks set attempts = 250")
	got := w.callback(id).History
	if len(got) != ledger.MaxHistory || got[0].Number != 151 || got[len(got)-1].Number != 250 {
		t.Errorf("%d attempts from %d to %d", len(got), got[0].Number, got[len(got)-1].Number)
	}
}

// TestListsOfEventsReadAPage lists events among 60,000 transactions of 53 tenants, a quarter of them with a callback.
func TestListsOfEventsReadAPage(t *testing.T) {
	w := newFixture(t)
	large, small := w.crowd(60_000)
	w.Exec(`insert into events (tenant, id, state, due_at, created_at)
		select tenant, id, case when n % 1000 = 0 then 'queued' when n % 1000 = 1 then 'failed' else 'delivered' end::event_state,
		  case when n % 1000 = 0 then now() end, created_at
		from (select t.*, row_number() over (partition by tenant order by id) as n from transactions t where status <> 'PENDING') t`)
	w.Exec(`insert into native_callbacks (tenant, id, transaction_id, kind, url, state, due_at)
		select tenant, id, id, '', 'http://127.0.0.1:1/',
		  case when n % 2000 = 0 then 'queued' when n % 2000 = 4 then 'failed' else 'delivered' end::event_state,
		  case when n % 2000 = 0 then now() end
		from (select t.*, row_number() over (partition by tenant order by id) as n from transactions t where status <> 'PENDING') t where n % 4 = 0`)
	w.Exec("vacuum analyze events")
	w.Exec("vacuum analyze native_callbacks")
	const limit = 21
	// Of both kinds a page may be read, each row with its transaction; of events the last attempt too.
	const most = 2 * (limit + 1) * 2
	for name, c := range map[string]struct {
		filter ledger.EventFilter
		after  *payments.EventID
		before *payments.EventID
	}{
		"all":             {},
		"a later page":    {after: &payments.EventID{ID: payments.ID{13: 1}, Callback: true}},
		"an earlier page": {before: &payments.EventID{ID: payments.ID{13: 1}}},
		"failed before":   {ledger.EventFilter{State: ledger.EventFailed}, nil, &payments.EventID{ID: payments.ID{14: 1}}},
		"callbacks":       {filter: ledger.EventFilter{Callback: new(true)}},
		"no callbacks":    {filter: ledger.EventFilter{Callback: new(false)}},
		"delivered":       {filter: ledger.EventFilter{State: ledger.EventDelivered}},
		"failed":          {filter: ledger.EventFilter{State: ledger.EventFailed}},
		"queued":          {filter: ledger.EventFilter{State: ledger.EventQueued}},
		"one transaction": {filter: ledger.EventFilter{Transaction: &payments.ID{15: 30}}},
	} {
		for tenant, what := range map[int64]string{large: "a large tenant", small: "a small tenant", 4711: "a tenant without events"} {
			for _, generic := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, generic %t", name, what, generic), func(t *testing.T) {
					sql, args := ledger.EventsStatement(tenant, c.filter, c.after, c.before, limit)
					var read float64
					var scans []string
					w.explain(tenant, generic, sql, args).each(func(p plan) {
						if p.Relation == "" {
							return
						}
						read += (p.Rows + p.Removed + p.RemovedIndex) * p.Loops
						scans = append(scans, fmt.Sprintf("%s of %s by %s: %g x %g", p.NodeType, p.Relation, p.Index, p.Rows+p.Removed, p.Loops))
						if !strings.Contains(p.IndexCond, "tenant = ") {
							t.Errorf("it is a %s of %s by %q", p.NodeType, p.Relation, p.IndexCond)
						}
					})
					if read > most || len(scans) == 0 {
						t.Errorf("%g rows are read for a page of %d, at most %d are to be: %s", read, limit, most, strings.Join(scans, "; "))
					}
				})
			}
		}
	}
}

// The message of a phone and a callback may say what the request said, for example a receipt that was told before.
func TestPhonesAndCallbacksKnowTheRequest(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 1000)
	n := w.Collection("r1", payments.Pending, alice)
	n.RequestHash = ledger.NativeHash("requesttopay")
	n.AnswerAfter = time.Minute
	n.Optional.Native = &ledger.NativeRequest{
		Operation: "requesttopay", Sent: json.RawMessage(`{"receipt": 1}`), Callbacks: calls("http://127.0.0.1:1/hook"),
	}
	w.answer(alice, w.Create(n).ID, payments.AnswerApprove)
	clients, err := w.ListTestClients(t.Context(), w.Sandbox.Tenant, ledger.TestClientFilter{}, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	handsets, err := w.Handsets(t.Context(), w.Sandbox.Tenant, clients)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for i := range handsets {
		if last := handsets[i].Last; last != nil {
			shown = append(shown, last.Reference+" "+string(last.NativeSent))
		}
	}
	same := cmp.Diff([]string{`r1 {"receipt": 1}`}, shown)
	if sent := string(w.leaseCallbacks(1)[0].Transaction.NativeSent); same != "" || sent != `{"receipt": 1}` {
		t.Errorf("a phone knows (-want +got):\n%s\nand a callback %q", same, sent)
	}
}
