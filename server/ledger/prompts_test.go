package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const bob = "+250788000002"

// answer answers a prompt, and fails if it cannot be answered.
func (w *fixture) answer(msisdn string, id payments.ID, answer payments.Answer) *payments.Transaction {
	w.T.Helper()
	t, replayed, err := w.AnswerPrompt(w.T.Context(), w.Sandbox.Tenant, msisdn, id, answer)
	if err != nil || replayed {
		w.T.Fatalf("%v, replayed: %v", err, replayed)
	}
	return t
}

// The payer's answer is what is asked for, whatever the behavior; the rest is as in any settlement.
func TestAnswerByHand(t *testing.T) {
	type change = func(*sandboxes.TestClientConfig)
	cases := map[string]struct {
		behavior payments.Behavior
		answer   payments.Answer
		then     change // what became of the SIM since the payment was made; nil: nothing
		status   payments.Status
		left     int64 // of 1000
	}{
		"Manual approves":                    {payments.Manual, payments.AnswerApprove, nil, payments.Success, 0},
		"Manual cancels":                     {payments.Manual, payments.AnswerCancel, nil, payments.UserCancelled, 1000},
		"Manual types a wrong PIN":           {payments.Manual, payments.AnswerWrongPIN, nil, payments.PINInvalid, 1000},
		"Ignore approves after all":          {payments.Ignore, payments.AnswerApprove, nil, payments.Success, 0},
		"Approve cancels before it is asked": {payments.Approve, payments.AnswerCancel, nil, payments.UserCancelled, 1000},
		"Cancel approves":                    {payments.Cancel, payments.AnswerApprove, nil, payments.Success, 0},
		"blocked by then":                    {payments.Manual, payments.AnswerApprove, blocked, payments.AccountBlocked, 1000},
		"blocked by then, cancels":           {payments.Manual, payments.AnswerCancel, blocked, payments.AccountBlocked, 1000},
		"poor by then": {
			payments.Manual,
			payments.AnswerApprove,
			func(c *sandboxes.TestClientConfig) { c.Balance = 999 },
			payments.InsufficientFunds,
			999,
		},
		"poor by then, types a wrong PIN": {
			payments.Manual,
			payments.AnswerWrongPIN,
			func(c *sandboxes.TestClientConfig) { c.Balance = 999 },
			payments.PINInvalid,
			999,
		},
		"of another currency by then": {
			payments.Manual,
			payments.AnswerApprove,
			func(c *sandboxes.TestClientConfig) { c.Country = payments.Benin },
			payments.UnknownMSISDN,
			1000,
		},
	}
	w := newFixture(t)
	numbers, made := map[string]string{}, map[string]*payments.Transaction{}
	for name, c := range cases {
		numbers[name] = fmt.Sprintf("+2507880%05d", len(numbers))
		w.Client(name, numbers[name], 1000, behaves(c.behavior))
		n := w.Collection(name, payments.Pending, numbers[name])
		n.AnswerAfter = time.Minute
		made[name] = w.Create(n)
		if c.then != nil {
			w.Client(name, numbers[name], 1000, behaves(c.behavior), c.then)
		}
	}
	for name, c := range cases {
		got := w.answer(numbers[name], made[name].ID, c.answer)
		if got.Status != c.status || got.CompletedAt == nil {
			t.Errorf("%s: it is %s, completed at %v, want %s", name, got.Status, got.CompletedAt, c.status)
		}
		if diff := cmp.Diff(w.Get(made[name].ID), got); diff != "" {
			t.Errorf("%s (-read +answered):\n%s", name, diff)
		}
		if left := w.Balance(numbers[name]); left != c.left {
			t.Errorf("%s: the SIM has %d, want %d", name, left, c.left)
		}
	}
	if got := w.Count("select count(*) from events where state = 'queued' and due_at <= now()"); got != len(cases) {
		t.Errorf("%d events are due, want %d", got, len(cases))
	}
	if got := w.Settle(); got.Claimed != 0 {
		t.Errorf("%d were still due", got.Claimed)
	}
	w.Conserved()
}

// A prompt that waits for its expiry is answered too, as most are.
func TestAnswerOfAParkedPrompt(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000, behaves(payments.Manual))
	made := w.Pending("r1", alice)
	if got := w.Settle(); got.Parked != 1 {
		t.Fatalf("it was not parked: %+v", got)
	}
	if got := w.answer(alice, made.ID, payments.AnswerApprove); got.Status != payments.Success {
		t.Errorf("it is %s", got.Status)
	}
	w.Conserved()
}

