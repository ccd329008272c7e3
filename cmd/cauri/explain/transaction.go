package explain

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

func (e *explaining) transaction(ctx context.Context, id string) error {
	t, err := e.API.Payment(ctx, id)
	if sandboxapi.IsNotFound(err) {
		return e.noTransaction(ctx, id)
	}
	if err != nil {
		return err
	}
	return e.ofTransaction(ctx, &t)
}

func (e *explaining) noTransaction(ctx context.Context, id string) error {
	found, err := e.API.Payments(ctx, nil, 5)
	if err != nil {
		return err
	}
	missing := &NotFoundError{ID: id, Kind: "transaction"}
	for i := range found {
		missing.Has = append(missing.Has, found[i].ID)
	}
	return missing
}

// ofTransaction explains a transaction, with its requests, its events, its refunds and its order.
func (e *explaining) ofTransaction(ctx context.Context, t *wire.Payment) (err error) {
	e.Kind = Transaction
	if e.clock, err = e.readClock(ctx); err != nil {
		return err
	}
	e.tell(t.CreatedAt, "request", t.ID, "%s of %s by %s in %s for %s, reference %s, order %s", noun(t.Type), money(t.Amount, t.Currency), t.Operator,
		t.Country, t.MSISDN, word(t.Reference), word(t.OrderRef))
	e.quote(value(t.Description))
	for _, effect := range t.Effects {
		e.tell(t.CreatedAt, "fault", "", "A fault of the sandbox acted: %s", effect)
	}
	if err := e.refusedWith(ctx, t.Reference, t.ID); err != nil {
		return err
	}
	if t.CompletedAt != nil {
		e.tell(*t.CompletedAt, "settlement", t.ID, "It ended %s", t.Status)
	}
	delivery, err := e.eventsOf(ctx, t)
	if err != nil {
		return err
	}
	e.Summary = fmt.Sprintf("The %s of %s ended %s", strings.ToLower(noun(t.Type)), money(t.Amount, t.Currency), t.Status)
	switch {
	case t.Status == string(payments.Pending):
		e.Summary = fmt.Sprintf("The %s of %s is PENDING", strings.ToLower(noun(t.Type)), money(t.Amount, t.Currency))
		if err := e.whyPending(ctx, t); err != nil {
			return err
		}
	case t.Status != string(payments.Success):
		if err := e.whyFailed(ctx, t); err != nil {
			return err
		}
	}
	if err := e.orderOf(ctx, t); err != nil {
		return err
	}
	if e.late != nil {
		e.blame(OfRequest(e.late))
	}
	e.summarize(delivery)
	return nil
}

// summarize ends the summary with the first cause, or else with how the delivery of the event is.
func (e *explaining) summarize(delivery string) {
	if len(e.found) > 0 {
		what, _ := e.found[0].Sentences()
		e.Summary += ". " + what
		return
	}
	e.Summary += cmp.Or(delivery, "") + "."
}

func noun(kind string) string {
	switch payments.Type(kind) {
	case payments.Refund:
		return "Refund"
	case payments.Disbursement:
		return "Payout"
	}
	return "Payment"
}

func money(amount int64, currency string) string { return fmt.Sprintf("%d %s", amount, currency) }

// readClock returns the clock of the sandbox; nil: the service has none.
func (e *explaining) readClock(ctx context.Context) (*wire.Clock, error) {
	clock, err := e.API.Clock(ctx)
	if sandboxapi.IsNotFound(err) {
		return nil, nil
	}
	return &clock, err
}

// late is how long something may be due before the worker is blamed.
const late = 30 * time.Second

// waits returns the cause of something that is due at a time and has not happened: the clock stands, or no worker has done it. It returns
// false if it is just not due yet.
func (e *explaining) waits(due time.Time) (advice.Advice, bool) {
	if e.clock == nil || due.IsZero() {
		return advice.Advice{}, false
	}
	now := moment(e.clock.Now)
	switch {
	case e.clock.Mode == "Manual" && due.After(now):
		a := advice.Of(advice.ClockStands, e.clock.Now)
		a.Steps = []advice.Step{{
			Purpose: "Advance the clock to where something is due", Command: "clock", Rest: "advance --next", Tool: "advance_clock",
			Arguments: map[string]any{"next": true},
		}}
		return a, true
	case now.Sub(due) > late:
		a := advice.Of(advice.WorkerBehind, payments.FormatTime(due))
		a.Steps = []advice.Step{{Purpose: "Look at the installation", Command: "check"}}
		return a, true
	}
	return advice.Advice{}, false
}

// whyPending says for whom a pending transaction waits.
func (e *explaining) whyPending(ctx context.Context, t *wire.Payment) error {
	if payments.Type(t.Type) == payments.Collection {
		prompts, err := e.API.Prompts(ctx, t.MSISDN, mostRows)
		if err != nil && !sandboxapi.IsNotFound(err) {
			return err
		}
		if i := slices.IndexFunc(prompts, func(p wire.Prompt) bool { return p.ID == t.ID }); i >= 0 {
			return e.promptOf(ctx, t, &prompts[i])
		}
	}
	due := moment(t.CreatedAt).Add(time.Duration(t.LatencyMs) * time.Millisecond)
	if a, is := e.waits(due); is {
		e.blame(a)
		return nil
	}
	e.tell("", "wait", t.ID, "The operator works on it")
	e.blame(advice.Of(advice.WaitsForOperator))
	return nil
}

