// Package cli has the commands that use sandboxes, for people and scripts. They are called as `cauri status`, and as a
// plugin of kubectl as `kubectl cauri status`.
package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// Groups of commands in the help.
const (
	GroupPayments = "payments"
	GroupWebhooks = "webhooks"
	GroupSandbox  = "sandbox"
	GroupInstall  = "installation"
)

// Groups returns the groups of commands in the help, in their order.
func Groups() []*cobra.Group {
	return []*cobra.Group{
		{ID: GroupSandbox, Title: "A sandbox:"}, {ID: GroupPayments, Title: "Payments and payers:"},
		{ID: GroupWebhooks, Title: "Webhooks:"}, {ID: GroupInstall, Title: "The installation:"},
	}
}

// Commands returns all commands of the package.
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
			p.listCommand(), p.useCommand(), p.statusCommand(), p.explainCommand(), p.consoleCommand(), p.tailCommand(),
			p.requestsCommand(), p.apiCommand(), p.clockCommand(),
			p.faultsCommand(), p.storiesCommand(), p.storyCommand(), p.expectCommand(), p.resetCommand(), p.suspendCommand(),
			p.resumeCommand(), p.rotateCommand(),
		}},
		{GroupPayments, []*cobra.Command{
			p.payCommand(), p.refundCommand(), p.payoutCommand(), p.paymentsCommand(), p.payersCommand(), p.clientsCommand(),
			p.numbersCommand(), p.approveCommand(), p.cancelCommand(), p.wrongPINCommand(), p.ledgerCommand(),
		}},
		{GroupWebhooks, []*cobra.Command{p.eventsCommand(), p.resendCommand(), p.listenCommand(), p.verifyCommand(), p.gradeCommand()}},
		{GroupInstall, []*cobra.Command{p.checkCommand(), p.reportCommand()}},
	} {
		for _, command := range group.commands {
			command.GroupID = group.id
			quietForPrograms(command)
			all = append(all, DecimalFlags(command))
		}
	}
	return all
}
