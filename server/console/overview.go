package console

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/console/locale"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledger/lists"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

const (
	// overviewFeed is the maximum number of rows of the feed.
	overviewFeed = 10
	// overviewAttempts is the maximum number of attempts in the chart of the receiver.
	overviewAttempts = 48
	// overviewFloats is the maximum number of floats of a sandbox: one for each currency.
	overviewFloats = 4
)

// overview is the state of a sandbox in short.
type overview struct {
	health    ledger.Health
	callbacks []callbackProblem
	called    bool // whether the sandbox has had callbacks; read only without a webhook
	floats    []proof.AccountProof
	balanced  bool
	attempts  []ledger.NewestAttempt // oldest first
	faults    faults.Set
	acts      []ledger.FaultActs
	refusal   paymentRefusal
	feed      []feedRow
}

// feedRow is a row of the feed: a transaction, or an attempt to deliver an event.
type feedRow struct {
	at          time.Time
	transaction *payments.Transaction // nil: it is an event
	event       *ledger.Event
	callbackOf  payments.Operator // operator of a callback; empty: no callback, or its transaction is not in the feed
	who         string            // name of the SIM, or its number
}

func (c *Console) overview(v *visit) (page, error) {
	o, err := c.readOverview(v)
	return page{
		title: v.Text("Overview"), body: overviewPage(v, o),
		live: []string{"lead", "health", "balances", "feed", "clock-face", "receiver", "faults"},
	}, err
}

func (c *Console) readOverview(v *visit) (o *overview, err error) {
	ctx, sandbox := v.ctx(), v.who.Sandbox
	o = &overview{faults: v.faults()}
	if o.health, err = c.Ledger.Health(ctx, sandbox.Tenant); err != nil {
		return o, err
	}
	if o.floats, o.balanced, err = c.Books.ListAccounts(ctx, sandbox.Tenant, proof.Account{}, overviewFloats); err != nil {
		return o, err
	}
	if o.callbacks, err = c.readCallbacks(v, o.health.Callbacks); err != nil {
		return o, err
	}
	if o.health.WebhookURL == "" {
		callback, err := c.Ledger.ListEvents(ctx, sandbox.Tenant, ledger.EventFilter{Callback: new(true)}, nil, 1)
		if err != nil {
			return o, err
		}
		o.called = len(callback) > 0
	}
	o.floats = slices.DeleteFunc(o.floats, func(a proof.AccountProof) bool { return a.MSISDN != "" })
	v.ownFirst(o.floats)
	if o.attempts, err = c.Ledger.NewestAttempts(ctx, sandbox.Tenant, overviewAttempts); err != nil {
		return o, err
	}
	slices.Reverse(o.attempts)
	if o.acts, err = c.Ledger.FaultActs(ctx, sandbox.Tenant, o.faults); err != nil {
		return o, err
	}
	if o.refusal, err = c.readRefusal(v, o); err != nil {
		return o, err
	}
	o.feed, err = c.readFeed(v)
	return o, err
}

// readFeed returns the rows of the feed, newest first.
func (c *Console) readFeed(v *visit) ([]feedRow, error) {
	ctx, tenant := v.ctx(), v.who.Sandbox.Tenant
	transactions, err := c.Ledger.ListTransactions(ctx, tenant, lists.Filter{}, nil, overviewFeed)
	if err != nil {
		return nil, err
	}
	events, err := c.Ledger.ListEvents(ctx, tenant, ledger.EventFilter{}, nil, overviewFeed)
	if err != nil {
		return nil, err
	}
	var rows []feedRow
	var ids []payments.ID
	operatorOf := map[payments.ID]payments.Operator{}
	for _, t := range transactions {
		operatorOf[t.ID] = t.Operator
		at := t.CreatedAt
		if t.CompletedAt != nil {
			at = *t.CompletedAt
		}
		rows, ids = append(rows, feedRow{at: at, transaction: t}), append(ids, t.ID)
	}
	for i := range events {
		if e := &events[i]; e.Attempts > 0 || e.State == ledger.EventQueued {
			row := feedRow{at: e.CreatedAt, event: e}
			if e.Callback {
				row.callbackOf = operatorOf[e.ID]
			}
			rows = append(rows, row)
		}
	}
	names, err := c.Ledger.PartyNames(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if t := rows[i].transaction; t != nil {
			rows[i].who = cmp.Or(names[t.ID], locale.Phone(t.MSISDN))
		}
	}
	slices.SortStableFunc(rows, func(a, b feedRow) int { return b.at.Compare(a.at) })
	return rows[:min(len(rows), overviewFeed)], nil
}

