package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// eventStates are the states of an event.
var eventStates = []string{"recorded", eventQueued, "delivered", eventFailed}

func (p *program) eventsCommand() *cobra.Command {
	var o output
	var state, name, transaction string
	var page paging
	var body bool
	cmd := &cobra.Command{
		Use:   "events",
		Short: "List the events, or show one with its body and its attempts",
		Long: `List the events, newest first, or show one with its body and its attempts.

--body prints the body of one event byte for byte, as it is sent, and signed unless it is
a callback of an operator's own API.`,
		Example: "  " + p.called("events", "--state=failed") + "\n  " + p.called("events", "evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE") + "\n  " +
			p.called("events", "evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE --body | cauri verify --headers=received.txt"),
	}
	t := p.target(cmd, argument{name: "EVENT", complete: completeEvents})
	flags := cmd.Flags()
	flags.StringVar(&state, "state", "", "only those in a state: recorded, queued, delivered or failed")
	flags.StringVar(&name, "event", "", "only those of a name: payment.completed, payment.refunded, disbursement.completed, or\noperator.callback for callbacks of the operators' own APIs")
	flags.StringVar(&transaction, "tx", "", "only those of a transaction, by its id")
	page.add(cmd, pageShown)
	flags.BoolVar(&body, "body", false, "print only the body of EVENT, byte for byte")
	completeFlag(cmd, "state", eventStates...)
	completeFlag(cmd, "event", wire.EventNames...)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(), page.check()); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			if !body {
				if err := p.tellTime(ctx, api, cmd.ErrOrStderr(), &o); err != nil {
					return err
				}
			}
			if len(rest) == 1 {
				return s.showEvent(ctx, api, cmd.OutOrStdout(), rest[0], body, o)
			}
			if body {
				return usage(errors.New("--body needs EVENT: write the id of one event"))
			}
			query := page.of(queryOf(map[string]string{"state": state, "event": name, "tx_id": transaction}))
			found, err := api.EventList(ctx, query, page.most())
			if err != nil {
				return err
			}
			return s.listEvents(cmd, found, o)
		})
	}
	return cmd
}

// queryOf returns a query with the non-empty parameters.
func queryOf(parameters map[string]string) url.Values {
	query := url.Values{}
	for parameter, value := range parameters {
		if value != "" {
			query.Set(parameter, value)
		}
	}
	return query
}

// listEvents prints events, and a command that explains why the first undelivered event was not delivered.
func (s *sandbox) listEvents(cmd *cobra.Command, found sandboxapi.List[wire.EventSummary], o output) error {
	return printList(cmd, &o, found, eventID, func(out io.Writer) {
		printEvents(out, found.Data)
		if i := slices.IndexFunc(found.Data, func(e wire.EventSummary) bool { return undelivered(&e) }); i >= 0 {
			Fprintf(out, "\nWhy one was not delivered: %s\n", s.command("events", found.Data[i].ID))
		}
	})
}

func eventID(e *wire.EventSummary) string { return e.ID }

func printEvents(out io.Writer, found []wire.EventSummary) {
	if len(found) == 0 {
		Fprintf(out, "There are no such events. An event is recorded when a transaction is final.\n")
		return
	}
	t := Table{
		Titles: "EVENT CREATED NAME STATUS STATE ATTEMPTS ANSWERED NEXT", Shorten: "STATUS FAULT", Drop: "NEXT ATTEMPTS NAME ANSWERED CREATED",
	}
	withFaults := slices.ContainsFunc(found, func(e wire.EventSummary) bool { return len(e.LastEffects) > 0 })
	if withFaults {
		t.Titles += " FAULT"
	}
	for i := range found {
		e := &found[i]
		t.Rows = append(t.Rows, []string{e.ID, clockTime(e.CreatedAt), e.Event, e.Status, e.State, strconv.Itoa(e.AttemptCount),
			optional(e.LastResponseStatus, strconv.Itoa), optional(e.NextAttemptAt, clockTime)})
		if withFaults {
			t.Rows[i] = append(t.Rows[i], faultList(e.LastEffects))
		}
	}
	table(out, t)
}

