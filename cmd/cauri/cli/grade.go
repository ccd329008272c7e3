package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/grade"
	"github.com/cauri-dev/cauri/server/httpapi/view/offline"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// gradeOptions are the flags of the command.
type gradeOptions struct {
	output
	signingSecret
	receiver, tx, junit string
	allow, github       bool
}

func (p *program) gradeCommand() *cobra.Command {
	var o gradeOptions
	cmd := &cobra.Command{
		Use:   "grade",
		Short: "Grade a receiver of webhooks by its answers to genuine and forged events",
		Long: `Grade a receiver of webhooks by its answers to genuine and forged events, from A to F.
The payments of these events do not exist, unless --tx names one that the receiver knows.

With --receiver, this machine sends the events, signed with the secret of the receiver.
Otherwise the sandbox sends them to its own webhook URL. The exit code is 5 for any letter
but A and B, and if there is none.`,
		Example: "  cauri grade --receiver=localhost:3000/webhooks --secret-file=secret.txt\n  " +
			p.called("grade", "--junit=grade.xml") + "\n  " + p.called("grade", "--tx=TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.receiver, "receiver", "", "URL of your program, such as localhost:3000/webhooks; empty: the webhook of the sandbox")
	flags.StringVar(&o.tx, "tx", "", "id of a collection that the receiver knows, for one that refuses unknown payments")
	flags.BoolVar(&o.allow, "allow", false, "with --tx: also send the event of a refund of this payment that did not happen")
	flags.StringVar(&o.junit, "junit", "", "file for a report in the format of JUnit")
	flags.BoolVar(&o.github, "github", false, "add a table to the job summary of GitHub Actions")
	o.signingSecret.add(cmd)
	o.output.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		summary, err := summaryFile(o.github)
		if err = errors.Join(err, o.check()); err != nil {
			return err
		}
		check, err := p.grade(cmd, t, &o, args)
		if err != nil { // the files of an earlier run would look like this one's
			none := &wire.ReceiverCheck{Summary: new(Message(err))}
			return errors.Join(err, o.writeReports(summary, none))
		}
		table := func(out io.Writer) { printCard(out, check) }
		if err := o.print(cmd.OutOrStdout(), check, []string{cmp.Or(optional(check.Letter, identity), "-")}, table); err != nil {
			return err
		}
		return errors.Join(o.writeReports(summary, check), gradeFailure(check))
	}
	return cmd
}

// writeReports writes the files that the flags ask for.
func (o *gradeOptions) writeReports(summary string, c *wire.ReceiverCheck) error {
	letter, sentence := optional(c.Letter, identity), optional(c.Summary, identity)
	rows := append([][]string{{cmp.Or(letter, "no grade"), "the receiver", "a letter from A to F", sentence}}, cardRows(c)...)
	return errors.Join(writeJUnit(o.junit, grade.Report(letter, sentence, linesOf(c))),
		addSummary(summary, "outcome line expects observed", rows))
}

// grade runs a check on this machine or in the sandbox.
func (p *program) grade(cmd *cobra.Command, t *target, o *gradeOptions, args []string) (check *wire.ReceiverCheck, err error) {
	if o.receiver == "" {
		return check, t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			check, err = p.gradeBySandbox(ctx, api, o)
			return err
		})
	}
	if o.receiver, err = programURL("receiver", o.receiver); err != nil {
		return nil, err
	}
	options := grade.Options{
		Allow: o.allow, Now: p.now,
		Send: grade.Through(webhooks.NewSender(egress.Guard{AllowLoopback: true}, p.Version, p.now), o.receiver),
	}
	var of *sandbox
	if options.Secret, of, err = o.find(cmd.Context(), t, args); err != nil {
		return nil, err
	}
	if o.tx == "" {
		if of == nil && t.sandbox == "" && t.addressed() { // the secret is of a flag
			of, _, _ = t.find(cmd.Context(), args)
		}
		if of != nil {
			options.In = of.firstMarket(cmd.Context())
		}
		return runGrade(cmd.Context(), options)
	}
	id, err := payments.ParseID(o.tx)
	if err != nil {
		return nil, usage(fmt.Errorf("--tx=%s: write the id of a payment, TX_ with 26 characters behind it", o.tx))
	}
	return check, t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
		event, err := api.Event(ctx, webhooks.EventID(id))
		if err != nil {
			return err
		}
		options.Known = &grade.Known{ID: id, Body: []byte(event.Body)}
		check, err = runGrade(ctx, options)
		return err
	})
}

