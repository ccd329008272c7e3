package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// waiting has the flags of the wait for a final status.
type waiting struct {
	wait    bool
	timeout time.Duration
	expect  string
}

func (w *waiting) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&w.wait, "wait", true, "wait until the status is final")
	flags.DurationVar(&w.timeout, "timeout", 2*time.Minute, "how long to wait")
	flags.StringVar(&w.expect, "expect", string(payments.Success), "final status that counts as success; another one is exit code 5")
	completeFlag(cmd, "expect", statuses()...)
}

func (w *waiting) check() error {
	if w.timeout <= 0 {
		return usage(fmt.Errorf("--timeout=%s: write how long to wait, such as 2m, or pass --wait=false", w.timeout))
	}
	if !slices.Contains(statuses(), w.expect) {
		return usage(fmt.Errorf("--expect=%s: write one of %s", w.expect, strings.Join(statuses(), ", ")))
	}
	return nil
}

func statuses() []string {
	var all []string
	for _, status := range payments.Statuses {
		if status != payments.Pending {
			all = append(all, string(status))
		}
	}
	return all
}

// ownReference is the beginning of references that the program makes.
const ownReference = "CLI-"

// newReference returns a random reference, for a transaction without one.
func newReference() string { return ownReference + rand.Text() }

// uncertain adds to an error the advice to repeat a request that may have been recorded. It does not change errors of
// the API, which say whether the request was recorded.
func uncertain(err error, reference string) error {
	var refused *sandboxapi.RefusedError
	var unreachable *sandboxapi.UnreachableError
	switch {
	case errors.As(err, &refused) && refused.Code != "" && refused.Status >= http.StatusInternalServerError:
		err = fmt.Errorf("%w\nRepeat the command with --reference=%s, which records nothing twice", err, reference)
	case errors.As(err, &unreachable), errors.As(err, &refused) && refused.Status >= http.StatusInternalServerError:
		err = fmt.Errorf("%w\nIt may have been recorded: repeat the command with --reference=%s, which records nothing twice", err, reference)
	default:
		return err
	}
	return recorded(err, "", reference)
}

// order has the common flags of payments and payouts.
type order struct {
	amount                                                                                   int64
	msisdn, name, currency, operator, country, application, reference, orderRef, description string
	waiting
	output
}

func (o *order) add(cmd *cobra.Command, t *target, number string) {
	flags := cmd.Flags()
	flags.Int64Var(&o.amount, "amount", 100, "amount in whole units of the currency")
	flags.StringVar(&o.msisdn, "msisdn", "", number)
	flags.StringVar(&o.name, "name", "", "name of a test client, or a part of it, in place of --msisdn")
	flags.StringVar(&o.currency, "currency", "", payments.OneOf(payments.Currencies)+"; without --msisdn, one with a number of it is taken; empty: that of the number")
	flags.StringVar(&o.operator, "operator", "", payments.OneOf(payments.Operators)+"; as --currency")
	flags.StringVar(&o.country, "country", "", payments.OneOf(payments.Countries)+"; as --currency")
	flags.StringVar(&o.application, "application", "", "slug of the store; empty: the first one of the sandbox, or one with its name, or shop")
	flags.StringVar(&o.reference, "reference", "", "your reference: the same request with the same reference is recorded once; empty: a new one")
	flags.StringVar(&o.orderRef, "order-ref", "", "groups transactions; empty: the reference")
	flags.StringVar(&o.description, "description", "", "text that is stored and returned")
	completeFlag(cmd, "currency", payments.Texts(payments.Currencies)...)
	completeFlag(cmd, "operator", payments.Texts(payments.Operators)...)
	completeFlag(cmd, "country", payments.Texts(payments.Countries)...)
	// These fail only for an unknown flag.
	_ = cmd.RegisterFlagCompletionFunc("msisdn", inOrder(t.flagCompleter(completeNumbers)))
	_ = cmd.RegisterFlagCompletionFunc("name", t.flagCompleter(completeNames))
	o.waiting.add(cmd)
	o.output.add(cmd)
}

func (o *order) check() error {
	if o.msisdn != "" && o.name != "" {
		return usage(errors.New("--msisdn and --name both say whose number it is: leave one of them out"))
	}
	return cmp.Or(o.waiting.check(), o.output.check(), checkAmount(o.amount), checkMSISDN(o.msisdn))
}

// text returns a pointer to value; nil for "".
func text(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}

