package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/server/payments"
)

// envFileOfDev is the file that `cauri mcp --dev` writes, which commands find.
const envFileOfDev = ".env.cauri"

// mcpFlags declares the flags of `cauri mcp --dev`, which are some of `cauri dev`.
func (o *devOptions) mcpFlags(cmd *cobra.Command) {
	var all devOptions
	dev := &cobra.Command{}
	all.flags(dev) // the defaults of the others
	*o = all
	o.envFile, o.orFreePort = envFileOfDev, true
	flags := cmd.Flags()
	flags.StringSliceVarP(&o.files, "file", "f", nil, "with --dev: file or folder with the resources, as for kubectl apply; empty: a sample")
	flags.StringVar(&o.country, "country", "", "with --dev: country of the sample: "+payments.OneOf(payments.Countries))
	flags.StringVar(&o.webhookURL, "webhook-url", "", "with --dev: URL that gets the events of sandboxes without spec.webhook")
	flags.StringVar(&o.data, "data", "", "with --dev: folder that keeps the data; empty: they end with the command")
}

// checkMCP returns the errors in the flags.
func (o *devOptions) checkMCP(startsDev bool) error {
	if !startsDev {
		if len(o.files) > 0 || o.data != "" {
			return errors.New("--file and --data are for the sandbox that --dev starts: add --dev, or leave them out")
		}
		return nil
	}
	return o.check()
}

// cutLong splits the help of a command before what is about --dev.
func cutLong(text string) (before, after string, found bool) {
	return strings.Cut(text, "\n\nWith --dev")
}

// ownDev is the sandbox that `cauri mcp --dev` starts. It ends with the process.
type ownDev struct {
	options devOptions
	ctx     context.Context
	stop    context.CancelFunc

	mutex   sync.Mutex
	ready   chan struct{} // closed when the sandbox is ready; nil: it was not started, or has ended
	ended   chan struct{} // closed when it has ended
	problem error         // why it ended
}

func newOwnDev(ctx context.Context, o devOptions) *ownDev {
	d := &ownDev{options: o}
	d.ctx, d.stop = context.WithCancel(ctx)
	return d
}

// start starts the sandbox if it does not run, and waits until it is ready. The sandbox outlives ctx.
func (d *ownDev) start(ctx context.Context) error {
	ready, ended := d.begin()
	select {
	case <-ready:
		return nil
	case <-ended:
		d.mutex.Lock()
		defer d.mutex.Unlock()
		if d.problem == nil {
			return errors.New("it ended")
		}
		return d.problem
	case <-ctx.Done():
		return fmt.Errorf("it is not ready yet: %w", ctx.Err())
	}
}

func (d *ownDev) begin() (ready, ended chan struct{}) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if d.ready != nil {
		return d.ready, d.ended
	}
	ready, ended = make(chan struct{}), make(chan struct{})
	d.ready, d.ended = ready, ended
	o := d.options
	o.whenReady = func() { close(ready) }
	go func() {
		err := runDev(d.ctx, o, newDevConsole(os.Stderr, strings.NewReader("")))
		d.mutex.Lock()
		d.problem, d.ready = err, nil
		d.mutex.Unlock()
		close(ended)
	}()
	return ready, ended
}

// end stops the sandbox and waits for its end.
func (d *ownDev) end() error {
	d.stop()
	d.mutex.Lock()
	ended := d.ended
	d.mutex.Unlock()
	if ended == nil {
		return nil
	}
	<-ended
	return d.problem
}
