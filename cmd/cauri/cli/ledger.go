package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledgercsv"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

const formatCSV = "csv"

// ledgerFlags are the flags of `cauri ledger`.
type ledgerFlags struct {
	output
	page             paging
	entries          bool
	currency, msisdn string
	after            int64
	last             int
}

func (p *program) ledgerCommand() *cobra.Command {
	var f ledgerFlags
	cmd := &cobra.Command{
		Use:   "ledger",
		Short: "Show the balances with their proof, or export the double entries behind them",
		Long: `Show the balances with their proof: what each began with, by how much each kind of
movement changed it, and up to which movement it is verified.

--entries shows the double entries of the accounts: the last 20 of each, and all of
them with -o csv and -o json. A movement between a float and a test client is an
entry of both. In CSV a text that begins with = + - @ or ' has a ' before it.`,
		Example: "  " + p.called("ledger", "") + "\n  " + p.called("ledger", "--entries --currency=XOF") + "\n  " +
			p.called("ledger", "--entries -o csv > ledger.csv") + "\n  " + p.called("ledger", "--entries --msisdn=+250788123456 --after=1200 -o json"),
	}
	t := p.target(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.entries, "entries", false, "show the entries, and not the balances")
	flags.StringVar(&f.currency, "currency", "", "only the float in this currency")
	flags.StringVar(&f.msisdn, "msisdn", "", "only the test client with this number")
	flags.Int64Var(&f.after, "after", 0, "only entries after this number, to go on where an export ended")
	flags.IntVar(&f.last, "last", 20, "how many entries of each account; 0: all, as always with -o")
	f.page.add(cmd, mostListed)
	f.add(cmd)
	cmd.Flags().Lookup("output").Usage = "json, yaml or name for balances; json or csv for entries"
	completeFlag(cmd, "currency", currencyNames()...)
	_ = cmd.RegisterFlagCompletionFunc("msisdn", t.flagCompleter(completePayers)) // fails only for an unknown flag
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := f.check(); err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			found, err := api.Ledger(ctx, math.MaxInt)
			if err != nil {
				return err
			}
			accounts, err := f.chosen(found.Data)
			if err != nil {
				return err
			}
			if f.entries {
				if err := p.tellTime(ctx, api, cmd.ErrOrStderr(), &f.output); err != nil {
					return err
				}
				return f.export(ctx, api, cmd.OutOrStdout(), accounts)
			}
			part, err := cut(&f.page, accounts)
			if err != nil {
				return err
			}
			found.Data, found.NextCursor, found.HasMore = part.Data, part.NextCursor, part.HasMore
			return f.printBalances(cmd, &found)
		})
	}
	return cmd
}

// printBalances prints the list of the API, which also says whether all balances are right.
func (f *ledgerFlags) printBalances(cmd *cobra.Command, found *wire.LedgerAccountList) error {
	if !f.people() && f.format != formatName {
		return f.print(cmd.OutOrStdout(), found, nil, nil)
	}
	part := sandboxapi.List[wire.LedgerAccount]{Data: found.Data, NextCursor: found.NextCursor, HasMore: found.HasMore}
	name := func(a *wire.LedgerAccount) string { return a.Account }
	return printList(cmd, &f.output, part, name, func(out io.Writer) { printLedger(out, found) })
}

func currencyNames() []string {
	var names []string
	for _, c := range payments.Currencies {
		names = append(names, string(c))
	}
	return names
}

func (f *ledgerFlags) check() error {
	switch {
	case f.currency != "" && f.msisdn != "":
		return usage(errors.New("--currency and --msisdn are two accounts: write one of them, or none for all"))
	case f.currency != "" && !slices.Contains(currencyNames(), f.currency):
		return usage(fmt.Errorf("--currency=%s: write one of %s", f.currency, strings.Join(currencyNames(), ", ")))
	case !f.entries && f.after != 0:
		return usage(errors.New("--after is for entries: write --entries too"))
	case !f.entries && f.format == formatCSV:
		return usage(errors.New("-o csv is for entries: write --entries too, or -o json"))
	case f.entries && !slices.Contains([]string{"", formatJSON, formatCSV}, f.format):
		return usage(fmt.Errorf("--output=%s: write json or csv for entries", f.format))
	case f.after < 0 || f.last < 0:
		return usage(errors.New("--after and --last: write a number from 0 on"))
	case f.entries && (f.page.all || f.page.cursor != "" || f.page.given("limit")):
		return usage(errors.New("--limit, --cursor and --all are for balances: write --last or --after for entries"))
	case f.entries:
		return nil
	}
	return cmp.Or(f.page.check(), f.output.check())
}

