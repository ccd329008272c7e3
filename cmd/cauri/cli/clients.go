package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

var (
	behaviors    = payments.Texts([]payments.Behavior{payments.Approve, payments.Cancel, payments.WrongPIN, payments.Ignore, payments.Manual})
	clientStates = []string{wire.StateActive, wire.StateBlocked}
)

func (p *program) clientsCommand() *cobra.Command {
	var o output
	var page paging
	cmd := &cobra.Command{
		Use:        "clients",
		SuggestFor: []string{"testclients", "test_clients", "test-clients"},
		Short:      "List the test clients, add one, change one, or remove one",
		Long: `List the test clients by their numbers: what each does when it is asked to pay, and
what it has. With NUMBER, show one. payers lists those who are asked now.`,
		Example: "  " + p.called("clients", "") + "\n  " + p.called("clients", "+250788123456 -o json"),
	}
	t := p.target(cmd, argument{name: "NUMBER", complete: completePayers, form: likelyMSISDN})
	page.add(cmd, pageShown)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(), page.check(), t.checkNumber(args)); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			if len(rest) == 1 {
				one, err := api.Payer(ctx, rest[0])
				if err != nil {
					return err
				}
				return o.printClient(cmd, &one, "")
			}
			found, err := api.PayerList(ctx, page.of(url.Values{}), page.most())
			if err != nil {
				return err
			}
			msisdn := func(one *wire.TestClient) string { return one.MSISDN }
			return printList(cmd, &o, found, msisdn, func(out io.Writer) { s.printClients(out, found.Data) })
		})
	}
	cmd.AddCommand(p.addClientCommand(), p.changeClientCommand(), p.removeClientCommand())
	return cmd
}

// checkNumber returns an error if the argument NUMBER of a command is no number with its country code.
func (t *target) checkNumber(args []string) error {
	_, rest := t.split(args)
	if len(rest) == 1 && !international.MatchString(rest[0]) {
		return usage(fmt.Errorf("%q is no number: write it with + and the code of its country, digits only: %s", rest[0], callingCodes()))
	}
	return nil
}

func (s *sandbox) printClients(out io.Writer, all []wire.TestClient) {
	if len(all) == 0 {
		Fprintf(out, "There are no test clients. To add one:\n  %s\nThere may be test numbers:\n  %s\n",
			s.command("clients add", "NUMBER --name=alice --balance=50000"), s.command("numbers", ""))
		return
	}
	printClientTable(out, all)
}

func printClientTable(out io.Writer, all []wire.TestClient) {
	t := Table{Titles: "NUMBER NAME OPERATOR STATE BEHAVIOR BALANCE SOURCE", Shorten: "NAME", Drop: "SOURCE OPERATOR"}
	for i := range all {
		one := &all[i]
		t.Rows = append(t.Rows, []string{one.MSISDN, one.Name, one.Operator + "/" + one.Country, one.State, one.Behavior,
			money(one.Balance, one.Currency), one.Source})
	}
	table(out, t)
}

// printClient prints a test client, for people with a sentence about it.
func (o *output) printClient(cmd *cobra.Command, one *wire.TestClient, said string) error {
	return o.print(cmd.OutOrStdout(), one, []string{one.MSISDN}, func(out io.Writer) {
		printClientTable(out, []wire.TestClient{*one})
		if said != "" {
			Fprintf(out, "\n%s\n", said)
		}
	})
}

// clientFlags are the flags of `cauri clients add` and `change`.
type clientFlags struct {
	name, behavior, state, operator, country string
	balance                                  int64
	output
	given func(flag string) bool
}

func (f *clientFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.name, "name", "", "for people: who it is")
	flags.Int64Var(&f.balance, "balance", 0, "what it has, in whole units of the currency")
	flags.StringVar(&f.behavior, "behavior", behaviors[0], "what its holder does when asked to confirm a payment: "+payments.OneOf(behaviors))
	flags.StringVar(&f.state, "state", clientStates[0], payments.OneOf(clientStates)+"; a blocked number can neither pay nor be paid")
	completeFlag(cmd, "behavior", behaviors...)
	completeFlag(cmd, "state", clientStates...)
	f.output.add(cmd)
	f.given = flags.Changed
}

