package mcp

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

type getStatusInput struct{}

type getStatusOutput struct {
	head
	Address     string    `json:"address"`
	Console     string    `json:"console"`
	Credentials string    `json:"credentials"` // where the shop takes them from
	Clock       clockNow  `json:"clock"`
	Balances    []balance `json:"balances"`
	Webhook     receiver  `json:"webhook"`
	Faults      []faultOn `json:"faults"` // that are on
	Open        counts    `json:"open"`
	Problems    []problem `json:"problems"` // the first one first to repair
}

type clockNow struct {
	Mode      string  `json:"mode"`
	Now       string  `json:"now"`
	NextDueAt *string `json:"nextDueAt,omitempty"`
}

func clockOf(c *wire.Clock) clockNow { return clockNow{c.Mode, c.Now, c.NextDueAt} }

type balance struct {
	Account  string `json:"account"`
	Balance  int64  `json:"balance"`
	Balanced bool   `json:"balanced"`
}

type receiver struct {
	URL            *string `json:"url,omitempty"`
	State          string  `json:"state"`
	Acknowledged   bool    `json:"acknowledged"`
	Unacknowledged int     `json:"unacknowledged"`
	Delivered      int64   `json:"delivered"`
	Failed         int64   `json:"failed"`
}

func receiverOf(w *wire.Webhook) receiver {
	return receiver{w.URL, w.State, w.Acknowledged, w.Unacknowledged, w.Delivered, w.Failed}
}

// counts are those of rows of the first page, so at most [wire.MaxLimit].
type counts struct {
	PendingPayments int `json:"pendingPayments"`
	QueuedEvents    int `json:"queuedEvents"`
	FailedEvents    int `json:"failedEvents"`
	RefusedRequests int `json:"refusedRequests"`
}

type problem struct {
	Cause   string `json:"cause"`
	Message string `json:"message"`
	Action  string `json:"action,omitempty"`
	Next    []step `json:"next"`
}

// statusFacts are what the status is made of.
type statusFacts struct {
	latest, pending []wire.Payment
	refused         []wire.LoggedRequest
	failed, queued  []wire.EventSummary
	webhook         wire.Webhook
	clock           wire.Clock
	ledger          wire.LedgerAccountList
	faults          []wire.Fault
}

// shownBalances is the maximum number of balances in the status: floats come first.
const shownBalances = 20

var getStatus = define(tool{
	name: "get_status", title: "Status of the sandbox", reads: true,
	description: "Is the sandbox well, and if not, what to look at first: its address, where the shop takes its credentials from, balances, clock, " +
		"the health of the webhook's receiver, faults that are on, and problems. Begin here.",
}, func(ctx context.Context, c *call, _ *getStatusInput) (*getStatusOutput, error) {
	f, err := c.readStatus(ctx)
	if err != nil {
		return nil, err
	}
	out := &getStatusOutput{
		Address: c.sandbox.URI, Console: c.sandbox.URI + "/console",
		Credentials: fmt.Sprintf("%s: CAURI_URI, CAURI_API_KEY, CAURI_WEBHOOK_SECRET", c.sandbox.CredentialsIn),
		Clock:       clockOf(&f.clock), Webhook: receiverOf(&f.webhook), Faults: []faultOn{}, Balances: []balance{},
		Open:     counts{len(f.pending), len(f.queued), len(f.failed), len(f.refused)},
		Problems: c.problems(f),
	}
	for i := range f.ledger.Data {
		if a := &f.ledger.Data[i]; len(out.Balances) < shownBalances && (a.Kind == "float" || !a.Balanced) {
			out.Balances = append(out.Balances, balance{a.Account, a.Balance, a.Balanced})
		}
	}
	for i := range f.faults {
		out.Faults = append(out.Faults, faultOf(&f.faults[i]))
	}
	out.conclude(f)
	return out, nil
})