func (p *program) payCommand() *cobra.Command {
	var o order
	var scenario string
	cmd := &cobra.Command{
		Use:   "pay",
		Short: "Make a payment and print what happens until it is final",
		Long: `Make a payment and print what happens until it is final.

Without --msisdn the first test client that approves and has enough money pays, else
the first test number that approves. Those of the sandbox's first environment come
first, then those of the next. --name, --country, --operator and --currency choose
among them; if none that fits approves, the first that fits is taken. The currency,
the operator and the country follow from the payer. The exit code is 5 if the payment
does not end SUCCESS, or as --expect says.`,
		Example: "  " + p.called("pay", "--amount=1500") + "\n  " + p.called("pay", "--country=CI") + "\n  " + p.called("pay", "--scenario=timeout --expect=TIMEOUT") + "\n  " +
			p.called("pay", "--msisdn=+250788123456 --reference=order-1042 -o json"),
	}
	t := p.target(cmd)
	o.add(cmd, t, "number of the payer; empty: one that approves")
	cmd.Flags().StringVar(&scenario, "scenario", "", "forces how it ends, such as success, low_balance or timeout")
	completeFlag(cmd, "scenario", scenarios()...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		if scenario != "" && !slices.Contains(scenarios(), scenario) {
			return usage(fmt.Errorf("--scenario=%s: write one of %s", scenario, strings.Join(scenarios(), ", ")))
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
			if err := o.complete(ctx, api); err != nil {
				return err
			}
			var made wire.Payment
			err := o.forStore(s, func() (err error) {
				made, err = api.Pay(ctx, wire.CreatePaymentRequest{
					Amount: o.amount, Currency: o.currency, Operator: o.operator, Country: o.country, MSISDN: o.msisdn, Reference: o.reference,
					Application: o.application, OrderRef: o.orderRef, Description: text(o.description), Scenario: scenario,
				})
				return err
			})
			if err != nil {
				return uncertain(err, o.reference)
			}
			return p.finish(ctx, api, cmd, made, o.waiting, o.output)
		})
	}
	return cmd
}

var international = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)

func checkMSISDN(number string) error {
	if number != "" && !international.MatchString(number) {
		return usage(fmt.Errorf("--msisdn=%s: write the whole number with + and the code of its country, digits only: %s", number, callingCodes()))
	}
	return nil
}

// callingCodes returns the beginnings of numbers as a text: "+225 for CI, +250 for RW".
func callingCodes() string {
	var all []string
	for _, c := range payments.Countries {
		all = append(all, "+"+c.CallingCode()+" for "+string(c))
	}
	return strings.Join(all, ", ")
}

func checkAmount(amount int64) error {
	if amount < 1 {
		return usage(fmt.Errorf("--amount=%d: write 1 or more, in whole units of the currency", amount))
	}
	return nil
}

func scenarios() []string {
	var all []string
	for _, scenario := range payments.Scenarios {
		all = append(all, string(scenario))
	}
	return all
}

// stores returns the stores to try, in order. If the resource declares stores, it returns only the first. Otherwise it
// returns the last part of the sandbox's URL, which is its name in a cluster, and "shop".
func (s *sandbox) stores() []string {
	if s.resource != nil && len(s.resource.Spec.Stores) > 0 {
		return []string{s.resource.Spec.Stores[0].Slug}
	}
	return []string{path.Base(s.uri), "shop"}
}

// forStore calls send with the store of the flag. Without the flag, it tries the stores of s.stores until the
// sandbox has one.
func (o *order) forStore(s *sandbox, send func() error) (err error) {
	var refused *sandboxapi.RefusedError
	if o.application != "" {
		return send()
	}
	for _, o.application = range s.stores() {
		err = send()
		// An earlier call may have recorded the reference for another store.
		if !errors.As(err, &refused) || refused.Code != "not_found" && refused.Code != "duplicate_reference" {
			return err
		}
	}
	return err
}

// finish waits for a final status, and prints the transaction.
func (p *program) finish(
	ctx context.Context, api *sandboxapi.Client, cmd *cobra.Command, made wire.Payment, w waiting, o output,
) (err error) {
	out := cmd.OutOrStdout()
	if err := p.tellTime(ctx, api, cmd.ErrOrStderr(), &o); err != nil {
		return recorded(err, made.ID, made.Reference)
	}
	if o.people() {
		printLine(out, paymentTime(&made), paymentLine(&made))
	}
	if made.Status == string(payments.Pending) && w.wait {
		if why := p.whyStands(ctx, api); why != "" && o.people() {
			printerTo(cmd.ErrOrStderr())("Waiting: %s", why)
		}
		if made, err = p.awaitFinal(ctx, api, made, w.timeout); err == nil && o.people() {
			printLine(out, paymentTime(&made), paymentLine(&made))
		}
	}
	if !o.people() { // also a transaction that is not final
		err = errors.Join(err, o.print(out, made, []string{made.ID}, nil))
	}
	if err == nil && w.wait && made.Status != w.expect {
		err = negative("unexpected_status", "the %s %s ended %s and not %s%s", made.Type, made.ID, made.Status, w.expect, whyEnded(&made))
	}
	return recorded(err, made.ID, made.Reference)
}

// whyEnded returns a colon and why a transaction failed; "" for one that succeeded.
func whyEnded(made *wire.Payment) string {
	if made.Status == string(payments.Success) || made.Status == string(payments.Pending) {
		return ""
	}
	what, _ := new(explain.OfPayment(made)).Sentences()
	return ": " + strings.TrimSuffix(what, ".")
}