// late is how long something may be due, in sandbox time, before [overview.stands] reports it.
const late = time.Minute

// stands reports whether something has been due for so long that no worker runs, or that the workers are far behind.
func (o *overview) stands(v *visit) bool {
	return slices.ContainsFunc([]*time.Time{o.health.FirstDueAt, o.eventDueAt()}, func(at *time.Time) bool {
		return at != nil && v.clock.Now.Sub(*at) > late
	})
}

// eventDueAt returns when the first event is to be sent. It returns nil in three cases: no event is queued, all events
// wait for a probe of the receiver, or a worker is sending events. In the last case, other events wait for those to
// which the receiver answers late.
func (o *overview) eventDueAt() *time.Time {
	if o.health.ProbeAt != nil || o.health.WebhookURL == "" || o.health.Delivering {
		return nil
	}
	return o.health.EventDueAt
}

// lead returns a summary: whether the sandbox works, and if it does not, whether Cauri or the user is the cause.
func (o *overview) lead(v *visit) string {
	h := &o.health
	needs := o.needs(v)
	refused := o.refusal.says(v)
	switch {
	case !o.balanced:
		return v.Text("The ledger does not add up. This is a fault of Cauri, and not of your code.")
	case v.who.Sandbox.Suspended:
		return v.Text("This sandbox is suspended: its API answers 503, and nothing happens until it goes on.")
	case o.stands(v):
		return v.Text("What is due is late: no worker of Cauri is at work here, or the workers are behind. This is not a fault of your code.")
	case refused != "":
		return strings.Join(append([]string{refused}, needs...), " ")
	case len(needs) > 0:
		works := v.Count(int64(len(needs)), "Payments work, and one thing needs you.", "Payments work, and %s things need you.")
		return works + " " + strings.Join(needs, " ")
	case h.WebhookURL == "" && len(o.feed) > 0 && !o.called:
		return v.Text("Payments work. Nobody is told: the sandbox has no webhook.")
	case len(o.feed) == 0:
		return v.Text("Nothing has happened yet. Send a payment, and it shows here.")
	case len(o.faults) > 0:
		return v.Count(int64(len(o.faults)), "Nothing needs you. A fault on purpose is on.", "Nothing needs you. %s faults on purpose are on.")
	case h.WebhookURL == "":
		return v.Text("Payments work.")
	case !h.Acknowledged:
		return v.Text("Payments work. Whether your receiver is well is not known: it has acknowledged nothing since its URL was set or an attempt failed.")
	case !o.allProven():
		return v.Text("Payments work, and events are delivered. The ledger is not proven yet.")
	}
	return v.Text("All is well: payments work, events are delivered, and the ledger adds up.")
}

// needs returns a sentence for each problem that the user must solve.
func (o *overview) needs(v *visit) (all []string) {
	if o.health.Fails() {
		what, _ := receiverSays(v, &o.health.EndpointHealth, o.health.WebhookURL)
		all = append(all, what)
	}
	for i := range o.callbacks {
		all = append(all, o.callbacks[i].title(v))
	}
	return all
}

// allProven reports whether each float was verified.
func (o *overview) allProven() bool {
	return !slices.ContainsFunc(o.floats, func(a proof.AccountProof) bool { return a.VerifiedAt == nil })
}

// problem returns why events do not reach the receiver, and what to do.
func (o *overview) problem(v *visit) deliveryProblem {
	_, t := receiverSays(v, &o.health.EndpointHealth, o.health.WebhookURL)
	return t
}

// receiver returns the icon, the CSS class and the texts of the fact about the receiver.
func (o *overview) receiver(v *visit) (icon, class, title, text string) {
	h := &o.health
	switch {
	case h.Fails():
		text = v.waiting(h.Waiting)
		if h.Unacknowledged > 0 {
			text = unacknowledged(v, h.Unacknowledged) + ", " + text
		}
		return "st-fail", "bad", o.problem(v).title, text
	case len(o.callbacks) > 0:
		return "st-fail", "bad", v.Text("Callbacks fail"), o.callbacks[0].often(v)
	case h.WebhookURL == "":
		return "info", "quiet", v.Text("No webhook"), v.Text("Set spec.webhook.url to get events")
	case h.Delivered == 0 && h.Waiting == 0 && h.LastFailedAt == nil:
		return "info", "quiet", v.Text("No event yet"), v.Text("An event follows each outcome")
	case !h.Acknowledged:
		return "info", "quiet", v.Text("Receiver not known"), v.Text("nothing acknowledged yet") + ", " + v.waiting(h.Waiting)
	}
	return "st-ok", "ok", v.Text("Receiver answers"), v.waiting(h.Waiting)
}

