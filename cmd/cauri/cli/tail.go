package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
)

func (p *program) tailCommand() *cobra.Command {
	var kinds []string
	var requests bool
	var format string
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print a line for each transaction, event and attempt to deliver an event, as they happen",
		Long: `Print a line for each transaction, event and attempt to deliver an event, as they
happen, until Ctrl-C. What happened before is not printed: see events, and status.

A transaction is printed when it is made, and again when it is final. --requests
prints the requests to the API too, also those that succeed.`,
		Example: "  " + p.called("tail", "") + "\n  " + p.called("tail", "--requests") + "\n  " + p.called("tail", "--types=transaction -o json"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&kinds, "types", allKinds, "what to print: transaction, event, attempt")
	flags.BoolVar(&requests, "requests", false, "print each request to the API too, about a second after its answer")
	flags.StringVarP(&format, "output", "o", "", "json prints one JSON object a line")
	choose(cmd, "types", allKinds...)
	choose(cmd, "output", formatJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, kind := range kinds {
			if !slices.Contains(allKinds, kind) {
				return usage(fmt.Errorf("--types=%s: write some of transaction,event,attempt", kind))
			}
		}
		if format != "" && format != formatJSON {
			return usage(fmt.Errorf("--output=%s: write json, or leave it out for lines to read", format))
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
			fmt.Fprintf(cmd.ErrOrStderr(), "Following the sandbox %s. Ctrl-C ends it.\n", s)
			from := []changes{p.newChanges(api)}
			if requests {
				from, kinds = append(from, p.newRequestLog(api)), append(kinds, kindRequest)
			}
			return p.tail(ctx, from, cmd.OutOrStdout(), kinds, format)
		})
	}
	return cmd
}

var allKinds = []string{kindTransaction, kindEvent, kindAttempt}

// tail prints changes until ctx ends.
func (p *program) tail(ctx context.Context, from []changes, out io.Writer, kinds []string, format string) error {
	var mutex sync.Mutex // of out
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	tell := func(c change) error {
		mutex.Lock()
		defer mutex.Unlock()
		switch {
		case !slices.Contains(kinds, c.Kind):
		case format == formatJSON:
			return encoder.Encode(c)
		default:
			printLine(out, p.now(), c.line())
		}
		return nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var following sync.WaitGroup
	for _, one := range from {
		following.Go(func() { stop(one.Follow(ctx, tell)) })
	}
	following.Wait()
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // by Ctrl-C
}
