package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

func (p *program) tailCommand() *cobra.Command {
	var types []string
	var requests bool
	var lines lineOutput
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print a line for each transaction, event and attempt to deliver an event, as they happen",
		Long: `Print a line for each transaction, event and attempt to deliver an event, and for each
change of the clock and of the faults that are set, as they happen, until Ctrl-C. What
happened before is not printed: see events, and status. The faults that are set are
printed at the start too. Times are those of the sandbox's clock.

A transaction is printed when it is made, and again when it is final. --requests
prints the requests to the API too, also those that succeed. If the connection is
lost, the command connects again and prints what happened meanwhile.`,
		Example: "  " + p.called("tail", "") + "\n  " + p.called("tail", "--requests") + "\n  " + p.called("tail", "--types=transaction -o json"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&types, "types", allTypes, "what to print: transaction, event, attempt, clock, faults")
	flags.BoolVar(&requests, "requests", false, "print each request to the API too, about a second after its answer")
	lines.add(cmd)
	completeFlag(cmd, "types", allTypes...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(checkTail(types), lines.check()); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
			say := printerTo(cmd.ErrOrStderr())
			clock, err := p.readTime(ctx, api)
			if err != nil {
				return err
			}
			ready := func() {
				say("Following the sandbox %s. Ctrl-C ends it.", s)
				if note := clock.note(); note != "" {
					say("%s", note)
				}
			}
			from := []changes{p.newChanges(api, withClock(types), ready, say)}
			if requests {
				from = append(from, p.newRequestLog(api))
			}
			out := cmd.OutOrStdout()
			return tail(ctx, from, clock, func(c change) error {
				switch {
				case c.Type != typeRequest && !slices.Contains(types, c.Type):
				case lines.json():
					return printJSON(out, c)
				default:
					printLine(out, c.time(clock), c.line(clock))
				}
				return nil
			})
		})
	}
	return cmd
}

// checkTail checks the flag --types.
func checkTail(types []string) error {
	for _, one := range types {
		if !slices.Contains(allTypes, one) {
			return usage(fmt.Errorf("--types=%s: write some of %s", one, strings.Join(allTypes, ",")))
		}
	}
	return nil
}

// allTypes are the types of the stream's changes that `cauri tail` prints.
var allTypes = []string{typeTransaction, typeEvent, typeAttempt, typeClock, typeFaults}

// withClock adds the type of clock changes to types, because the printed sandbox time depends on the clock.
func withClock(types []string) []string {
	if slices.Contains(types, typeClock) {
		return types
	}
	return append(slices.Clip(types), typeClock)
}

// tail follows all streams concurrently, until ctx ends or a stream fails. It calls tell for one change at a time. It
// updates the parameter clock when a sandbox's clock changes.
func tail(ctx context.Context, streams []changes, clock *sandboxTime, tell func(change) error) error {
	var mutex sync.Mutex
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var following sync.WaitGroup
	for _, one := range streams {
		if s, is := one.(*stream); is {
			s.clock = clock // updated when the stream reads the clock after a reset
		}
		following.Go(func() {
			stop(one.Follow(ctx, func(c change) error {
				mutex.Lock()
				defer mutex.Unlock()
				if c.Clock != nil {
					clock.set(c.Clock)
				}
				return tell(c)
			}))
		})
	}
	following.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // the user pressed Ctrl-C
}

// Tail calls tell with the line of `cauri tail` for each change in a sandbox, until ctx ends. It calls ready when the
// stream is ready. The argument note of ready describes the sandbox's clock; it is empty for real time.
func Tail(ctx context.Context, api *sandboxapi.Client, ready func(note string), tell func(at time.Time, line Line)) error {
	p := &program{now: time.Now, poll: time.Second}
	say := func(format string, args ...any) { slog.Debug(fmt.Sprintf(format, args...)) }
	clock, err := p.readTime(ctx, api)
	if err != nil {
		return err
	}
	from := p.newChanges(api, allTypes, func() { ready(clock.note()) }, say)
	return tail(ctx, []changes{from}, clock, func(c change) error {
		tell(c.time(clock), c.line(clock))
		return nil
	})
}