// firstMarket returns the first environment of a sandbox; zero if it does not answer.
func (s *sandbox) firstMarket(ctx context.Context) (first grade.Market) {
	if s.resource != nil {
		for _, e := range s.resource.Spec.Environments {
			if e.Enabled == nil || *e.Enabled {
				return grade.Market{Operator: payments.Operator(e.Operator), Country: payments.Country(e.Country)}
			}
		}
		return first
	}
	soon, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if all, err := sandboxapi.New(s.uri, s.apiKey, nil).Numbers(soon); err == nil && len(all.Environments) > 0 {
		first.Operator, first.Country = payments.Operator(all.Environments[0].Operator), payments.Country(all.Environments[0].Country)
	}
	return first
}

func runGrade(ctx context.Context, o grade.Options) (*wire.ReceiverCheck, error) {
	card, err := grade.Run(ctx, o)
	if err != nil {
		return nil, err
	}
	check := &wire.ReceiverCheck{
		State: "finished", RequestedAt: payments.FormatTime(card.StartedAt), StartedAt: new(payments.FormatTime(card.StartedAt)),
		FinishedAt: new(payments.FormatTime(card.FinishedAt)), Lines: []wire.ReceiverLineView{},
	}
	offline.SetCard(check, card)
	return check, nil
}

// gradeBySandbox asks the sandbox for a check and waits for its end.
func (p *program) gradeBySandbox(ctx context.Context, api *sandboxapi.Client, o *gradeOptions) (*wire.ReceiverCheck, error) {
	check, err := api.CheckReceiver(ctx, wire.ReceiverCheckRequest{TxID: o.tx, Allow: o.allow})
	for err == nil && check.FinishedAt == nil {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(p.await):
		}
		check, err = api.ReceiverCheck(ctx, check.ID)
	}
	if err == nil && check.Problem != nil {
		err = refusedError{errors.New(*check.Problem)}
	}
	return &check, err
}

func linesOf(c *wire.ReceiverCheck) (all []grade.LineText) {
	for _, l := range c.Lines {
		all = append(all, grade.LineText{
			ID: l.ID, What: l.What, Expects: l.Expects, Observed: l.Observed, Advice: l.Why + " " + l.Fix, Outcome: grade.Outcome(l.Outcome),
		})
	}
	return all
}

func cardRows(c *wire.ReceiverCheck) (rows [][]string) {
	for _, l := range c.Lines {
		rows = append(rows, []string{l.Outcome, l.What, l.Expects, l.Observed})
	}
	return rows
}

// printCard prints the letter, the lines, and what to do about those that failed.
func printCard(out io.Writer, c *wire.ReceiverCheck) {
	Fprintf(out, "Grade: %s. %s\n\n", cmp.Or(optional(c.Letter, identity), "none"), optional(c.Summary, identity))
	table(out, Table{Titles: "OUTCOME LINE EXPECTS OBSERVED", Rows: cardRows(c), Shorten: "OBSERVED LINE"})
	for _, l := range c.Lines {
		if l.Outcome == string(grade.Failed) {
			Fprintf(out, "\n%s: %s %s\n", l.ID, l.Why, l.Fix)
		}
	}
}

// gradeFailure returns an error for any letter but A and B, and if there is none.
func gradeFailure(c *wire.ReceiverCheck) error {
	var failed []string
	for _, l := range c.Lines {
		if l.Outcome == string(grade.Failed) && !l.Bonus {
			failed = append(failed, l.What)
		}
	}
	switch {
	case c.Letter == nil && len(c.Lines) > 1: // a program was reached
		return negative("no_grade", "there is no grade: %s Pass the id of one with --tx", optional(c.Summary, identity))
	case c.Letter == nil:
		return negative("no_grade", "there is no grade: %s", optional(c.Summary, identity))
	case len(failed) > 0: // B has failed bonus lines only
		return negative("bad_grade", "the grade is %s: %s failed", *c.Letter, strings.Join(failed, ", "))
	}
	return nil
}
