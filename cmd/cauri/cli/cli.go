// Package cli is the commands with which people and scripts use sandboxes: `cauri status` and, as a plugin of kubectl,
// `kubectl cauri status`.
package cli

import (
	"context"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

// Options are what the program tells its commands.
type Options struct {
	// Plugin says that the program was called as a plugin of kubectl: the first argument of a command may be the name of its sandbox.
	Plugin  bool
	Version string
	// Serve serves HTTP at an address until ctx ends. The name is for messages.
	Serve  func(ctx context.Context, name, address string, handler http.Handler) error
	Folder string // in which a file with the sandbox is looked for; empty: the working folder
	// Config is the folder of what `cauri use` remembers; empty: cauri in the user's folder for configuration.
	Config string
}

// Groups of commands in the help.
const (
	GroupPayments = "payments"
	GroupWebhooks = "webhooks"
	GroupSandbox  = "sandbox"
	GroupInstall  = "installation"
)

// Groups are the titles in the help, in their order.
func Groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: GroupSandbox, Title: "A sandbox:"}, {ID: GroupPayments, Title: "Payments and payers:"},
		{ID: GroupWebhooks, Title: "Webhooks:"}, {ID: GroupInstall, Title: "The installation:"},
	}
}

// program makes the commands.
type program struct {
	Options
	now   func() time.Time
	poll  time.Duration // between two looks at what changes
	await time.Duration // between two looks at what a command waits for
}

// Commands are all commands of the package.
func Commands(o Options) []*cobra.Command {
	p := &program{Options: o, now: time.Now, poll: time.Second, await: 250 * time.Millisecond}
	return p.commands()
}

func (p *program) commands() []*cobra.Command {
	var all []*cobra.Command
	for _, group := range []struct {
		id       string
		commands []*cobra.Command
	}{
		{GroupSandbox, []*cobra.Command{
			p.listCommand(), p.useCommand(), p.statusCommand(), p.tailCommand(), p.requestsCommand(), p.clockCommand(), p.resetCommand(),
			p.suspendCommand(), p.resumeCommand(),
			p.rotateCommand(),
		}},
		{GroupPayments, []*cobra.Command{
			p.payCommand(), p.refundCommand(), p.payoutCommand(), p.payersCommand(), p.approveCommand(), p.cancelCommand(), p.wrongPINCommand(),
			p.ledgerCommand(),
		}},
		{GroupWebhooks, []*cobra.Command{p.eventsCommand(), p.resendCommand(), p.listenCommand(), p.verifyCommand()}},
		{GroupInstall, []*cobra.Command{p.checkCommand(), p.reportCommand()}},
	} {
		for _, command := range group.commands {
			command.GroupID = group.id
			all = append(all, command)
		}
	}
	return all
}

// called is how the user calls a command of this program, for examples and messages. The sandbox's name is in it.
func (p *program) called(command, rest string) string {
	text := "cauri " + command
	if p.Plugin {
		text = "kubectl cauri " + command + " checkout"
	}
	if rest != "" {
		text += " " + rest
	}
	return text
}
