package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (p *program) clockCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clock",
		Short: "Show the time of a sandbox, or advance it",
		Long: `Show the time of a sandbox, or advance it. What becomes due on the way is done in its
order: pending payments settle or expire, events are sent and sent again.`,
	}
	cmd.AddCommand(p.clockShowCommand(), p.clockAdvanceCommand())
	return cmd
}

func (p *program) clockShowCommand() *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use: "show", Short: "Show the time of a sandbox, and what is due next",
		Example: "  " + p.called("clock show", ""),
	}
	t := p.target(cmd)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			found, err := api.Clock(ctx)
			if err != nil {
				return err
			}
			return o.print(cmd.OutOrStdout(), found, []string{found.Now}, func(out io.Writer) {
				table(out, Table{Titles: "MODE NOW NEXT TRANSACTIONS EVENTS", Rows: [][]string{{found.Mode, clockTime(found.Now),
					optional(found.NextDueAt, clockTime), strconv.Itoa(found.Due.Transactions), strconv.Itoa(found.Due.Events)}}})
				if found.Target != nil {
					Fprintf(out, "It is being advanced to %s.\n", clockTime(*found.Target))
				}
			})
		})
	}
	return cmd
}

func (p *program) clockAdvanceCommand() *cobra.Command {
	var o output
	var by time.Duration
	var to string
	var next bool
	var timeout time.Duration
	cmd := &cobra.Command{
		Use: "advance", Short: "Advance the time of a sandbox, and do what becomes due",
		Example: "  " + p.called("clock advance", "--by=61m") + "\n  " + p.called("clock advance", "--to=2026-12-01T00:00:00Z") + "\n  " +
			p.called("clock advance", "--next"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.DurationVar(&by, "by", 0, "how far, such as 61m or 24h")
	flags.StringVar(&to, "to", "", "to when, such as 2026-12-01T00:00:00Z")
	flags.BoolVar(&next, "next", false, "to the moment at which something is due next")
	flags.DurationVar(&timeout, "timeout", 10*time.Minute, "how long to wait until everything is done")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		request, err := advanceRequest(by, to, next)
		if err = errors.Join(err, o.check()); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			done, err := p.advance(ctx, api, cmd.ErrOrStderr(), request, timeout)
			if err != nil {
				return err
			}
			return o.print(cmd.OutOrStdout(), done, []string{done.Now}, func(out io.Writer) {
				table(out, Table{Titles: "NOW SETTLED EXPIRED DELIVERED FAILED-ATTEMPTS", Rows: [][]string{{clockTime(done.Now),
					strconv.FormatInt(done.Settled, 10), strconv.FormatInt(done.Expired, 10), strconv.FormatInt(done.Delivered, 10),
					strconv.FormatInt(done.FailedAttempts, 10)}}})
			})
		})
	}
	return cmd
}

func advanceRequest(by time.Duration, to string, next bool) (r wire.AdvanceRequest, err error) {
	given := 0
	if by != 0 {
		given, r.By = given+1, by.String()
	}
	if to != "" {
		given, r.To = given+1, to
		if _, err := time.Parse(time.RFC3339, to); err != nil {
			return r, usage(fmt.Errorf("--to=%s: write a time like 2026-12-01T00:00:00Z", to))
		}
	}
	if next {
		given, r.To = given+1, "nextDue"
	}
	switch {
	case given != 1:
		return r, usage(errors.New("say how far: one of --by=61m, --to=2026-12-01T00:00:00Z and --next"))
	case by < 0:
		return r, usage(fmt.Errorf("--by=%s: a sandbox's time never goes back: write how far ahead, such as 61m", by))
	}
	return r, nil
}

// advanceWait is the time for which one request waits for the end of an advance.
const advanceWait = 30 * time.Second

// advance advances the clock and waits for the end of the advance. It prints progress on a terminal.
func (p *program) advance(
	ctx context.Context, api *sandboxapi.Client, progress io.Writer, r wire.AdvanceRequest, timeout time.Duration,
) (wire.Advanced, error) {
	soon, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r.Wait = min(advanceWait, timeout).Round(time.Millisecond).String()
	for {
		made, target, err := api.Advance(soon, r)
		if err != nil && soon.Err() != nil {
			return made, kube.Because(cmp.Or(ctx.Err(), context.DeadlineExceeded), "the clock is not there yet and goes on: `%s` shows how far it is",
				p.called("clock show", ""))
		}
		if err != nil || target == "" {
			return made, err
		}
		r.By, r.To = "", target // the next request waits for the same advance
		if terminal(progress) {
			Fprintf(progress, "at %s, on the way to %s\n", clockTime(made.Now), clockTime(target))
		}
	}
}
