package cli

import (
	"context"
	"errors"
	"io"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

func (p *program) explainCommand() *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use:   "explain",
		Short: "Say what happened to a transaction, an event, a request, an order or a number, why, and what to do",
		Long: `Say what happened to a transaction (TX_...), an event (evt_...), a request (log_...), a check
of the receiver (chk_...), a reference, an order or a number: a timeline, the cause with
its code, and at most three steps. Codes stay as they are: docs/agents.md has all of them.
It also takes an id that the operator gave to one of the newest 100 transactions, such as
a receipt.

If the receiver answered the signature that it computed, the command finds out how it
computed it, with the secrets that are known on this machine. It prints none of them.`,
		Example: "  " + p.called("explain", "TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE") + "\n  " + p.called("explain", "order-1042 -o json"),
	}
	t := p.target(cmd, argument{name: "ID", required: true, complete: completeExplained})
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			found, err := s.explainer(p, api).Explain(ctx, rest[0])
			if err != nil {
				return orRefused(err)
			}
			return o.print(cmd.OutOrStdout(), found, []string{found.Cause}, func(out io.Writer) { s.printExplanation(out, found) })
		})
	}
	return cmd
}

// orRefused returns an error of package explain with the exit code that it has.
func orRefused(err error) error {
	var missing *explain.NotFoundError
	if errors.As(err, &missing) {
		return refusedError{codedError{err, "not_found"}}
	}
	return err
}

// explainer returns what explains what happened in the sandbox.
func (s *sandbox) explainer(p *program, api *sandboxapi.Client) *explain.Explainer {
	return &explain.Explainer{API: api, Secrets: s.secrets(), Now: p.now}
}

// secrets returns the secrets of the sandbox that are known on this machine, by the names of their variables.
func (s *sandbox) secrets() map[string]string {
	known := map[string]string{variableAPIKey: s.apiKey, variableSecret: s.secret}
	if s.cluster == nil && s.target.envFile != "" {
		if values, err := ReadEnvFile(s.target.envFile); err == nil { // without the file there are fewer secrets to try
			maps.Copy(known, values)
		}
	}
	maps.DeleteFunc(known, func(_, value string) bool { return value == "" || strings.Contains(value, "://") })
	return known
}

func (s *sandbox) printExplanation(out io.Writer, e *explain.Explanation) {
	Fprintf(out, "%s\n", e.Summary)
	if e.Cause != "" {
		Fprintf(out, "Cause  %s\n", strings.Join(append([]string{e.Cause}, e.Also...), ", "))
	}
	if len(e.Timeline) > 0 {
		Fprintf(out, "\n")
	}
	for i := range e.Timeline {
		m := &e.Timeline[i]
		at := strings.Repeat(" ", len(time.DateTime))
		if m.At != "" {
			at = clockTime(m.At)
		}
		Fprintf(out, "%s  %-10s  %s\n", at, m.What, m.Text)
		if m.Said != "" {
			Fprintf(out, "%s  %-10s  > %s\n", strings.Repeat(" ", len(time.DateTime)), "", shortened(Printable(m.Said), bodyShown))
		}
	}
	s.printSteps(out, e.Next)
}

// printSteps prints what to do.
func (s *sandbox) printSteps(out io.Writer, steps []explain.Step) {
	for i := range steps {
		step := &steps[i]
		switch {
		case step.Command != "":
			Fprintf(out, "\n%s:\n  %s\n", step.Because, s.typed(step.Command))
		case step.Change != "":
			Fprintf(out, "\n%s\n", step.Change)
		}
	}
}

// completeExplained completes the newest transactions and events.
func completeExplained(ctx context.Context, s *sandbox, typed string) []string {
	if strings.HasPrefix(typed, "evt") {
		return completeEvents(ctx, s, typed)
	}
	if strings.HasPrefix(typed, "log") {
		return completeRequests(ctx, s, typed)
	}
	return completePayments(nil)(ctx, s, typed)
}

// diagnosed prints why a receiver refuses an event: how it computed another signature.
func (s *sandbox) diagnosed(ctx context.Context, out io.Writer, o output, x *explain.Explainer, event, computed string) error {
	d, err := x.DiagnoseSignature(ctx, event, explain.Captured{Computed: computed})
	if err != nil {
		return err
	}
	err = o.print(out, d, []string{d.Cause}, func(out io.Writer) {
		if !d.Negative() {
			Fprintf(out, "ok       %s\n", d.Summary)
			return
		}
		Fprintf(out, "FAILED   %s\nCause    %s\n", d.Summary, strings.Join(append([]string{d.Cause}, d.Also...), ", "))
		s.printSteps(out, d.Next)
	})
	if err != nil || !d.Negative() {
		return err
	}
	return negative("wrong_signature", "the signature is not that of %s: %s", event, d.Cause)
}