func (s *sandbox) showEvent(ctx context.Context, api *sandboxapi.Client, out io.Writer, id string, body bool, o output) error {
	e, err := api.Event(ctx, id)
	if err != nil {
		return err
	}
	if body {
		text := e.Body
		if terminal(out) { // other output gets the unchanged bytes
			text = PrintableLines(text)
		}
		return writeBytes(out, text)
	}
	return o.print(out, e, []string{e.ID}, func(out io.Writer) {
		printEvents(out, []wire.EventSummary{e.EventSummary})
		if len(e.Attempts) > 0 {
			Fprintf(out, "\n")
		}
		t := Table{Titles: "ATTEMPT STARTED TOOK ANSWERED ERROR RESPONSE", Shorten: "RESPONSE ERROR", Drop: "TOOK STARTED"}
		var faults strings.Builder
		for i := range e.Attempts {
			a := &e.Attempts[i]
			t.Rows = append(t.Rows, []string{strconv.Itoa(a.Number), clockTime(a.StartedAt), milliseconds(a.DurationMs),
				optional(a.ResponseStatus, strconv.Itoa), optional(a.Error, identity), strings.TrimSpace(a.ResponseBody)})
			if acted := effectsOf(a); len(acted) > 0 {
				Fprintf(&faults, "Attempt %d: %s\n", a.Number, faultsNamed(acted))
			}
			for n, c := range a.Copies {
				Fprintf(&faults, "Attempt %d, answer %d: %s in %s\n", a.Number, n+1,
					cmp.Or(optional(c.Error, identity), optional(c.ResponseStatus, strconv.Itoa)), milliseconds(c.DurationMs))
			}
		}
		if len(t.Rows) > 0 {
			table(out, t)
		}
		Fprintf(out, "%s", Lines(faults.String()))
		Fprintf(out, "\nThe body (--body prints all its %d bytes):\n%s\n", len(e.Body), shortened(Printable(e.Body), cmp.Or(min(Width(out), bodyShown), bodyShown)))
		if advice := s.adviceText(e.Advice); advice != "" {
			Fprintf(out, "\n%s\n", advice)
		}
	})
}

// effectsOf returns the faults that applied to an attempt, with their effects if the service reports them.
func effectsOf(a *wire.DeliveryAttempt) []string {
	if len(a.Effects) > 0 {
		return a.Effects
	}
	return a.Faults
}

// bodyShown is the maximum number of printed characters of a body.
const bodyShown = 120

// notSent returns the error for an event that could not be sent again. The parameter before is the number of events
// that were already sent again.
func notSent(id string, before int, err error) error {
	if before == 0 {
		return fmt.Errorf("the event %s is not sent again: %w", id, err)
	}
	return fmt.Errorf("%s sent again, and the event %s and those behind it are not: %w", english.Plural(before, "event is", "events are"), id, err)
}

// forwarder returns a command that brings the events to a program on this machine.
func (s *sandbox) forwarder() string {
	return s.command("listen", forwardFlag+"=localhost:3000/webhooks")
}

// withForwarder adds to the error of a sandbox without a webhook URL how a program gets an event without one.
func (s *sandbox) withForwarder(err error) error {
	var refused *sandboxapi.RefusedError
	if errors.As(err, &refused) && refused.Code == "no_webhook" {
		return fmt.Errorf("%w Or run `%s`, and then resend it", err, s.forwarder())
	}
	return err
}

func (p *program) resendCommand() *cobra.Command {
	var o output
	var failed bool
	cmd := &cobra.Command{
		Use:   "resend",
		Short: "Send an event again, or all that failed",
		Long: `Send an event again, or all that failed. The sandbox sends it to its webhook URL, with
the same body and the same id; a callback of an operator's own API goes to its own URL.
A command listen --forward-to that runs posts the event to its program too, also in a
sandbox without a webhook URL.`,
		Example: "  " + p.called("resend", "evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE") + "\n  " + p.called("resend", "--failed"),
	}
	t := p.target(cmd, argument{name: "EVENT", complete: completeEvents})
	cmd.Flags().BoolVar(&failed, "failed", false, "all events whose retries are used up, at most 1000")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			if failed == (len(rest) == 1) {
				return usage(errors.New("write the id of one event, or --failed"))
			}
			ids := slices.Clone(rest)
			if failed {
				const most = 1000
				found, err := api.Events(ctx, url.Values{"state": {"failed"}}, most)
				if err != nil {
					return err
				}
				for i := range found {
					ids = append(ids, found[i].ID)
				}
			}
			sent := make([]wire.EventSummary, 0, len(ids))
			for _, id := range ids {
				e, err := api.Resend(ctx, id)
				if err != nil {
					return notSent(id, len(sent), s.withForwarder(err))
				}
				sent = append(sent, e)
			}
			return printList(cmd, &o, whole(sent), eventID, func(out io.Writer) {
				if len(sent) == 0 {
					Fprintf(out, "No event has failed.\n")
					return
				}
				printEvents(out, sent)
				if slices.ContainsFunc(sent, func(e wire.EventSummary) bool { return e.State != eventQueued }) {
					Fprintf(out, "\nThe sandbox has no webhook URL. Only a program that this command forwards to gets it, if the command runs:\n  %s\n",
						s.forwarder())
				}
			})
		})
	}
	return cmd
}