// chosen returns the accounts that the flags select.
func (f *ledgerFlags) chosen(all []wire.LedgerAccount) ([]wire.LedgerAccount, error) {
	if f.currency == "" && f.msisdn == "" {
		return all, nil
	}
	var names []string
	for i := range all {
		a := &all[i]
		if a.MSISDN == nil && a.Currency == f.currency || a.MSISDN != nil && *a.MSISDN == f.msisdn {
			return all[i : i+1], nil
		}
		names = append(names, a.Account)
	}
	const most = 10
	if len(names) > most {
		names = append(names[:most], "...")
	}
	length := ""
	if w := operators.CheckLength(nil, f.msisdn); w != nil {
		length = ". " + w.String()
	}
	return nil, refusedError{fmt.Errorf("the sandbox has no account of %s: it has %s%s", cmp.Or(f.currency, f.msisdn), strings.Join(names, ", "), length)}
}

func printLedger(out io.Writer, found *wire.LedgerAccountList) {
	rows := make([][]string, 0, len(found.Data))
	for i := range found.Data {
		a := &found.Data[i]
		rows = append(rows, []string{
			a.Account, strconv.FormatInt(a.Opening, 10), signed(a.Adjustments), signed(a.Collections), signed(a.Refunds), signed(a.Disbursements),
			money(a.Balance, a.Currency), verdict(a),
		})
	}
	table(out, Table{
		Titles: "ACCOUNT OPENING ADJUSTMENTS COLLECTIONS REFUNDS DISBURSEMENTS BALANCE PROOF", Rows: rows, Shorten: "PROOF",
		Drop: "ADJUSTMENTS DISBURSEMENTS REFUNDS OPENING COLLECTIONS",
	})
	for i := range found.Data {
		if text := imbalance(&found.Data[i]); text != "" {
			Fprintf(out, "\n%s\n", text)
		}
	}
	if !found.Balanced {
		Fprintf(out, "\nThe ledger is not balanced: `cauri check --ledger` verifies all of it, and says where.\n")
	}
}

// printBalances prints the floats of a sandbox for `cauri status`, with their proof if the API has it.
func printBalances(out io.Writer, of *state) {
	var balances []string
	if of.Ledger == nil {
		if of.Status == nil {
			return
		}
		for _, b := range of.Status.Balances {
			balances = append(balances, money(b.Amount, string(b.Currency)))
		}
		Fprintf(out, "Float    %s\n", strings.Join(balances, ", "))
		return
	}
	var movements, verified int64
	for i := range of.Ledger.Data {
		a := &of.Ledger.Data[i]
		if a.MSISDN == nil {
			balances = append(balances, money(a.Balance, a.Currency))
		}
		movements, verified = movements+a.Movements, verified+a.VerifiedUpTo
	}
	Fprintf(out, "Float    %s\n", strings.Join(balances, ", "))
	if !of.Ledger.Balanced {
		Fprintf(out, "Ledger   NOT BALANCED\n")
		return
	}
	accounts := english.Plural(len(of.Ledger.Data), "account", "accounts")
	Fprintf(out, "Ledger   balanced, %s, %d of %s verified\n", accounts, verified, english.Plural(movements, "movement", "movements"))
}

// signed returns an amount as text, with its sign.
func signed(amount int64) string {
	if amount == 0 {
		return "0"
	}
	return fmt.Sprintf("%+d", amount)
}

// verdict returns a short text with the result of an account's verification.
func verdict(a *wire.LedgerAccount) string {
	switch {
	case !a.Balanced:
		return "NOT BALANCED"
	case a.VerifiedUpTo == a.Movements:
		return fmt.Sprintf("balanced, all %d verified", a.Movements)
	}
	return fmt.Sprintf("balanced, %d of %d verified", a.VerifiedUpTo, a.Movements)
}

// imbalance returns a text about the difference between an account's balance and its movements; "" for no difference.
func imbalance(a *wire.LedgerAccount) string {
	i := a.Imbalance
	if i == nil {
		return ""
	}
	direction, difference := "above", i.Difference
	if difference < 0 {
		direction, difference = "below", -difference
	}
	where := fmt.Sprintf("after the number %d", i.After)
	if i.Before != nil {
		where = fmt.Sprintf("between the numbers %d and %d", i.After, *i.Before)
	}
	return fmt.Sprintf("the balance of %s is %s %s the sum of its movements, %s", a.Account, money(difference, a.Currency), direction, where)
}

