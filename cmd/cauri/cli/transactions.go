package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// transactionFilter has the flags that filter a list of transactions.
type transactionFilter struct {
	kind, status, msisdn, operator, country, orderRef, application, since, until string
}

func (f *transactionFilter) add(cmd *cobra.Command, t *target) {
	flags := cmd.Flags()
	flags.StringVar(&f.kind, "type", "", "only those of a type: "+payments.OneOf(payments.Types))
	flags.StringVar(&f.status, "status", "", "only those with a status: "+payments.OneOf(payments.Statuses))
	flags.StringVar(&f.msisdn, "msisdn", "", "only those of a number")
	flags.StringVar(&f.operator, "operator", "", "only those of "+payments.OneOf(payments.Operators))
	flags.StringVar(&f.country, "country", "", "only those of "+payments.OneOf(payments.Countries))
	flags.StringVar(&f.orderRef, "order-ref", "", "only those of an order")
	flags.StringVar(&f.application, "application", "", "only those of a store, by its slug")
	flags.StringVar(&f.since, "since", "", "only those since this sandbox time, such as 2026-12-01T00:00:00Z, or 10m for ten minutes ago")
	flags.StringVar(&f.until, "until", "", "only those before this sandbox time; as --since")
	_ = cmd.RegisterFlagCompletionFunc("msisdn", inOrder(t.flagCompleter(completeNumbers))) // fails only for an unknown flag
	withoutVariable(cmd, "country", "operator", "msisdn")                                   // CAURI_COUNTRY is the country of a new sandbox
	completeFlag(cmd, "type", payments.Texts(payments.Types)...)
	completeFlag(cmd, "status", payments.Texts(payments.Statuses)...)
	completeFlag(cmd, "operator", payments.Texts(payments.Operators)...)
	completeFlag(cmd, "country", payments.Texts(payments.Countries)...)
}

// query returns the query of the API, in a sandbox whose time is now. If now is zero, it only checks the flags.
func (f *transactionFilter) query(now time.Time) (url.Values, error) {
	query := queryOf(map[string]string{
		"type": strings.ToLower(f.kind), "status": strings.ToUpper(f.status), "msisdn": f.msisdn, "operator": strings.ToLower(f.operator),
		"country": strings.ToUpper(f.country), "order_ref": f.orderRef, "application": f.application,
	})
	for _, one := range []struct {
		flag    string
		allowed []string
	}{
		{"type", payments.Texts(payments.Types)}, {"status", payments.Texts(payments.Statuses)},
		{"operator", payments.Texts(payments.Operators)}, {"country", payments.Texts(payments.Countries)},
	} {
		if value := query.Get(one.flag); value != "" && !slices.Contains(one.allowed, value) {
			return nil, usage(fmt.Errorf("--%s=%s: write one of %s", one.flag, value, strings.Join(one.allowed, ", ")))
		}
	}
	if err := checkMSISDN(f.msisdn); err != nil {
		return nil, err
	}
	for _, one := range []struct{ flag, text, parameter string }{{"since", f.since, "created_after"}, {"until", f.until, "created_before"}} {
		if one.text == "" {
			continue
		}
		at, err := timeOf(one.flag, one.text, now)
		if err != nil {
			return nil, err
		}
		query.Set(one.parameter, payments.FormatTime(at))
	}
	return query, nil
}

func (p *program) paymentsCommand() *cobra.Command {
	var o output
	var f transactionFilter
	var page paging
	cmd := &cobra.Command{
		Use:        "payments",
		SuggestFor: []string{"transactions", "transaction", "refunds", "payouts", "disbursements"},
		Short:      "List the payments, refunds and payouts, or show one",
		Long: `List the payments, refunds and payouts, newest first, or show one by its id or its
reference. explain says what happened to one, and why.`,
		Example: "  " + p.called("payments", "") + "\n  " + p.called("payments", "--status=TIMEOUT --since=1h") + "\n  " +
			p.called("payments", "order-1042 -o json"),
	}
	t := p.target(cmd, argument{name: "TRANSACTION", complete: completePayments(nil)})
	f.add(cmd, t)
	page.add(cmd, pageShown)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, err := f.query(time.Time{})
		if err = cmp.Or(o.check(), page.check(), err); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, rest []string) error {
			if err := p.tellTime(ctx, api, cmd.ErrOrStderr(), &o); err != nil {
				return err
			}
			if len(rest) == 1 {
				found, err := p.transaction(ctx, api, rest[0])
				if err != nil {
					return err
				}
				return o.print(cmd.OutOrStdout(), found, []string{found.ID}, func(out io.Writer) { s.printTransaction(out, &found) })
			}
			query, err := p.transactionQuery(ctx, api, &f)
			if err != nil {
				return err
			}
			filtered := len(query) > 0
			found, err := api.PaymentList(ctx, page.of(query), page.most())
			if err != nil {
				return err
			}
			id := func(one *wire.Payment) string { return one.ID }
			return printList(cmd, &o, found, id, func(out io.Writer) { s.printTransactionList(out, found.Data, filtered) })
		})
	}
	return cmd
}