func TestAnswersThatComeTooLate(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000, behaves(payments.Manual))
	made := w.Pending("r1", alice)
	w.answer(alice, made.ID, payments.AnswerApprove)
	again, replayed, err := w.AnswerPrompt(t.Context(), w.Sandbox.Tenant, alice, made.ID, payments.AnswerApprove)
	if err != nil || !replayed || again.Status != payments.Success {
		t.Errorf("the same again: %+v, replayed %v, %v", again, replayed, err)
	}
	for _, other := range []payments.Answer{payments.AnswerCancel, payments.AnswerWrongPIN} {
		_, _, err := w.AnswerPrompt(t.Context(), w.Sandbox.Tenant, alice, made.ID, other)
		if closed := new(ledger.ErrPromptClosed); !errors.As(err, &closed) || closed.Transaction.Status != payments.Success {
			t.Errorf("%s after it was approved: %v", other, err)
		}
	}
	if got := w.Balance(alice); got != 4000 {
		t.Errorf("the SIM has %d", got)
	}
	w.Conserved()
}

func TestAnswerOfAnExpiredPromptEndsIt(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000, behaves(payments.Manual))
	made := w.Pending("r1", alice)
	w.Exec("update transactions set due_at = now(), expires_at = now()")
	_, _, err := w.AnswerPrompt(t.Context(), w.Sandbox.Tenant, alice, made.ID, payments.AnswerApprove)
	if closed := new(ledger.ErrPromptClosed); !errors.As(err, &closed) || closed.Transaction.Status != payments.Timeout {
		t.Errorf("got %v", err)
	}
	if got := w.Get(made.ID); got.Status != payments.Timeout || w.Balance(alice) != 5000 {
		t.Errorf("it is %s, and the SIM has %d", got.Status, w.Balance(alice))
	}
	w.Conserved()
}