// check corrects the case of the values.
func (f *clientFlags) check() error {
	for _, one := range []struct {
		flag    string
		value   *string
		allowed []string
	}{
		{"behavior", &f.behavior, behaviors}, {"state", &f.state, clientStates},
	} {
		i := slices.IndexFunc(one.allowed, func(allowed string) bool { return strings.EqualFold(allowed, *one.value) })
		if i < 0 {
			return usage(fmt.Errorf("--%s=%s: write one of %s", one.flag, *one.value, strings.Join(one.allowed, ", ")))
		}
		*one.value = one.allowed[i]
	}
	if f.balance < 0 {
		return usage(fmt.Errorf("--balance=%d: write 0 or more", f.balance))
	}
	return f.output.check()
}

func (p *program) addClientCommand() *cobra.Command {
	var f clientFlags
	cmd := &cobra.Command{
		Use: "add", Short: "Add a test client",
		Long: `Add a test client. It stays until it is removed or the sandbox is reset. The sandbox
has to allow it (spec.api.testClients), as every sandbox of cauri dev does.`,
		Example: "  " + p.called("clients add", "+250788123456 --name=alice --balance=50000") + "\n  " +
			p.called("clients add", "+250788123457 --behavior=Manual"),
	}
	t := p.target(cmd, argument{name: "NUMBER", required: true, form: likelyMSISDN})
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.operator, "operator", "", payments.OneOf(payments.Operators)+"; empty: that of the number")
	flags.StringVar(&f.country, "country", "", payments.OneOf(payments.Countries)+"; empty: that of the number")
	withoutVariable(cmd, "country", "operator") // the number decides, and CAURI_COUNTRY is the country of a new sandbox
	completeFlag(cmd, "operator", payments.Texts(payments.Operators)...)
	completeFlag(cmd, "country", payments.Texts(payments.Countries)...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(f.check(), t.checkNumber(args)); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			made, err := api.AddPayer(ctx, wire.TestClientRequest{
				MSISDN: rest[0], Name: f.name, Operator: strings.ToLower(f.operator), Country: strings.ToUpper(f.country), State: f.state,
				Balance: &f.balance, Behavior: f.behavior,
			})
			var refused *sandboxapi.RefusedError
			if errors.As(err, &refused) && refused.Code == "duplicate_msisdn" {
				return fmt.Errorf("%w To change it: `%s`", err, s.command("clients change", rest[0]))
			}
			if err != nil {
				return err
			}
			return f.printClient(cmd, &made, "")
		})
	}
	return cmd
}

func (p *program) changeClientCommand() *cobra.Command {
	var f clientFlags
	cmd := &cobra.Command{
		Use: "change", Short: "Change a test client that was added",
		Long: `Change a test client that was added. What no flag names stays as it is. A test client of
a TestClient resource is changed there.`,
		Example: "  " + p.called("clients change", "+250788123456 --balance=0") + "\n  " +
			p.called("clients change", "+250788123456 --state=Blocked"),
	}
	t := p.target(cmd, argument{name: "NUMBER", required: true, complete: completePayers, form: likelyMSISDN})
	f.add(cmd)
	for _, flag := range []string{"behavior", "state"} {
		cmd.Flags().Lookup(flag).DefValue = "" // it stays as it is
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(f.check(), t.checkNumber(args)); err != nil {
			return err
		}
		var patch wire.TestClientPatch
		for _, one := range []struct {
			flag  string
			value *string
			into  **string
		}{{"name", &f.name, &patch.Name}, {"behavior", &f.behavior, &patch.Behavior}, {"state", &f.state, &patch.State}} {
			if f.given(one.flag) {
				*one.into = one.value
			}
		}
		if f.given("balance") {
			patch.Balance = &f.balance
		}
		if patch == (wire.TestClientPatch{}) {
			return usage(errors.New("nothing to change: write one of --name, --balance, --behavior and --state"))
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, rest []string) error {
			changed, err := api.ChangePayer(ctx, rest[0], patch)
			if err != nil {
				return err
			}
			return f.printClient(cmd, &changed, "")
		})
	}
	return cmd
}

func (p *program) removeClientCommand() *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use: "remove", Short: "Remove a test client that was added",
		Long: `Remove a test client that was added, and print what it was. Payments that wait for its
answer fail.`,
		Example: "  " + p.called("clients remove", "+250788123456"),
	}
	t := p.target(cmd, argument{name: "NUMBER", required: true, complete: completePayers, form: likelyMSISDN})
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(), t.checkNumber(args)); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, rest []string) error {
			was, err := api.Payer(ctx, rest[0])
			if err == nil {
				err = api.RemovePayer(ctx, rest[0])
			}
			if err != nil {
				return err
			}
			return o.printClient(cmd, &was, "It is removed.")
		})
	}
	return cmd
}