// export writes the entries of the accounts as they are read.
func (f *ledgerFlags) export(ctx context.Context, api *sandboxapi.Client, out io.Writer, accounts []wire.LedgerAccount) error {
	write, end := f.writer(out)
	for i := range accounts {
		a := &accounts[i]
		after := f.after
		if f.people() && f.last > 0 {
			after = max(after, a.Movements-int64(f.last))
		}
		err := api.LedgerEntries(ctx, a, after, wire.MaxEntries, func(page *wire.LedgerEntryList) (bool, error) { return true, write(page) })
		if err != nil {
			return fmt.Errorf("the entries of %s: %w", a.Account, err)
		}
	}
	return end()
}

// writer returns functions that write entries in the format of the flag. write writes a page. end is called after the
// last page.
func (f *ledgerFlags) writer(out io.Writer) (write func(page *wire.LedgerEntryList) error, end func() error) {
	switch f.format {
	case formatCSV:
		header := ledgercsv.AppendHeader(nil)
		return func(page *wire.LedgerEntryList) error {
			lines := strings.Split(string(appendEntries(header, page)), "\r\n")
			for i := range lines {
				lines[i] = Printable(lines[i])
			}
			header = nil
			return writeBytes(out, strings.Join(lines, "\r\n"))
		}, func() error { return nil }
	case formatJSON:
		begin := "{\"data\": [\n"
		separator := begin
		return func(page *wire.LedgerEntryList) error {
				for i := range page.Data {
					text, err := encoded(exported{page.Account, page.Data[i]}, "")
					if err != nil {
						return err
					}
					if err := writeBytes(out, separator+"  "+escaped(strings.TrimSuffix(text, "\n"), "", utf16Escape)); err != nil {
						return err
					}
					separator = ",\n"
				}
				return nil
			}, func() error {
				const end = "], \"nextCursor\": null, \"hasMore\": false}\n"
				if separator == begin {
					return writeBytes(out, "{\"data\": ["+end)
				}
				return writeBytes(out, "\n"+end)
			}
	}
	return func(page *wire.LedgerEntryList) error { printEntries(out, page); return nil }, func() error { return nil }
}

// appendEntries appends the entries of a page to b in CSV.
func appendEntries(b []byte, page *wire.LedgerEntryList) []byte {
	for i := range page.Data {
		e := &page.Data[i]
		line := ledgercsv.Entry{
			Number: e.Number, Time: e.Time, Type: e.Type, TxID: optional(e.TxID, identity), Reference: optional(e.Reference, identity),
			OrderRef: optional(e.OrderRef, identity), Currency: e.Currency, Balance: e.Balance,
		}
		for _, p := range e.Postings {
			line.Postings = append(line.Postings, ledgercsv.Posting(p))
		}
		b = ledgercsv.AppendEntry(b, page.Account, &line)
	}
	return b
}

// exported is an entry with its account.
type exported struct {
	Account string `json:"account"`
	wire.LedgerEntry
}

func printEntries(out io.Writer, page *wire.LedgerEntryList) {
	rows := make([][]string, 0, len(page.Data))
	for i := range page.Data {
		e := &page.Data[i]
		for j, posting := range e.Postings {
			row := []string{"", "", "", "", posting.Account, amount(posting.Debit), amount(posting.Credit), ""}
			if j == 0 {
				copy(row, []string{strconv.FormatInt(e.Number, 10), clockTime(e.Time), e.Type, optional(e.TxID, identity)})
			}
			if posting.Account == page.Account {
				row[len(row)-1] = money(e.Balance, e.Currency)
			}
			rows = append(rows, row)
		}
	}
	Fprintf(out, "%s\n", page.Account)
	table(out, Table{
		Titles: "NUMBER TIME TYPE TRANSACTION POSTING DEBIT CREDIT BALANCE", Rows: rows, Shorten: "POSTING", Drop: "TYPE TIME NUMBER TRANSACTION",
	})
	Fprintf(out, "\n")
}

// amount returns one side of a posting as text.
func amount(value int64) string {
	if value == 0 {
		return ""
	}
	return strconv.FormatInt(value, 10)
}