func (p *program) awaitFinal(ctx context.Context, api *sandboxapi.Client, made wire.Payment, timeout time.Duration) (wire.Payment, error) {
	soon, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		found, err := api.Payment(soon, made.ID)
		if err == nil && found.Status != string(payments.Pending) {
			return found, nil
		}
		if err != nil && soon.Err() == nil && ExitCode(err) != ExitUnavailable {
			return made, err
		}
		if pause(soon, p.await) != nil {
			if ctx.Err() != nil {
				return made, ctx.Err()
			}
			why := cmp.Or(p.whyStands(ctx, api), p.whyPending(ctx, api, made.ID))
			return made, kube.Because(context.DeadlineExceeded, "the payment %s is still PENDING after %s: %s", made.ID,
				payments.FormatDuration(timeout), why)
		}
	}
}

// whyStands returns a text about a clock that stands, so that nothing ends by itself; "" for one that runs.
func (p *program) whyStands(ctx context.Context, api *sandboxapi.Client) string {
	if clock, err := p.readTime(ctx, api); err == nil && clock.standing() {
		return fmt.Sprintf("the sandbox's clock stands, and a payment ends when it is advanced: `%s`", p.called("clock advance", "--next"))
	}
	return ""
}

// whyPending returns a text that says for whom a payment waits, with a command that helps.
func (p *program) whyPending(ctx context.Context, api *sandboxapi.Client, id string) string {
	x := explain.Explainer{API: api, Now: p.now}
	if found, err := x.Explain(ctx, id); err == nil && found.Cause != "" {
		if i := slices.IndexFunc(found.Next, func(s explain.Step) bool { return s.Command != "" }); i >= 0 {
			name, rest, _ := strings.Cut(strings.TrimPrefix(found.Next[i].Command, "cauri "), " ")
			return fmt.Sprintf("%s `%s`", found.Summary, p.called(name, rest))
		}
		return found.Summary
	}
	return fmt.Sprintf("what happened: `%s`", p.called("explain", id))
}

func (p *program) refundCommand() *cobra.Command {
	var w waiting
	var o output
	var amount int64
	var reference string
	cmd := &cobra.Command{
		Use:     "refund",
		Short:   "Refund a payment, wholly or in part",
		Example: "  " + p.called("refund", "TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE") + "\n  " + p.called("refund", "TX_01JCC5H2M4Q7ZXW3V8R6T9B0YE --amount=500"),
	}
	successful := url.Values{"type": {"collection"}, "status": {"SUCCESS"}}
	t := p.target(cmd, argument{name: "TRANSACTION", required: true, complete: completePayments(successful)})
	cmd.Flags().Int64Var(&amount, "amount", 0, "amount in whole units of the currency; left out: everything that is left")
	cmd.Flags().StringVar(&reference, "reference", "", "your reference: the same refund with the same reference is recorded once; empty: a new one")
	w.add(cmd)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cmp.Or(w.check(), o.check()); err != nil {
			return err
		}
		partial := cmd.Flags().Changed("amount") // a script that computed 0 does not mean everything
		if err := checkAmount(amount); partial && err != nil {
			return err
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, rest []string) error {
			request := wire.RefundRequest{Reference: cmp.Or(reference, newReference())}
			if partial {
				request.Amount = &amount
			}
			made, err := api.Refund(ctx, rest[0], request)
			if err != nil {
				return uncertain(err, request.Reference)
			}
			return p.finish(ctx, api, cmd, made, w, o)
		})
	}
	return cmd
}

func (p *program) payoutCommand() *cobra.Command {
	var o order
	cmd := &cobra.Command{
		Use:   "payout",
		Short: "Pay money out from the merchant's float to a number",
		Long: `Pay money out from the merchant's float to a number (a disbursement).

Operator, country and currency follow from a test client or a test number. For
another number, pass all three. In place of a number, --name, --country, --operator
and --currency choose one of those.`,
		Example: "  " + p.called("payout", "--msisdn=+2250700000001 --amount=1500"),
	}
	t := p.target(cmd)
	o.add(cmd, t, "number of the recipient")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		if o.msisdn == "" && !o.chooses() {
			return usage(errors.New("no recipient: pass --msisdn, or choose a test client or a test number by --name, --country, --operator or --currency"))
		}
		return t.withAPI(cmd, args, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
			if err := o.complete(ctx, api); err != nil {
				return err
			}
			var made wire.Disbursement
			err := o.forStore(s, func() (err error) {
				made, err = api.PayOut(ctx, wire.DisbursementRequest{
					Amount: o.amount, Currency: o.currency, Operator: o.operator, Country: o.country, MSISDN: o.msisdn, Reference: o.reference,
					Application: o.application, OrderRef: o.orderRef, Description: text(o.description),
				})
				return err
			})
			if err != nil {
				return uncertain(err, o.reference)
			}
			whole, err := api.Payment(ctx, made.TxID)
			if err != nil {
				return recorded(err, made.TxID, o.reference)
			}
			return p.finish(ctx, api, cmd, whole, o.waiting, o.output)
		})
	}
	return cmd
}
