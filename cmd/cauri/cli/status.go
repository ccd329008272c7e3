package cli

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

const (
	// latestShown is the maximum number of transactions in the status.
	latestShown = 5
	// countedAtMost is the maximum number of objects that are read to count them.
	countedAtMost = wire.MaxLimit
)

func (p *program) statusCommand() *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show a sandbox on one screen: conditions, balances, webhook, what is pending, the last transactions",
		Long: `Show a sandbox on one screen: its conditions with their reasons, its balances with their
proof, the health of its webhook, its time, its faults, what is pending, and its last
transactions.

With only an API key it shows what the API tells: no conditions.`,
		Example: "  " + p.called("status", "") + "\n  " + p.called("status", "-o json"),
	}
	t := p.target(cmd)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		s, _, err := t.find(cmd.Context(), args)
		if err != nil {
			return err
		}
		defer s.close()
		found, err := p.readState(cmd.Context(), s)
		if err != nil {
			return err
		}
		return o.print(cmd.OutOrStdout(), found, []string{found.Sandbox}, func(out io.Writer) { found.print(out, s) })
	}
	return cmd
}

// readState reads the resource and the API of a sandbox. It returns an error for an unreachable API only if there is no
// resource.
func (p *program) readState(ctx context.Context, s *sandbox) (*state, error) {
	found := &state{time: &sandboxTime{real: p.now}, Sandbox: s.String(), URL: s.uri}
	if s.cluster != nil {
		resource, err := s.read(ctx)
		if err != nil {
			return nil, err
		}
		found.URL, found.Status, found.Suspended = resource.Status.URL, &resource.Status, resource.Spec.Suspend
		found.behind = resource.Status.ObservedGeneration < resource.Generation
		declared, _ := json.Marshal(resource.Spec.Faults) // decoded from JSON, so encoding does not fail
		if found.declared, err = faults.Parse(declared); err != nil {
			return nil, err
		}
		if resource.Spec.Quota != nil {
			found.quota = resource.Spec.Quota.MonthlyTransactions
		}
	}
	if found.Suspended {
		found.APIError = "the sandbox is suspended: its API answers nothing until it is resumed"
		return found, nil
	}
	err := found.ask(ctx, s)
	if err != nil && s.cluster != nil && ctx.Err() == nil {
		found.APIError, err = Message(err), nil
	}
	return found, err
}

// ask reads the state from the API.
func (f *state) ask(ctx context.Context, s *sandbox) error {
	api, err := s.connect(ctx)
	if err != nil {
		return err
	}
	if f.Latest, err = api.Payments(ctx, nil, latestShown); err != nil {
		return err
	}
	if f.Pending, err = api.Payments(ctx, url.Values{"status": {"PENDING"}}, countedAtMost); err != nil {
		return err
	}
	if f.FailedEvents, err = api.Events(ctx, url.Values{"state": {"failed"}}, countedAtMost); err != nil {
		return err
	}
	if f.QueuedEvents, err = api.Events(ctx, url.Values{"state": {eventQueued}}, countedAtMost); err != nil {
		return err
	}
	if f.Refused, err = api.Requests(ctx, nil, countedAtMost); err != nil {
		return err
	}
	clock, err := api.Clock(ctx)
	f.Clock = &clock
	f.time.set(&clock)
	if err != nil {
		return err
	}
	webhook, err := api.Webhook(ctx)
	if err != nil {
		return err
	}
	f.Webhook = &webhook
	ledger, err := api.Ledger(ctx, countedAtMost)
	f.Ledger = &ledger
	return err
}

func (f *state) print(out io.Writer, s *sandbox) {
	Fprintf(out, "Sandbox  %s\nURL      %s\n", f.Sandbox, f.URL)
	if f.Clock != nil {
		Fprintf(out, "Time     %s (%s)\n", f.time, f.Clock.Mode)
		if f.time.own() {
			Fprintf(out, "         Times of payments and events are the sandbox's, the others are real.\n")
		}
	}
	printBalances(out, f)
	if f.Webhook != nil {
		Fprintf(out, "Receiver %s\n", receiverState(f.Webhook))
		for _, c := range f.Webhook.Callbacks {
			Fprintf(out, "Callbacks of %s's own API fail: %s of the last 24 hours not acknowledged\n", payments.Operator(c.Operator).Name(), counted(c.Unacknowledged))
		}
	}
	if f.Status != nil {
		f.printStatus(out)
	}
	if f.APIError != "" {
		Fprintf(out, "\nNothing more is known: %s\n", f.APIError)
		return
	}
	Fprintf(out, "\nPending payments: %s. Failed events: %s. Refused requests: %s.\n", counted(len(f.Pending)), counted(len(f.FailedEvents)),
		counted(len(f.Refused)))
	f.printLatest(out)
	for _, next := range f.next(s) {
		Fprintf(out, "\n%s\n", next)
	}
}

