package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/keypress"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/httpapi/view/offline"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// listenOptions are the flags of `cauri listen`.
type listenOptions struct {
	signingSecret
	address     string
	forwardTo   string
	since       string
	full        bool
	printSecret bool
	lines       lineOutput
}

func (p *program) listenCommand() *cobra.Command {
	var o listenOptions
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Show the webhooks of a sandbox as they are sent, forward them to your program, or receive them",
		Long: `Show the events of a sandbox and the attempts to deliver them, as they happen, until
Ctrl-C. With --address, or without a sandbox, the command is a receiver: it verifies
both signatures of what arrives on this machine, and prints one line for each event.

With --forward-to no port of this machine has to be reachable: the command asks the
sandbox for its events, signs each with the sandbox's secret and the present time,
and posts it to your program. That changes no event in the sandbox. An event that is to
be sent again, by resend or in the console, is posted again. On a terminal, the key r
sends the last one again. --since begins with earlier events, up to 100,000.`,
		Example: "  " + p.called("listen", "") + "\n  " + p.called("listen", "--forward-to=localhost:3000/webhooks") + "\n  " + p.called("listen", "--forward-to=localhost:3000/webhooks --since=10m") + "\n  " +
			p.called("listen", "--address=0.0.0.0:9000"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.address, "address", "127.0.0.1:9000", "address to listen on; webhooks are accepted at every path")
	flags.StringVar(&o.forwardTo, "forward-to", "", "URL of your program that gets the events, such as localhost:3000/webhooks")
	flags.StringVar(&o.since, "since", "", "begin with the events since this sandbox time, such as 2026-12-01T00:00:00Z, or 10m for ten minutes ago")
	flags.BoolVar(&o.full, "full", false, "print the whole body of each event instead of one line")
	flags.BoolVar(&o.printSecret, "print-secret", false, "print the signing secret, a credential, and end")
	o.add(cmd)
	o.lines.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := o.begin(time.Time{}); err != nil {
			return err
		}
		if err := o.lines.check(); err != nil {
			return err
		}
		switch {
		case o.printSecret:
			secret, err := o.of(cmd.Context(), t, args)
			switch {
			case err != nil:
				return err
			case o.lines.json():
				return printJSON(cmd.OutOrStdout(), object{"secret": secret})
			}
			return writeBytes(cmd.OutOrStdout(), secret+"\n")
		case o.forwardTo != "":
			return p.listenAndForward(cmd, t, o, args)
		case !cmd.Flags().Changed("address") && (t.selected() || !o.given() && t.findable(cmd.Context())):
			return p.showSent(cmd, t, o, args)
		case o.since != "":
			return usage(errors.New("--since needs a sandbox: a receiver has no events of before. Leave --address out, or name a sandbox"))
		}
		secret, err := o.of(cmd.Context(), t, args)
		if err != nil {
			return err
		}
		return p.Serve(cmd.Context(), "webhooks", o.address, &receiver{secret: secret, full: o.full, lines: o.lines, out: cmd.OutOrStdout(), now: p.now})
	}
	return cmd
}

// timeOf returns the time of a flag: a time, or how long before now.
func timeOf(flag, text string, now time.Time) (time.Time, error) {
	if ago, err := time.ParseDuration(text); err == nil {
		return now.Add(-ago), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		err = usage(fmt.Errorf("--%s=%s: write a time like 2026-12-01T00:00:00Z, or how long ago, such as 10m", flag, text))
	}
	return at, err
}

// begin returns the time of the flag --since, in a sandbox whose time is now; zero: the flag is not given. If now is zero,
// begin only checks the form of the flag.
func (o *listenOptions) begin(now time.Time) (begin time.Time, err error) {
	if o.since == "" {
		return begin, nil
	}
	if begin, err = timeOf("since", o.since, now); err != nil {
		return begin, err
	}
	if !now.IsZero() && begin.After(now) {
		return begin, usage(fmt.Errorf("--since=%s: in the sandbox it is %s: write a time before it", o.since, TimeText(now)))
	}
	return begin, nil
}

// findable reports whether find returns a sandbox or another error than errNoSandbox.
func (t *target) findable(ctx context.Context) bool {
	_, _, err := t.find(ctx, nil)
	return !errors.Is(err, errNoSandbox)
}