// waiting returns a text with the number of waiting events.
func (v *visit) waiting(n int) string {
	switch {
	case n == 0:
		return v.Text("no event waits")
	case n >= ledger.MostCounted:
		return v.Text("more than %s events wait", v.Number(ledger.MostCounted-1))
	}
	return v.Count(int64(n), "1 event waits", "%s events wait")
}

// pending returns the number of pending payments, and when the first of them ends, as texts.
func (o *overview) pending(v *visit) (title, text string) {
	h := &o.health
	switch {
	case h.Pending == 0:
		return v.Text("Nothing pending"), v.Text("Every payment has its outcome")
	case h.Pending >= ledger.MostCounted:
		title = v.Text("More than %s payments pending", v.Number(ledger.MostCounted-1))
	default:
		title = v.Count(int64(h.Pending), "1 payment pending", "%s payments pending")
	}
	if h.FirstDueAt == nil {
		return title, v.Text("The operator has not answered yet")
	}
	return title, v.Text("The first ends %s", v.At(*h.FirstDueAt, v.clock.Now))
}

// acted returns the text of [faultText] for all faults together.
func (o *overview) acted(v *visit) string {
	var acts int64
	var last time.Time
	for _, a := range o.acts {
		acts += a.Acts
		if a.LastAt != nil && a.LastAt.After(last) {
			last = *a.LastAt
		}
	}
	return faultText(v, ledger.FaultActs{Acts: acts, LastAt: &last})
}

// faultText returns how often a fault acted, and when it last did, as a text.
func faultText(v *visit, a ledger.FaultActs) string {
	if a.Acts == 0 {
		return v.Text("Has not acted yet")
	}
	last := v.At(*a.LastAt, v.clock.Now)
	return v.Count(a.Acts, "Acted once, %s", "Acted %s times, last %s", last)
}

// host returns the receiver's URL without its scheme and its query. A query may contain a secret.
func (o *overview) host() string {
	u, err := url.Parse(o.health.WebhookURL)
	if err != nil || egress.Unclear(u) {
		return ""
	}
	return u.Host + u.Path
}

// proofText returns a text with the numbers of proven movements and of all movements of a float.
func proofText(v *visit, a *proof.AccountProof) string {
	if a.VerifiedAt == nil {
		return v.Count(a.Movements, "1 movement, not proven yet", "%s movements, not proven yet")
	}
	return v.Count(a.VerifiedUpTo, "1 of %s movements proven", "%s of %s movements proven", v.Number(a.Movements))
}

// attemptBar is a bar in the chart of the receiver. It represents one attempt.
type attemptBar struct {
	x      string
	failed bool
}

// attemptBars returns one bar for each attempt.
func (o *overview) attemptBars() []attemptBar {
	all := make([]attemptBar, len(o.attempts))
	for i := range o.attempts {
		all[i] = attemptBar{fmt.Sprint(6 * i), o.attempts[i].Error != nil}
	}
	return all
}

// beatsInWords returns the accessible name of the chart.
func (o *overview) beatsInWords(v *visit) string {
	failed := 0
	for i := range o.attempts {
		if o.attempts[i].Error != nil {
			failed++
		}
	}
	return v.Count(int64(len(o.attempts)), "1 attempt: %s acknowledged, %s failed", "The last %s attempts: %s acknowledged, %s failed",
		v.Number(int64(len(o.attempts)-failed)), v.Number(int64(failed)))
}

// ticket returns the state of the sandbox as text, for a support ticket.
func (o *overview) ticket(v *visit) string {
	h := &o.health
	lines := []string{
		v.Text("%s (%s), Cauri %s, sandbox time %s", v.name, v.namespace, v.version, v.clock.Now.Format(time.RFC3339)),
	}
	_, _, receiver, text := o.receiver(v)
	lines = append(lines, v.Text("Receiver: %s, %s", receiver, text))
	if h.LastFailedAt != nil {
		lines = append(lines, v.Text("Last failure, in real time: %s", h.LastFailedAt.UTC().Format(time.RFC3339)+" "+h.LastFailure))
	}
	if refused := o.refusal.says(v); refused != "" {
		lines = append(lines, refused)
	}
	for i := range o.callbacks {
		lines = append(lines, o.callbacks[i].title(v)+" "+o.callbacks[i].Newest.String())
	}
	balanced := v.Text("Ledger balanced")
	if !o.balanced {
		balanced = v.Text("Ledger not balanced")
	}
	title, _ := o.pending(v)
	lines = append(lines, balanced, title)
	for i := range o.faults {
		lines = append(lines, v.Text("Fault: %s. %s", v.Say(o.faults[i].Effect()), faultText(v, o.acts[i])))
	}
	return strings.Join(lines, "\n")
}