func (c *call) readStatus(ctx context.Context) (f *statusFacts, err error) {
	f = &statusFacts{}
	api := c.sandbox.API
	for _, read := range []func() error{
		func() (err error) { f.latest, err = api.Payments(ctx, nil, 1); return err },
		func() (err error) {
			f.pending, err = api.Payments(ctx, url.Values{"status": {"PENDING"}}, wire.MaxLimit)
			return err
		},
		func() (err error) {
			f.failed, err = api.Events(ctx, url.Values{"state": {"failed"}}, wire.MaxLimit)
			return err
		},
		func() (err error) {
			f.queued, err = api.Events(ctx, url.Values{"state": {"queued"}}, wire.MaxLimit)
			return err
		},
		func() (err error) { f.refused, err = api.Requests(ctx, nil, wire.MaxLimit); return err },
		func() (err error) { f.clock, err = api.Clock(ctx); return err },
		func() (err error) { f.webhook, err = api.Webhook(ctx); return err },
		func() (err error) { f.ledger, err = api.Ledger(ctx, wire.MaxLimit); return err },
		func() (err error) { f.faults, err = api.Faults(ctx); return err },
	} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// problems returns what is not well, the receiver first: it hides the rest.
func (c *call) problems(f *statusFacts) []problem {
	all := []problem{}
	if a := f.webhook.Advice; a != nil {
		p := problem{Cause: a.Cause, Message: a.Message, Action: a.Action, Next: []step{}}
		if e := f.webhook.UnacknowledgedEvent; e != nil {
			p.Next = append(p.Next, step{Tool: "explain", Arguments: arguments("id", e.EventID), Because: "tells what the receiver answered, and why"})
		}
		p.Next = steps(append(p.Next, c.adviceSteps(a)...))
		all = append(all, p)
	}
	for _, callbacks := range f.webhook.Callbacks {
		all = append(all, problem{
			Cause: callbacks.Advice.Cause, Message: "Callbacks of the own API of " + callbacks.Operator + ": " + callbacks.Advice.Message,
			Action: callbacks.Advice.Action,
			Next:   []step{{Tool: "explain", Arguments: arguments("id", callbacks.EventID), Because: "tells what happened to the newest"}},
		})
	}
	if len(f.refused) > 0 {
		all = append(all, f.refusals())
	}
	if len(f.pending) > 0 && f.clock.Mode == manualClock {
		all = append(all, problemOf(advice.Of(advice.ClockStands, f.clock.Now),
			step{Tool: "advance_clock", Arguments: arguments("next", true), Because: "advances the clock to what is due next"}))
	}
	if !f.ledger.Balanced {
		all = append(all, problemOf(advice.Of(advice.LedgerUnbalanced), step{Command: "cauri check --ledger", Because: "tells which balance, and where"}))
	}
	return all
}

// refusals returns the problem of the requests that were refused. The newest is explained.
func (f *statusFacts) refusals() problem {
	newest := &f.refused[newestRefusal(f.refused)]
	why := explain.OfRequest(newest)
	what, _ := why.Sentences()
	return problem{
		Cause:   string(why.Code),
		Message: fmt.Sprintf("%s refused. The newest, at %s: %s", english.Plural(len(f.refused), "request was", "requests were"), newest.Time, what),
		Next: []step{
			{Tool: "explain", Arguments: arguments("id", newest.ID), Because: "tells what was wrong with the newest"},
			{Tool: "list_requests", Because: "lists what was sent, and what to send instead"},
		},
	}
}

// newestRefusal returns the index of the newest request that was to change something, or else 0: what is only read, such as
// something that a reset removed, is seldom the cause.
func newestRefusal(refused []wire.LoggedRequest) int {
	return max(0, slices.IndexFunc(refused, func(r wire.LoggedRequest) bool { return r.Method != http.MethodGet }))
}

func problemOf(a advice.Advice, next ...step) problem {
	what, do := a.Sentences()
	return problem{Cause: string(a.Code), Message: what, Action: do, Next: steps(next)}
}

// conclude sets the head of the status.
func (o *getStatusOutput) conclude(f *statusFacts) {
	switch {
	case len(o.Problems) > 0:
		first := &o.Problems[0]
		o.Summary, o.Cause, o.Next = first.Message, first.Cause, first.Next
		if n := len(o.Problems) - 1; n > 0 {
			o.Summary += " " + english.Plural(n, "more problem is", "more problems are") + " in problems."
		}
	case len(f.latest) == 0:
		o.say("The sandbox is well, and has no transactions yet.")
		o.add(step{Tool: "make_payment", Arguments: arguments("amount", 1500), Because: "makes a first payment"},
			step{Tool: "list_payers", Because: "tells who can pay"})
	default:
		o.say("The sandbox is well%s.", f.notes())
		o.add(step{Tool: "list_transactions", Because: "lists what happened"})
		if f.webhook.URL != nil {
			o.add(step{Tool: "grade_receiver", Because: "judges the receiver of webhooks by its answers"})
		}
	}
}

// notes returns what to know although nothing is wrong, as the end of a sentence.
func (f *statusFacts) notes() string {
	var all []string
	if f.webhook.URL == nil {
		all = append(all, "it has no webhook, so events are not sent")
	}
	if len(f.faults) > 0 {
		all = append(all, english.Plural(len(f.faults), "fault is on", "faults are on"))
	}
	if len(f.pending) > 0 {
		all = append(all, english.Plural(len(f.pending), "payment is pending", "payments are pending"))
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}