// programURL parses the flag with the address of the user's program: a URL, or a host with a port and an optional path.
func programURL(flag, text string) (string, error) {
	full := text
	if !strings.Contains(text, "://") {
		full = "http://" + text
	}
	to, err := url.Parse(full)
	port, noPort := uint64(1), error(nil)
	if err == nil && to.Port() != "" {
		port, noPort = strconv.ParseUint(to.Port(), 10, 16)
	}
	if noPort != nil || port == 0 {
		return "", usage(fmt.Errorf("--%s is %s: write a port from 1 to 65535", flag, egress.Shown(text)))
	}
	if err != nil || egress.HostOf(to) == "" || to.Scheme != "http" && to.Scheme != "https" || full != text && to.Port() == "" {
		return "", usage(fmt.Errorf("--%s is %s: write a URL such as http://localhost:3000/webhooks, or localhost:3000/webhooks", flag, egress.Shown(text)))
	}
	return full, nil
}

// showSent prints the events of a sandbox and the attempts to deliver them, until ctx ends.
func (p *program) showSent(cmd *cobra.Command, t *target, o listenOptions, args []string) error {
	return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
		say := printerTo(cmd.ErrOrStderr())
		types := []string{typeEvent, typeAttempt, typeFaults}
		clock, err := p.readTime(ctx, api)
		if err != nil {
			return err
		}
		ready := func() {
			say("Events of the sandbox %s, as they are sent. Ctrl-C ends it. To send them to your program too:", s)
			say("  %s", s.forwarder())
			if note := clock.note(); note != "" {
				say("%s", note)
			}
		}
		from := p.newChanges(api, withClock(types), ready, say)
		if from.since, err = o.begin(clock.now()); err != nil {
			return err
		}
		return tail(ctx, []changes{from}, clock, func(c change) error {
			if !slices.Contains(types, c.Type) {
				return nil
			}
			body := ""
			if o.full && c.Type == typeEvent {
				e, err := api.Event(ctx, c.Event.ID)
				if err != nil && !sandboxapi.IsNotFound(err) { // a reset removes events
					return err
				}
				body = e.Body
			}
			if o.lines.json() {
				return printJSON(cmd.OutOrStdout(), sentChange{c, body})
			}
			printLine(cmd.OutOrStdout(), c.time(clock), c.line(clock))
			if body != "" {
				Fprintf(cmd.OutOrStdout(), "%s\n", body)
			}
			return nil
		})
	})
}

// sentChange is a change in output for programs.
type sentChange struct {
	change
	Body string `json:"body,omitempty"` // of an event, with --full
}

// listenAndForward posts the events of a sandbox to a URL, until ctx ends.
func (p *program) listenAndForward(cmd *cobra.Command, t *target, o listenOptions, args []string) error {
	var err error
	if o.forwardTo, err = programURL("forward-to", o.forwardTo); err != nil {
		return err
	}
	return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
		f := &forwarder{
			api: api, url: o.forwardTo, secret: s.secret, out: cmd.OutOrStdout(), full: o.full, lines: o.lines,
			sender: webhooks.NewSender(egress.Guard{AllowLoopback: true}, p.Version, p.now),
		}
		if o.given() || f.secret == "" {
			if f.secret, err = o.read(); err != nil {
				return err
			}
		}
		clock, err := p.readTime(ctx, api)
		if err != nil {
			return err
		}
		f.at = clock.now
		say := printerTo(cmd.ErrOrStderr())
		f.advice = func(failure error) { f.advise(s, failure, say) }
		restore, keys := keypress.On(ctx, cmd.InOrStdin(), func(key byte) { f.pressed(ctx, key) })
		defer restore()
		ready := func() {
			say("Events of the sandbox %s go to %s. Ctrl-C ends it.", s, o.forwardTo)
			if s.resource != nil && s.resource.Spec.Webhook != nil {
				say("The sandbox sends them to %s too: a receiver at both gets each event twice.", s.resource.Spec.Webhook.URL)
			}
			say("%s", secretLine(s, f.secret, terminal(cmd.ErrOrStderr())))
			if keys {
				say("Press r to send the last one again.")
			}
			if note := clock.note(); note != "" {
				say("%s", note)
			}
		}
		from := p.newChanges(api, withClock([]string{typeEvent, typeFaults}), ready, say)
		if from.since, err = o.begin(clock.now()); err != nil {
			return err
		}
		return tail(ctx, []changes{from}, clock, func(c change) error {
			switch c.Type {
			case typeEvent:
				return f.forward(ctx, c.Event)
			case typeFaults:
				if o.lines.json() {
					return printJSON(f.out, c)
				}
				printLine(f.out, c.time(clock), c.line(clock))
			}
			return nil
		})
	})
}