// paymentTitle returns the icon and the text for what a transaction did.
func paymentTitle(v *visit, t *payments.Transaction) (icon, text string) {
	succeeded := t.Status == payments.Success
	switch {
	case t.Status == payments.Pending:
		return "bell", v.Text("asked to pay")
	case t.Type == payments.Refund && succeeded:
		return "refund", v.Text("got a refund")
	case t.Type == payments.Refund:
		return "refund", v.Text("got no refund")
	case t.Type == payments.Disbursement && succeeded:
		return "payout", v.Text("disbursement received")
	case t.Type == payments.Disbursement:
		return "payout", v.Text("disbursement refused")
	case succeeded:
		return "collect", v.Text("paid")
	}
	return "collect", v.Text("could not pay")
}

// delivery returns the state of the delivery of an event, as an icon, a CSS class and a text.
func delivery(v *visit, e *ledger.Event) (icon, class, text string) {
	switch {
	case e.State == ledger.EventDelivered:
		return "st-ok", "ok", v.Text("Delivered")
	case e.State == ledger.EventFailed:
		return "st-fail", "bad", v.Text("Failed")
	case e.State == ledger.EventQueued && e.Attempts > 0:
		return "st-wait", "wait", v.Text("Retrying")
	case e.State == ledger.EventQueued:
		return "st-wait", "wait", v.Text("Not sent yet")
	}
	return "st-skip", "quiet", v.Text("Not sent")
}

// attempted returns a text with the number and the result of the last attempt.
func attempted(v *visit, e *ledger.Event) string {
	if e.Attempts == 0 {
		return v.Text("no attempt yet")
	}
	text := v.Text("attempt %s", v.Number(int64(e.Attempts)))
	switch {
	case e.LastError == nil:
		return text + " · " + v.Text("acknowledged")
	case e.LastStatus != nil:
		return text + " · " + fmt.Sprint(*e.LastStatus)
	}
	return text + " · " + titleOfFailure(v, *e.LastError)
}

// advanceWait is the longest wait for the end of an advance before the page is shown.
const advanceWait = 3 * time.Second

// advanceClock moves the sandbox's clock forward.
func (c *Console) advanceClock(v *visit) (httpfront.Answer, error) {
	var to clocks.AdvanceTarget
	switch by := v.form("by"); by {
	case "nextDue":
		due, err := time.Parse(time.RFC3339Nano, v.form("due"))
		if err != nil {
			return httpfront.Answer{}, errBadForm
		}
		to.NextDue, to.Shown = true, &due
	case "1h":
		to.By = new(time.Hour)
	default:
		at, err := time.Parse("2006-01-02T15:04", v.form("to"))
		if err != nil {
			return httpfront.Answer{}, errBadForm
		}
		to.To = &at
	}
	await, err := c.Service.AdvanceClock(v.ctx(), v.who, to)
	switch {
	case errors.As(err, new(clocks.ErrClockBackwards)):
		return httpfront.Answer{}, newProblem(http.StatusUnprocessableEntity, v.Text("Time only goes forward"),
			v.Text("The sandbox is past this time already. A reset sets the clock back."), "clock_backwards")
	case errors.As(err, new(clocks.ErrAdvanceTooFar)), errors.As(err, new(clocks.ErrClockEnd)):
		return httpfront.Answer{}, newProblem(http.StatusUnprocessableEntity, v.Text("This is too far"),
			v.Text("One step is at most 400 days, and clocks end with the year 2200."), "invalid_body")
	case errors.Is(err, clocks.ErrNotNextDue):
		return httpfront.Answer{}, newProblem(http.StatusConflict, v.Text("Something else is due next now"),
			v.Text("The page was older than that. The clock did not move: look at the overview, and choose again."), "conflict")
	case errors.As(err, new(clocks.ErrClockBusy)):
		return httpfront.Answer{}, newProblem(http.StatusConflict, v.Text("The clock is on its way"),
			v.Text("It is being advanced to another time. Wait until it is there."), "clock_busy")
	case err != nil:
		return httpfront.Answer{}, err
	}
	return httpfront.Answer{Await: func(ctx context.Context) (httpfront.Answer, error) {
		_, err := await(ctx, advanceWait) // the page shows whether the clock is still advancing
		return v.goTo("/overview#clock"), err
	}}, nil
}