// next returns advice: the next commands for the user.
func (f *state) next(s *sandbox) (all []Lines) {
	tell := func(format string, args ...any) { all = append(all, Sprintf(format, args...)) }
	if len(f.Latest) == 0 {
		tell("There are no transactions yet. Make one:\n  %s", s.command("pay", ""))
	}
	for i := range f.Pending {
		if p := &f.Pending[i]; p.Type == string(payments.Collection) {
			if f.time.standing() {
				tell("Payments are pending, and the sandbox's clock stands. Advance it to where something is due:\n  %s", s.command("clock advance", "--next"))
				break
			}
			tell("Payments are pending. Those that wait for the answer of a payer:\n  %s", s.command("payers", ""))
			break
		}
	}
	notWell := f.Webhook != nil && f.Webhook.Advice != nil
	if notWell {
		a, lead := f.Webhook.Advice, "The receiver is not well. "
		more := Lines("")
		if e := f.Webhook.UnacknowledgedEvent; e != nil {
			more = Sprintf(" More about it:\n  %s", s.command("events", e.EventID))
		}
		if over := advice.Code(a.Cause) == advice.Recovered || advice.Code(a.Cause) == advice.FormerURL; over {
			lead = ""
			for _, step := range a.Next {
				more += Sprintf("\n%s\n  %s", step.Because, s.typed(step.Command))
			}
		}
		tell("%s%s %s%s", lead, a.Message, a.Action, more)
	}
	if f.Webhook != nil {
		for _, c := range f.Webhook.Callbacks {
			tell("Callbacks of %s's own API fail. %s %s More about it:\n  %s", payments.Operator(c.Operator).Name(), c.Advice.Message, c.Advice.Action,
				s.command("events", c.EventID))
		}
	}
	for _, events := range [][]wire.EventSummary{f.FailedEvents, f.QueuedEvents} {
		if notWell {
			break
		}
		if i := slices.IndexFunc(events, func(e wire.EventSummary) bool { return undelivered(&e) }); i >= 0 {
			why := "An event was not delivered"
			if faults := f.faultsOn(&events[i]); faults != "" {
				why = "An event is not acknowledged, and it has the " + faults
			}
			tell("%s. Why:\n  %s", why, s.command("events", events[i].ID))
			break
		}
	}
	if f.Ledger != nil && !f.Ledger.Balanced {
		unbalanced := advice.Of(advice.LedgerUnbalanced)
		tell("%s. Which one, and where:\n  %s", unbalanced.What, s.command("check", "--ledger"))
	}
	if len(f.Refused) > 0 {
		tell("Requests were refused, the last one %s (%s). Why:\n  %s", clockTime(f.Refused[0].Time), answerOf(&f.Refused[0]),
			s.command("requests", ""))
	}
	return all
}

// receiverState says in words how the receiver is.
func receiverState(w *wire.Webhook) string {
	switch w.State {
	case "none":
		return "none: the sandbox has no webhook, so events are not sent"
	case "failing":
		return "failing: " + english.Plural(w.Unacknowledged, "event", "events") + " of the last 24 hours not acknowledged"
	case "paused":
		return "paused: it failed for so long that it gets one event a minute"
	}
	if !w.Acknowledged {
		return "not known: it has acknowledged nothing since its URL was set, or since an attempt failed"
	}
	return "healthy: it acknowledges events"
}

// faultsOn returns a text with the known faults that applied to an event.
func (f *state) faultsOn(e *wire.EventSummary) string {
	if len(e.LastEffects) > 0 {
		return faultsNamed(e.LastEffects)
	}
	for i := range f.Latest {
		if f.Latest[i].ID == e.TxID && len(f.Latest[i].Faults) > 0 {
			return faultsNamed(f.Latest[i].Effects)
		}
	}
	if e.LastError != nil && strings.HasPrefix(*e.LastError, "fault ") { // a fault dropped the last attempt
		return *e.LastError
	}
	return ""
}

func (f *state) printLatest(out io.Writer) {
	if len(f.Latest) == 0 {
		return
	}
	Fprintf(out, "\n")
	printTransactions(out, f.Latest)
}

// counted formats a count, whose maximum is countedAtMost.
func counted(n int) string {
	if n == countedAtMost {
		return strconv.Itoa(n) + " or more"
	}
	return strconv.Itoa(n)
}

func (f *state) printStatus(out io.Writer) {
	if c := f.Status.Transactions; c != nil {
		Fprintf(out, "Made     %s\n", english.Plural(c.Total, "transaction", "transactions"))
	}
	if q := f.Status.Quota; q != nil && f.quota != nil {
		Fprintf(out, "Quota    %d of %s of this month, which ends %s in the sandbox's time\n", q.Used, english.Plural(*f.quota, "transaction", "transactions"),
			TimeText(q.RenewsAt.Time))
	}
	if w := f.Status.Webhook; w != nil {
		Fprintf(out, "Webhook  %s delivered, %d failed\n", english.Plural(w.Delivered, "event", "events"), w.Failed)
		if w.LastFailure != nil {
			Fprintf(out, "         last failure %s: %s\n", TimeText(w.LastFailure.Time.Time), w.LastFailure.Message)
		}
	}
	for _, fault := range f.Status.Faults {
		Fprintf(out, "Fault    %s; acted %s\n", faultList(f.declared.Effects([]string{fault.Name})), times(int64(fault.Times)))
	}
	if f.Status.ExpiresAt != nil {
		Fprintf(out, "Ends     %s, by its ttl\n", TimeText(f.Status.ExpiresAt.Time))
	}
	if f.behind {
		Fprintf(out, "\nThe controller has not looked at the last change of the spec yet: what follows is about an earlier one.\n")
	}
	Fprintf(out, "\n")
	rows := make([][]string, 0, len(f.Status.Conditions))
	for _, c := range f.Status.Conditions {
		message := c.Message
		if c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonReady {
			message = "" // the message of a normal state has no information
		}
		rows = append(rows, []string{c.Type, string(c.Status), c.Reason, message})
	}
	table(out, Table{Titles: "CONDITION STATUS REASON MESSAGE", Rows: rows, Shorten: "MESSAGE", Whole: "MESSAGE"})
}
