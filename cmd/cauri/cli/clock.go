package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

func (p *program) clockCommand() *cobra.Command {
	cmd := p.showClock(&cobra.Command{
		Use:   "clock",
		Short: "Show the time of a sandbox, or advance it",
		Long: `Show the time of a sandbox, or advance it. What becomes due on the way is done in its
order: pending payments settle or expire, events are sent and sent again. Without a
subcommand, show the time, as show does.`,
		Example: "  " + p.called("clock", ""),
	})
	cmd.AddCommand(p.showClock(&cobra.Command{
		Use: "show", Short: "Show the time of a sandbox, and what is due next",
		Example: "  " + p.called("clock show", ""),
	}), p.clockAdvanceCommand())
	return cmd
}

// showClock makes a command show the time of a sandbox.
func (p *program) showClock(cmd *cobra.Command) *cobra.Command {
	var o output
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
		Long: `Advance the time of a sandbox, and do what becomes due on the way. TIME is how far, such
as 61m, or to when, such as 2026-12-01T00:00:00Z: --by and --to say the same.`,
		Example: "  " + p.called("clock advance", "61m") + "\n  " + p.called("clock advance", "--to=2026-12-01T00:00:00Z") + "\n  " +
			p.called("clock advance", "--next"),
	}
	t := p.target(cmd, argument{name: "TIME", form: likelyTime})
	flags := cmd.Flags()
	flags.DurationVar(&by, "by", 0, "how far, such as 61m or 24h")
	flags.StringVar(&to, "to", "", "to when, such as 2026-12-01T00:00:00Z")
	flags.BoolVar(&next, "next", false, "to the moment at which something is due next")
	flags.DurationVar(&timeout, "timeout", 10*time.Minute, "how long to wait until everything is done")
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, rest := t.split(args)
		request, err := advanceRequest(rest, by, to, next)
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

// likelyTime matches the argument of `cauri clock advance`: a duration, or the beginning of a time.
var likelyTime = regexp.MustCompile(`^-?[0-9][0-9.]*(ms|s|m|h|d|w)?([0-9.]+(ms|s|m|h))*$|^[0-9]{4}-[0-9]{2}-`)

// advanceRequest returns the request for the argument, if there is one, or for the flag.
func advanceRequest(args []string, by time.Duration, to string, next bool) (r wire.AdvanceRequest, err error) {
	given := len(args)
	for _, arg := range args {
		if far, err := time.ParseDuration(arg); err == nil && far > 0 {
			r.By = far.String()
		} else if _, err := time.Parse(time.RFC3339, arg); err == nil {
			r.To = arg
		} else {
			return r, usage(fmt.Errorf("%q: write how far ahead, such as 61m or 24h, or a time like 2026-12-01T00:00:00Z", arg))
		}
	}
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
		return r, usage(errors.New("say how far: 61m, or one of --by=61m, --to=2026-12-01T00:00:00Z and --next"))
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
				p.called("clock", ""))
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
