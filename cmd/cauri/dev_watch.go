package main

import (
	"context"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

// applyAgain reads and applies the files again. If they are invalid, it prints the errors and changes nothing.
func (d *dev) applyAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, devReadyTimeout)
	defer cancel()
	manifests, err := d.options.manifests(ctx)
	if err != nil {
		d.console.say("Nothing was changed:\n%s", cli.Complaint(err))
		return
	}
	changes, err := d.resources.Apply(ctx, manifests)
	for _, change := range changes {
		if change.Action != "unchanged" {
			d.console.say("%s", change)
		}
	}
	if err == nil {
		err = d.awaitReady(ctx)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		d.console.say("Not ready:\n%s", cli.Complaint(err))
	default:
		d.tellVariables()
	}
}

// tellVariables writes the file of --env-file again if an operator, a name or a key of the sandbox has changed.
func (d *dev) tellVariables() {
	changed, err := d.writeEnvFile(d.sandboxes())
	if err != nil {
		d.console.say("%s is as before: %v", d.options.envFile, err)
	} else if changed {
		d.console.say("%s has other variables: read it again.", d.options.envFile)
	}
}