func TestWhatIsNoPrompt(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	const stranger = "+2250799000001"
	for _, w := range []*fixture{w, other} {
		w.Client("alice", alice, 5000, behaves(payments.Manual))
		w.Client("bob", bob, 5000)
	}
	cases := map[string]struct {
		msisdn string
		id     payments.ID
	}{
		"of nobody":               {alice, ledgertest.NewID(t)},
		"of another SIM":          {alice, w.Pending("r1", bob).ID},
		"of another sandbox":      {alice, other.Pending("r2", alice).ID},
		"of an unknown number":    {"+250788000009", w.Pending("r3", alice).ID},
		"for an operator":         {stranger, w.Create(w.Collection("r4", payments.Pending, stranger)).ID},
		"of a forced success":     {alice, w.Create(w.Collection("r5", payments.Success, alice)).ID},
		"of a forced failure":     {alice, w.Create(w.Collection("r6", payments.Timeout, alice)).ID},
		"of a disbursement":       {alice, w.Disburse(w.Disbursement("r7", payments.Success, alice, 10)).ID},
		"of a SIM that was there": {alice, w.Pending("r8", alice).ID},
	}
	w.Exec("update transactions set sim_id = gen_random_uuid() where reference = 'r8'")
	before := w.Written()
	for name, c := range cases {
		if _, _, err := w.AnswerPrompt(
			t.Context(),
			w.Sandbox.Tenant,
			c.msisdn,
			c.id,
			payments.AnswerApprove,
		); !errors.Is(
			err,
			ledger.ErrNotFound,
		) {
			t.Errorf("%s: got %v, want ErrNotFound", name, err)
		}
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

func TestNothingIsAnsweredInASuspendedSandbox(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000, behaves(payments.Manual))
	made := w.Pending("r1", alice)
	paid := w.Create(w.Collection("r2", payments.Success, alice))
	w.Config.Suspended = true
	w.Apply()
	if _, _, err := w.AnswerPrompt(
		t.Context(),
		w.Sandbox.Tenant,
		alice,
		made.ID,
		payments.AnswerApprove,
	); !errors.Is(
		err,
		postgres.ErrConfigChanged,
	) {
		t.Errorf("an answer returns %v, want ErrConfigChanged", err)
	}
	if _, _, err := w.CreateRefund(t.Context(), w.Sandbox.Tenant, w.Refund(paid.ID, "f1", 1)); !errors.Is(err, postgres.ErrConfigChanged) {
		t.Errorf("a refund returns %v, want ErrConfigChanged", err)
	}
	if got := w.Get(made.ID).Status; got != payments.Pending {
		t.Errorf("it is %s", got)
	}
	w.Conserved()
}

func TestPromptsAreListed(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5000, behaves(payments.Manual))
	w.Client("bob", bob, 5000)
	var made []ledger.Prompt
	for i := range 5 {
		n := w.Collection(fmt.Sprint("r", i), payments.Pending, alice)
		n.Transaction.Commission, n.Transaction.NetAmount, n.Transaction.Description = 15, 1000, new(fmt.Sprint(i))
		c := w.Create(n)
		made = append(made, ledger.Prompt{
			ID: c.ID, Amount: 1000, CustomerTotal: 1015, Currency: "RWF", Store: "shop", Reference: c.Reference, Description: c.Description,
			CreatedAt: c.CreatedAt, ExpiresAt: c.CreatedAt.Add(time.Hour),
		})
	}
	w.Pending("bob's", bob)
	w.beside("other").Client("alice", alice, 5000)
	w.Settle() // all of alice's are parked
	w.answer(alice, made[3].ID, payments.AnswerCancel)
	open := append(made[:3:3], made[4])
	list := func(after *payments.ID, limit int) []ledger.Prompt {
		got, err := w.ListPrompts(t.Context(), w.Sandbox.Tenant, alice, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if diff := cmp.Diff(open, list(nil, 10)); diff != "" {
		t.Errorf("oldest first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(open[1:3], list(&open[0].ID, 2)); diff != "" {
		t.Errorf("a page (-want +got):\n%s", diff)
	}
	if _, err := w.ListPrompts(t.Context(), w.Sandbox.Tenant, "+250788000009", nil, 10); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("of an unknown number: %v", err)
	}
	client, err := w.FindTestClient(t.Context(), w.Sandbox.Tenant, alice)
	if err != nil || client.Prompts != 4 {
		t.Errorf("got %+v, %v, want 4 prompts", client, err)
	}
}

func TestTestClientsAreListed(t *testing.T) {
	w := newFixture(t)
	w.Client("carol", "+250788000003", 3, blocked)
	w.Client("alice", alice, 5000, behaves(payments.Manual))
	w.Client("bob", "+2250700000001", 2, behaves(payments.Cancel), func(c *sandboxes.TestClientConfig) {
		c.Operator, c.Country = payments.Orange, payments.CoteDIvoire
	})
	w.beside("other").Client("dave", "+250788000004", 4)
	w.Pending("r1", alice)
	w.Pending("r2", alice)
	list := func(f ledger.TestClientFilter, after string, limit int) (names []string) {
		t.Helper()
		got, err := w.ListTestClients(t.Context(), w.Sandbox.Tenant, f, after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range got {
			names = append(
				names,
				fmt.Sprintf(
					"%s %s %s %s %s %t %s %d %d",
					c.Name,
					c.MSISDN,
					c.Operator,
					c.Country,
					c.Currency(),
					c.Blocked,
					c.Behavior,
					c.Balance,
					c.Prompts,
				),
			)
		}
		return names
	}
	const (
		bobs   = "bob +2250700000001 orange CI XOF false Cancel 2 0"
		alices = "alice +250788000001 mtn RW RWF false Manual 5000 2"
		carols = "carol +250788000003 mtn RW RWF true Approve 3 0"
	)
	yes, no := true, false
	for name, c := range map[string]struct {
		got, want []string
	}{
		"all":         {list(ledger.TestClientFilter{}, "", 10), []string{bobs, alices, carols}},
		"a page":      {list(ledger.TestClientFilter{}, "", 2), []string{bobs, alices}},
		"the next":    {list(ledger.TestClientFilter{}, alice, 2), []string{carols}},
		"an operator": {list(ledger.TestClientFilter{Operator: payments.Orange}, "", 10), []string{bobs}},
		"a country":   {list(ledger.TestClientFilter{Country: payments.Rwanda}, "", 10), []string{alices, carols}},
		"blocked":     {list(ledger.TestClientFilter{Blocked: &yes}, "", 10), []string{carols}},
		"active":      {list(ledger.TestClientFilter{Blocked: &no}, "", 1), []string{bobs}},
		"nothing":     {list(ledger.TestClientFilter{Country: payments.Togo}, "", 10), nil},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if _, err := w.FindTestClient(t.Context(), w.Sandbox.Tenant, "+250788000004"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("another sandbox's: %v", err)
	}
}

// Workers that settle or expire prompts and callers who answer them differently race: each prompt has one outcome and one event.
func TestPromptsHaveOneOutcome(t *testing.T) {
	w := newFixture(t)
	behaviors := []payments.Behavior{payments.Approve, payments.Manual, payments.Cancel}
	const each = 24
	var prompts []*payments.Transaction
	for i, behavior := range behaviors {
		msisdn := fmt.Sprint("+25078800010", i)
		w.Client(string(behavior), msisdn, 1000*each/2, behaves(behavior))
		for n := range each {
			prompts = append(prompts, w.Pending(fmt.Sprint(behavior, n), msisdn))
		}
	}
	w.Exec("update transactions set expires_at = due_at where reference like '%3'") // some expire in this moment
	many := w.Opened(ledgertest.Options{Options: postgres.Options{MaxConns: 12}})
	answered := make([]map[payments.Status]int, len(prompts))
	var running sync.WaitGroup
	start := make(chan struct{})
	var mu sync.Mutex
	for i, p := range prompts {
		answered[i] = map[payments.Status]int{}
		for _, answer := range append(payments.Answers, payments.AnswerApprove) {
			running.Go(func() {
				<-start
				got, replayed, err := many.AnswerPrompt(context.Background(), w.Sandbox.Tenant, p.MSISDN, p.ID, answer)
				closed := new(ledger.ErrPromptClosed)
				switch {
				case errors.As(err, &closed):
					got = closed.Transaction
				case err != nil:
					t.Error(err) // a deadlock too
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if answered[i][got.Status] += 0; err == nil && !replayed {
					answered[i][got.Status]++
				}
			})
		}
	}
	for range 3 {
		running.Go(func() {
			<-start
			for range 10 {
				if _, err := ledgertest.SettleDue(context.Background(), many, 9); err != nil {
					t.Error(err)
				}
			}
		})
	}
	close(start)
	running.Wait()
	byHand := 0
	for i, p := range prompts {
		got := w.Get(p.ID).Status
		if len(answered[i]) != 1 || answered[i][got] > 1 {
			t.Errorf("%s is %s, and callers were told %v", p.Reference, got, answered[i])
		}
		byHand += answered[i][got]
	}
	t.Logf("%d of %d prompts were answered by hand first", byHand, len(prompts))
	if got := w.Count("select count(*) from events"); got != len(prompts) {
		t.Errorf("there are %d events of %d prompts", got, len(prompts))
	}
	w.Conserved()
}

// The holder answers by hand for a time, which a change of the resource leaves alone, and which neither outlives its end
// nor a reset.
func TestManualForATime(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 1000, behaves(payments.Approve))
	manual := func() bool {
		t.Helper()
		c, err := w.FindTestClient(t.Context(), w.Sandbox.Tenant, alice)
		if err != nil || c.Behavior != payments.Approve {
			t.Fatalf("%+v, %v", c, err)
		}
		return c.ManualUntil != nil
	}
	if _, err := w.SetManual(t.Context(), w.Sandbox, alice, true); err != nil || !manual() {
		t.Fatalf("it is not so: %v", err)
	}
	w.Client("alice", alice, 1000, behaves(payments.Approve), func(c *sandboxes.TestClientConfig) { c.Balance = 900 })
	if !manual() {
		t.Error("a change of the resource ends it")
	}
	waits := w.Create(w.Collection("waits", payments.Pending, alice))
	w.Settle()
	if got := w.Get(waits.ID); got.Status != payments.Pending {
		t.Errorf("nobody answered, and the payment is %s", got.Status)
	}
	w.Exec("update sims set manual_until = now()")
	if manual() {
		t.Error("it has no end")
	}
	after := w.Create(w.Collection("after", payments.Pending, alice))
	w.Settle()
	if got := w.Get(after.ID); got.Status == payments.Pending {
		t.Error("the behavior does not decide after the end")
	}
	if got := w.Get(waits.ID); got.Status != payments.Pending {
		t.Errorf("the prompt that waited is %s", got.Status)
	}
	if _, err := w.SetManual(t.Context(), w.Sandbox, alice, false); err != nil {
		t.Fatal(err)
	}
	if _, err := w.SetManual(t.Context(), w.Sandbox, bob, true); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an unknown number: %v", err)
	}
}