// promptOf says that the payer is asked.
func (e *explaining) promptOf(ctx context.Context, t *wire.Payment, p *wire.Prompt) error {
	payer, err := e.API.Payer(ctx, t.MSISDN)
	if err != nil && !sandboxapi.IsNotFound(err) {
		return err
	}
	e.tell(p.CreatedAt, "prompt", t.ID, "%s is asked to confirm %s; its behavior is %s", t.MSISDN, money(p.CustomerTotal, p.Currency),
		cmp.Or(payer.Behavior, "that of a test number"))
	e.tell(p.ExpiresAt, "wait", t.ID, "Without an answer it ends TIMEOUT")
	waits := advice.Of(advice.WaitsForPayer, p.ExpiresAt)
	for _, answer := range []string{"approve", "cancel"} {
		waits.Steps = append(waits.Steps, advice.Step{
			Purpose: fmt.Sprintf("This answers in the place of the payer: %s", answer), Command: answer, Rest: t.ID, Tool: "answer_payer",
			Arguments: map[string]any{"transaction": t.ID, "answer": answer},
		})
	}
	if payer.Behavior == "Approve" || payer.Behavior == "" { // it answers by itself
		if a, is := e.waits(moment(p.CreatedAt).Add(time.Duration(t.LatencyMs) * time.Millisecond)); is {
			e.blame(a)
		}
	}
	e.blame(waits)
	return nil
}

// outcomeOf returns how a transaction ended without success, as far as it tells by itself.
func outcomeOf(t *wire.Payment) advice.Outcome {
	o := advice.Outcome{
		Status: payments.Status(t.Status), Type: payments.Type(t.Type), Scenario: value(t.Scenario), Amount: money(t.CustomerTotal, t.Currency),
	}
	if o.Type != payments.Collection {
		o.Amount = money(t.Amount, t.Currency)
	}
	if limit := payments.Facts(payments.Operator(t.Operator), payments.Country(t.Country)).MaxAmount; limit > 0 && t.Amount > limit {
		o.Limit = money(limit, t.Currency)
	}
	if w := operators.CheckLength(nil, t.MSISDN); w != nil {
		o.Length = w.String() + "."
	}
	return o
}

// OfPayment returns why a transaction ended without success, as far as it tells by itself.
func OfPayment(t *wire.Payment) advice.Advice {
	o := outcomeOf(t)
	return advice.OfOutcome(&o)
}

// whyFailed says why a transaction ended without success.
func (e *explaining) whyFailed(ctx context.Context, t *wire.Payment) error {
	o := outcomeOf(t)
	payer, err := e.API.Payer(ctx, t.MSISDN)
	switch {
	case err == nil && (payer.Operator != t.Operator || payer.Country != t.Country):
		o.Of = payer.Operator + " in " + payer.Country
	case err != nil && !sandboxapi.IsNotFound(err):
		return err
	}
	a := advice.OfOutcome(&o)
	changes := err == nil && payer.Source == "api"
	switch {
	case o.Scenario != "":
	case o.Status == payments.UnknownMSISDN:
		a.Steps = []advice.Step{whoCanPay}
	case o.Status == payments.InsufficientFunds && o.Type == payments.Collection && changes:
		a.Steps = []advice.Step{saving("Give the test client a higher balance", t.MSISDN, "balance", 10*t.CustomerTotal)}
	case o.Status == payments.AccountBlocked && changes:
		a.Steps = []advice.Step{saving("Let the number pay again", t.MSISDN, "state", wire.StateActive)}
	}
	e.blame(a)
	return nil
}

// saving returns the step that changes a test client.
func saving(purpose, msisdn, field string, value any) advice.Step {
	return advice.Step{
		Purpose: purpose, Command: "clients", Rest: fmt.Sprintf("change %s --%s=%v", msisdn, field, value), Tool: "save_test_client",
		Arguments: map[string]any{"msisdn": msisdn, field: value},
	}
}

var whoCanPay = advice.Step{Purpose: "This lists who can pay", Command: "payers", Tool: "list_payers", Arguments: map[string]any{}}

// orderOf reads the other transactions of the order: refunds, and payments that are too many.
func (e *explaining) orderOf(ctx context.Context, t *wire.Payment) error {
	others, err := e.API.Payments(ctx, url.Values{"order_ref": {t.OrderRef}}, mostRows)
	if err != nil {
		return err
	}
	for i := range others {
		if o := &others[i]; o.ID != t.ID && value(o.ParentTxID) == t.ID {
			e.tell(o.CreatedAt, "refund", o.ID, "A refund of %s, %s", money(o.Amount, o.Currency), o.Status)
		}
	}
	e.paidTwice(others)
	return nil
}

// paidTwice blames an order that is paid more than once. Payments that were refunded wholly do not count.
func (e *explaining) paidTwice(all []wire.Payment) {
	var paid []string
	for i := range all {
		p := &all[i]
		whole := p.RefundableAmount != nil && *p.RefundableAmount == 0
		if p.Type == string(payments.Collection) && p.Status == string(payments.Success) && !whole {
			paid = append(paid, p.ID)
		}
	}
	if len(paid) < 2 {
		return
	}
	a := advice.Of(advice.PaidTwice, len(paid))
	a.Steps = []advice.Step{{
		Purpose: "Refund the last one", Command: "refund", Rest: paid[0], Tool: "refund_payment", Arguments: map[string]any{"transaction": paid[0]},
	}}
	e.blame(a)
}
