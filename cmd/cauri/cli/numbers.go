package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

func (p *program) numbersCommand() *cobra.Command {
	var o output
	var operator, country, outcome string
	var page paging
	cmd := &cobra.Command{
		Use:   "numbers",
		Short: "List the test numbers, and what each does",
		Long: `List the test numbers of the sandbox by operator and country: what the holder of each
does, how a payment from it ends, and how a payout to it ends.`,
		Example: "  " + p.called("numbers", "") + "\n  " + p.called("numbers", "--country=CI --outcome=TIMEOUT"),
	}
	t := p.target(cmd)
	cmd.Flags().StringVar(&operator, "operator", "", "only those of "+payments.OneOf(payments.Operators))
	cmd.Flags().StringVar(&country, "country", "", "only those of "+payments.OneOf(payments.Countries))
	cmd.Flags().StringVar(&outcome, "outcome", "", "only those from which a payment ends with this status, such as TIMEOUT")
	completeFlag(cmd, "outcome", statuses()...)
	completeFlag(cmd, "operator", payments.Texts(payments.Operators)...)
	completeFlag(cmd, "country", payments.Texts(payments.Countries)...)
	page.add(cmd, mostListed)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(o.check(), page.check()); err != nil {
			return err
		}
		if outcome = strings.ToUpper(outcome); outcome != "" && !slices.Contains(statuses(), outcome) {
			return usage(fmt.Errorf("--outcome=%s: write one of %s", outcome, strings.Join(statuses(), ", ")))
		}
		if err := oneOf("--operator", strings.ToLower(operator), payments.Operators); err != nil {
			return err
		}
		if err := oneOf("--country", strings.ToUpper(country), payments.Countries); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			all, err := api.TestNumbers(ctx)
			if err != nil {
				return err
			}
			var pairs []string
			for i := range all {
				pairs = append(pairs, all[i].Operator+"/"+all[i].Country)
			}
			all = slices.DeleteFunc(all, func(n wire.TestNumber) bool {
				return operator != "" && !strings.EqualFold(n.Operator, operator) || country != "" && !strings.EqualFold(n.Country, country) ||
					outcome != "" && n.CollectionOutcome != outcome
			})
			found, err := cut(&page, all)
			if err != nil {
				return err
			}
			msisdn := func(n *wire.TestNumber) string { return n.MSISDN }
			return printList(cmd, &o, found, msisdn, func(out io.Writer) { printNumbers(out, found.Data, slices.Compact(pairs)) })
		})
	}
	return cmd
}

// oneOf returns an error for a value that is none of the codes; nil for "".
func oneOf[T ~string](flag, value string, codes []T) error {
	if value == "" || slices.Contains(codes, T(value)) {
		return nil
	}
	return usage(fmt.Errorf("%s=%s: write one of %s", flag, value, payments.OneOf(codes)))
}

// printNumbers prints a table for each operator in each country. The API lists them in this order. The sandbox has test numbers
// of pairs, such as mtn/RW.
func printNumbers(out io.Writer, all []wire.TestNumber, pairs []string) {
	if len(all) == 0 {
		Fprintf(out, "There are no such test numbers in this sandbox.\n")
		if len(pairs) > 0 {
			Fprintf(out, "It has those of %s.\n", strings.Join(pairs, ", "))
		}
		return
	}
	for begin := 0; begin < len(all); {
		first, end := &all[begin], begin
		var rows [][]string
		for ; end < len(all) && all[end].Operator == first.Operator && all[end].Country == first.Country; end++ {
			n := &all[end]
			rows = append(rows, []string{strings.TrimSuffix(n.Description, "."), n.CollectionOutcome, n.DisbursementOutcome, n.MSISDN})
		}
		if begin > 0 {
			Fprintf(out, "\n")
		}
		Fprintf(out, "%s in %s, %s\n\n", first.Operator, first.Country, first.Currency)
		table(out, Table{Titles: "BEHAVIOR PAYMENT PAYOUT NUMBER", Rows: rows, Shorten: "BEHAVIOR", Drop: "PAYOUT"})
		begin = end
	}
}
