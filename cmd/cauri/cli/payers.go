package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// payer is a test client with its prompts.
type payer struct {
	wire.TestClient
	Prompts []wire.Prompt `json:"prompts,omitempty"`
}

// promptsShown is the maximum number of prompts of a payer in a list.
const promptsShown = 20

func (p *program) payersCommand() *cobra.Command {
	var o output
	var page paging
	cmd := &cobra.Command{
		Use:   "payers",
		Short: "List the test clients, and the payments that wait for their answers",
		Long: `List the test clients, and the payments that wait for their answers. Answer with
approve, cancel or wrong-pin.`,
		Example: "  " + p.called("payers", "") + "\n  " + p.called("payers", "-o json"),
	}
	t := p.target(cmd)
	page.add(cmd, pageShown)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(), page.check()); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			found, err := api.PayerList(ctx, page.of(url.Values{}), page.most())
			if err != nil {
				return err
			}
			all := sandboxapi.List[payer]{Data: make([]payer, len(found.Data)), NextCursor: found.NextCursor, HasMore: found.HasMore}
			for i := range found.Data {
				one := &all.Data[i]
				one.TestClient = found.Data[i]
				if one.PendingPrompts > 0 {
					if one.Prompts, err = api.Prompts(ctx, one.MSISDN, promptsShown); err != nil {
						return err
					}
				}
			}
			if err := p.tellTime(ctx, api, cmd.ErrOrStderr(), &o); err != nil {
				return err
			}
			msisdn := func(one *payer) string { return one.MSISDN }
			return printList(cmd, &o, all, msisdn, func(out io.Writer) { printPayers(out, all.Data) })
		})
	}
	return cmd
}

func printPayers(out io.Writer, all []payer) {
	if len(all) == 0 {
		Fprintf(out, "There are no test clients. Apply a TestClient, or pay from a test number.\n")
		return
	}
	var rows, prompts [][]string
	for i := range all {
		one := &all[i]
		rows = append(rows, []string{one.MSISDN, one.Name, one.Operator + "/" + one.Country, one.State, one.Behavior,
			money(one.Balance, one.Currency), strconv.FormatInt(one.PendingPrompts, 10)})
		for _, prompt := range one.Prompts {
			prompts = append(prompts, []string{prompt.ID, one.MSISDN, money(prompt.CustomerTotal, prompt.Currency), prompt.Reference,
				clockTime(prompt.ExpiresAt)})
		}
	}
	table(out, Table{
		Titles: "NUMBER NAME OPERATOR STATE BEHAVIOR BALANCE WAITING", Rows: rows, Shorten: "NAME", Drop: "STATE OPERATOR",
	})
	if len(prompts) > 0 {
		Fprintf(out, "\n")
		table(out, Table{Titles: "WAITING NUMBER PAYS REFERENCE EXPIRES", Rows: prompts, Shorten: "REFERENCE", Drop: "EXPIRES"})
	}
}

func (p *program) approveCommand() *cobra.Command {
	return p.answerCommand("approve", "approve", "Answer a payment's prompt as the payer: confirm it with the right PIN")
}

func (p *program) cancelCommand() *cobra.Command {
	return p.answerCommand("cancel", "cancel", "Answer a payment's prompt as the payer: decline it")
}

func (p *program) wrongPINCommand() *cobra.Command {
	return p.answerCommand("wrong-pin", "wrong_pin", "Answer a payment's prompt as the payer: enter a wrong PIN")
}

// answerCommand returns a command that answers a prompt.
func (p *program) answerCommand(name, answer, short string) *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Long: short + `.

PAYMENT is the id of a payment that waits, or the number of a test client with only
one payment that waits.`,
		Example: "  " + p.called(name, "TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE") + "\n  " + p.called(name, "+2250700000001"),
	}
	pending := url.Values{"type": {"collection"}, "status": {"PENDING"}}
	t := p.target(cmd, argument{name: "PAYMENT", required: true, complete: completePayments(pending), form: likelyMSISDN})
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, rest []string) error {
			msisdn, id, err := prompt(ctx, api, rest[0])
			if err != nil {
				return err
			}
			answered, err := api.Answer(ctx, msisdn, id, answer)
			if err != nil {
				return err
			}
			if err := p.tellTime(ctx, api, cmd.ErrOrStderr(), &o); err != nil {
				return err
			}
			return o.print(cmd.OutOrStdout(), answered, []string{answered.ID}, func(out io.Writer) {
				printLine(out, paymentTime(&answered), paymentLine(&answered))
			})
		})
	}
	return cmd
}

// prompt returns the prompt that an id or a phone number identifies.
func prompt(ctx context.Context, api *sandboxapi.Client, what string) (msisdn, id string, err error) {
	if !payments.ValidMSISDN(what) {
		found, err := api.Payment(ctx, what)
		if sandboxapi.IsNotFound(err) {
			err = fmt.Errorf("%w\nWrite the id of a payment, TX_ with 26 characters behind it, or the number of a test client with its +", err)
		}
		return found.MSISDN, what, err
	}
	waiting, err := api.Prompts(ctx, what, promptsShown)
	if err != nil {
		return "", "", err
	}
	switch len(waiting) {
	case 0:
		return "", "", refusedError{fmt.Errorf("no payment waits for %s", what)}
	case 1:
		return what, waiting[0].ID, nil
	}
	var ids []string
	for i := range waiting {
		ids = append(ids, waiting[i].ID)
	}
	return "", "", usage(fmt.Errorf("%d payments wait for %s: name one of %s", len(waiting), what, strings.Join(ids, ", ")))
}