// transactionQuery returns the query of the flags. It reads the sandbox's clock only if a flag needs it.
func (p *program) transactionQuery(ctx context.Context, api *sandboxapi.Client, f *transactionFilter) (url.Values, error) {
	if f.since == "" && f.until == "" {
		return f.query(time.Time{})
	}
	clock, err := p.readTime(ctx, api)
	if err != nil {
		return nil, err
	}
	return f.query(clock.now())
}

// transaction returns the transaction with an id or a reference.
func (p *program) transaction(ctx context.Context, api *sandboxapi.Client, what string) (wire.Payment, error) {
	if strings.HasPrefix(what, "TX_") {
		if found, err := api.Payment(ctx, what); !sandboxapi.IsNotFound(err) {
			return found, err
		}
	}
	found, err := api.Payments(ctx, url.Values{"reference": {what}}, 1)
	if err == nil && len(found) == 0 {
		return wire.Payment{}, refusedError{codedError{
			fmt.Errorf("no transaction has the id or the reference %q: `%s` lists them", what, p.called("payments", "")), "not_found",
		}}
	}
	if err != nil {
		return wire.Payment{}, err
	}
	return found[0], nil
}

func (s *sandbox) printTransactionList(out io.Writer, found []wire.Payment, filtered bool) {
	switch {
	case len(found) > 0:
		printTransactions(out, found)
		Fprintf(out, "\nOne of them: %s\nWhat happened to it, and why: %s\n", s.command("payments", found[0].ID), s.command("explain", found[0].ID))
	case filtered:
		Fprintf(out, "There are no such transactions.\n")
	default:
		Fprintf(out, "There are no transactions. To make one:\n  %s\n", s.command("pay", "--amount=1500"))
	}
}

func printTransactions(out io.Writer, found []wire.Payment) {
	t := Table{
		Titles: "TRANSACTION CREATED TYPE STATUS AMOUNT NUMBER REFERENCE", Shorten: "REFERENCE FAULTS", Drop: "TYPE CREATED NUMBER REFERENCE",
	}
	withFaults := slices.ContainsFunc(found, func(t wire.Payment) bool { return len(t.Faults) > 0 })
	if withFaults {
		t.Titles += " FAULTS"
	}
	for i := range found {
		one := &found[i]
		row := []string{one.ID, clockTime(one.CreatedAt), one.Type, one.Status, money(one.Amount, one.Currency), one.MSISDN, one.Reference}
		if withFaults {
			row = append(row, faultList(one.Effects))
		}
		t.Rows = append(t.Rows, row)
	}
	table(out, t)
}

func (s *sandbox) printTransaction(out io.Writer, p *wire.Payment) {
	printTransactions(out, []wire.Payment{*p})
	Fprintf(out, "\n")
	for _, line := range []struct{ title, text string }{
		{"Completed", optional(p.CompletedAt, clockTime)},
		{"Operator", p.Operator + "/" + p.Country + ", " + p.ProviderTxID},
		{"Order", p.OrderRef},
		{"Store", p.Application},
		{"Net", money(p.NetAmount, p.Currency) + ", commission " + money(p.Commission, p.Currency) + ", the customer's total is " +
			money(p.CustomerTotal, p.Currency)},
		{"Refunded", optional(p.RefundedAmount, func(n int64) string { return money(n, p.Currency) })},
		{"Refund of", optional(p.ParentTxID, identity)},
		{"Scenario", optional(p.Scenario, identity)},
		{"About", optional(p.Description, identity)},
		{"Faults", faultsNamed(p.Effects)},
	} {
		if line.text != "" {
			Fprintf(out, "%-9s  %s\n", line.title, line.text)
		}
	}
	Fprintf(out, "\nIts events: %s\nWhat happened to it, and why: %s\n", s.command("events", "--tx="+p.ID), s.command("explain", p.ID))
}