// forwarder posts events to a URL, with the headers and signatures of the sandbox.
type forwarder struct {
	api    *sandboxapi.Client
	sender *webhooks.Sender
	url    string
	secret string
	out    io.Writer
	full   bool
	lines  lineOutput
	at     func() time.Time // returns the sandbox time

	advice func(failure error) // prints why an event is not acknowledged; may be nil

	mutex   sync.Mutex
	advised advice.Code       // last explained cause; empty: nothing explained
	last    *wire.EventDetail // last event; nil for none
}

// forward reads an event and sends it. It skips callbacks of operators' own APIs: such a callback has another format
// and another receiver.
func (f *forwarder) forward(ctx context.Context, summary *wire.EventSummary) error {
	if summary.Event == payments.CallbackEvent {
		return nil
	}
	e, err := f.api.Event(ctx, summary.ID)
	if sandboxapi.IsNotFound(err) {
		return nil // a reset removed the event
	}
	if err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.last = &e
	return f.send(ctx, &e)
}

// send makes one attempt and prints the answer. The caller holds the mutex.
func (f *forwarder) send(ctx context.Context, e *wire.EventDetail) error {
	id, err := payments.ParseID(e.TxID)
	if err != nil {
		return err
	}
	kind, err := typeOf(e.Event)
	if err != nil {
		return err
	}
	result := f.sender.Send(ctx, webhooks.Delivery{URL: f.url, Secret: f.secret, ID: id, Type: kind, Body: []byte(e.Body)})
	if err := f.print(e, result); err != nil {
		return err
	}
	switch {
	case result.Err == nil:
		f.advised = ""
	case f.advice != nil:
		f.advice(result.Err)
	}
	return nil
}

// forwarded is an attempt of listen --forward-to in output for programs.
type forwarded struct {
	Type       string            `json:"type"` // forwarded
	Time       string            `json:"time"` // of the sandbox
	Event      wire.EventSummary `json:"event"`
	Status     *int              `json:"responseStatus"` // null: no answer
	DurationMs int64             `json:"durationMs"`
	Error      string            `json:"error,omitempty"`
	Body       string            `json:"body,omitempty"` // with --full
}

// print prints an attempt.
func (f *forwarder) print(e *wire.EventDetail, result webhooks.Result) error {
	if f.lines.json() {
		line := forwarded{Type: "forwarded", Time: MachineTime(f.at()), Event: e.EventSummary, DurationMs: machineMilliseconds(result.Duration)}
		if result.Status != 0 {
			line.Status = &result.Status
		}
		if result.Err != nil {
			line.Error = Message(result.Err)
		}
		if f.full {
			line.Body = e.Body
		}
		return printJSON(f.out, line)
	}
	said := fmt.Sprintf("answered %d in %s", result.Status, payments.FormatDuration(result.Duration))
	if result.Status == 0 {
		said = Message(result.Err)
	}
	printLine(f.out, f.at(), append(eventSummary([]byte(e.Body)), cell{text: said}))
	if f.full {
		Fprintf(f.out, "%s\n", e.Body)
	}
	return nil
}

// advise explains a failure, unless the last explained one had the same cause. The caller holds the mutex.
func (f *forwarder) advise(s *sandbox, failure error, say func(format string, args ...any)) {
	a := advice.OfAttempt(advice.Attempt{Failure: failure.Error(), Host: advice.HostAndPortOf(f.url), Local: true})
	if f.advised == a.Code {
		return
	}
	f.advised = a.Code
	for line := range strings.Lines(string(s.adviceText(offline.AdviceOf(a, "")))) {
		say("%s", strings.TrimRight(line, "\n"))
	}
}

// secretLine returns a line about the secret that signs the events. If shown is false, the line has the command that
// prints the secret instead, because logs may keep the output.
func secretLine(s *sandbox, secret string, shown bool) string {
	if shown {
		return "Verify them with CAURI_WEBHOOK_SECRET=" + secret
	}
	return "Verify them with the secret that this prints: " + s.command("listen", "--print-secret")
}

// typeOf returns the type of the transactions whose events have this name.
func typeOf(event string) (payments.Type, error) {
	for _, kind := range payments.Types {
		if kind.Event() == event {
			return kind, nil
		}
	}
	return "", fmt.Errorf("the event %q is newer than this program: update it", event)
}

// pressed sends the last event again if the key is r.
func (f *forwarder) pressed(ctx context.Context, key byte) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.last != nil && key == 'r' {
		_ = f.send(ctx, f.last) // it was sent before, so its request is valid
	}
}
