package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/keypress"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// listenOptions are the flags of `cauri listen`.
type listenOptions struct {
	signingSecret
	address     string
	forwardTo   string
	full        bool
	printSecret bool
}

func (p *program) listenCommand() *cobra.Command {
	var o listenOptions
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Receive webhooks on this machine: verify and print them, or forward them to your program",
		Long: `Receive webhooks on this machine: verify both signatures and print one line for each
event.

With --forward-to no port of this machine has to be reachable: the command asks the
sandbox for its events, signs each with the sandbox's secret and the present time,
and posts it to your program. That changes no event in the sandbox. On a terminal, the
key r sends the last one again.`,
		Example: "  " + p.called("listen", "--forward-to=http://localhost:3000/webhooks") + "\n  " + p.called("listen", "--address=0.0.0.0:9000"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.address, "address", "127.0.0.1:9000", "address to listen on; webhooks are accepted at every path")
	flags.StringVar(&o.forwardTo, "forward-to", "", "URL of your program that gets the events, such as http://localhost:3000/webhooks")
	flags.BoolVar(&o.full, "full", false, "print the whole body of each event instead of one line")
	flags.BoolVar(&o.printSecret, "print-secret", false, "print the signing secret, a credential, and end")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case o.printSecret:
			secret, err := o.of(cmd.Context(), t, args)
			if err == nil {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), secret)
			}
			return err
		case o.forwardTo != "":
			return p.listenAndForward(cmd, t, o, args)
		}
		secret, err := o.of(cmd.Context(), t, args)
		if err != nil {
			return err
		}
		return p.Serve(cmd.Context(), "webhooks", o.address, &receiver{secret: secret, full: o.full, out: cmd.OutOrStdout(), now: p.now})
	}
	return cmd
}

// of is the secret that the user gave, or else the sandbox's own. The sandbox need not be named if the secret is.
func (o *listenOptions) of(ctx context.Context, t *target, args []string) (string, error) {
	if o.given() || !t.plugin && t.sandbox == "" && t.envFile == "" {
		return o.read()
	}
	s, _, err := t.find(args)
	if err != nil {
		return "", err
	}
	if err := s.credentials(ctx); err != nil {
		return "", err
	}
	if s.secret == "" {
		return o.read()
	}
	return s.secret, nil
}

// listenAndForward posts the events of a sandbox to a URL, until ctx ends.
func (p *program) listenAndForward(cmd *cobra.Command, t *target, o listenOptions, args []string) error {
	to, err := url.Parse(o.forwardTo)
	if err != nil || to.Host == "" || to.Scheme != "http" && to.Scheme != "https" {
		return usage(fmt.Errorf("--forward-to=%s: write a URL such as http://localhost:3000/webhooks", o.forwardTo))
	}
	return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
		f := &forwarder{
			api: api, url: o.forwardTo, secret: s.secret, out: cmd.OutOrStdout(), full: o.full, now: p.now,
			sender: webhooks.NewSender(egress.Guard{AllowLoopback: true}, p.Version, p.now),
		}
		if o.given() || f.secret == "" {
			if f.secret, err = o.read(); err != nil {
				return err
			}
		}
		say := sayOn(cmd.ErrOrStderr())
		restore, keys := keypress.On(ctx, cmd.InOrStdin(), func(key byte) { f.pressed(ctx, key) })
		defer restore()
		ready := func() {
			say("Events of the sandbox %s go to %s. Ctrl-C ends it.", s, o.forwardTo)
			if s.resource != nil && s.resource.Spec.Webhook != nil {
				say("The sandbox sends them to %s too: a receiver at both gets each event twice.", s.resource.Spec.Webhook.URL)
			}
			if keys {
				say("Press r to send the last one again.")
			}
		}
		from, err := p.newChanges(ctx, api, []string{typeEvent}, ready, say)
		if err != nil {
			return err
		}
		return tail(ctx, []changes{from}, func(c change) error {
			if c.Type != typeEvent {
				return nil
			}
			return f.forward(ctx, c.Event)
		})
	})
}

// forwarder posts events to a URL as the sandbox would.
type forwarder struct {
	api    *sandboxapi.Client
	sender *webhooks.Sender
	url    string
	secret string
	out    io.Writer
	full   bool
	now    func() time.Time

	mutex sync.Mutex
	last  *wire.EventDetail // nil: none yet
}

// forward reads an event and sends it. Callbacks of operators' own APIs have another form and other receivers: they are left out.
func (f *forwarder) forward(ctx context.Context, summary *wire.EventSummary) error {
	if summary.Event == payments.CallbackEvent {
		return nil
	}
	e, err := f.api.Event(ctx, summary.ID)
	if sandboxapi.IsNotFound(err) {
		return nil // by a reset
	}
	if err != nil {
		return err
	}
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.last = &e
	return f.send(ctx, &e)
}

// send makes one attempt and prints what the program answered. The caller holds the mutex.
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
	said := fmt.Sprintf("answered %d in %s", result.Status, result.Duration.Round(time.Millisecond))
	if result.Status == 0 {
		said = result.Err.Error()
	}
	printLine(f.out, f.now(), eventSummary([]byte(e.Body))+"  "+printable(said))
	if f.full {
		fmt.Fprintf(f.out, "%s\n", e.Body)
	}
	return nil
}

// typeOf is the type of the transactions that an event is about.
func typeOf(event string) (payments.Type, error) {
	for _, kind := range payments.Types {
		if kind.Event() == event {
			return kind, nil
		}
	}
	return "", fmt.Errorf("the event %q is newer than this program: update it", event)
}

// pressed sends the last event again when the user asks for it.
func (f *forwarder) pressed(ctx context.Context, key byte) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.last != nil && key == 'r' {
		_ = f.send(ctx, f.last) // it was sent before
	}
}

// receiver is a webhook endpoint as every merchant should write it: it verifies before it parses, and refuses in doubt.
type receiver struct {
	secret string
	full   bool
	out    io.Writer
	now    func() time.Time
}

// maxEvent bounds the body of an event, in bytes.
const maxEvent = 1 << 20

func (l *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	at := l.now().Format("15:04:05.000")
	if err := webhooks.Verify(r.Header, body, l.secret, l.now()); err != nil {
		fmt.Fprintf(l.out, "%s  REFUSED  %s %s: %v\n", at, printable(r.Method), printable(r.URL.Path), err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if l.full {
		fmt.Fprintf(l.out, "%s\n", body)
	} else {
		fmt.Fprintf(l.out, "%s  verified  %s  %s\n", at, eventSummary(body), printable(r.Header.Get(webhooks.HeaderDelivery)))
	}
	w.WriteHeader(http.StatusNoContent)
}
