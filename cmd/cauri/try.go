package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/textfile"
)

type tryOptions struct {
	url         string
	apiKey      string
	binding     string
	envFile     string
	msisdn      string
	amount      int64
	application string
	timeout     time.Duration
	output      cli.Output
}

func newTryCommand() *cobra.Command {
	var o tryOptions
	cmd := &cobra.Command{
		Use:   "try",
		Short: "Make one payment in a sandbox and follow it to its outcome",
		Long: `Make one payment in a sandbox and follow it to its outcome.

The command waits until the sandbox can be reached and has a test client that can
pay. It ends with an error unless the payment succeeds. Use it to check an
installation, or at the start of a pipeline.`,
		Example: `  secret() { kubectl get secret checkout-credentials -o jsonpath="{.data.$1}" | base64 -d; }
  export CAURI_URI="$(secret uri)" CAURI_API_KEY="$(secret api-key)"
  cauri try`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmp.Or(o.output.Check(), o.complete()); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.timeout)
			defer cancel()
			trial := &trial{options: o, api: sandboxapi.New(o.url, o.apiKey, nil), out: cmd.OutOrStdout(), random: rand.Reader, interval: tryPoll}
			if !o.output.People() {
				trial.out = io.Discard
			}
			err := trial.run(ctx)
			if trial.made.ID == "" {
				return err
			}
			unprinted := o.output.Print(cmd.OutOrStdout(), trial.made, []string{trial.made.ID}, func(io.Writer) {})
			return errors.Join(cli.Recorded(err, &trial.made), unprinted)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.url, "url", "", "URL of the sandbox, from its status or its Secret (CAURI_URI)")
	flags.StringVar(&o.apiKey, "api-key", "", "API key of the sandbox; prefer CAURI_API_KEY, which ps does not show")
	flags.StringVar(&o.binding, "binding", "", "folder where the credentials Secret of the sandbox is mounted; replaces --url and --api-key")
	flags.StringVar(&o.envFile, "env-file", "", "file with CAURI_URI and CAURI_API_KEY, as cauri dev --env-file writes it; replaces --url and --api-key")
	flags.StringVar(&o.msisdn, "msisdn", "", "phone number of the payer; empty takes the first test client that can pay")
	flags.Int64Var(&o.amount, "amount", 100, "amount in whole units of the payer's currency")
	flags.StringVar(&o.application, "application", "shop", "slug of the store that is paid")
	flags.DurationVar(&o.timeout, "timeout", time.Minute, "time limit for the whole command")
	o.output.Add(cmd)
	return cmd
}

// tryPoll is the pause between two requests.
const tryPoll = 250 * time.Millisecond

// complete reads missing options from the binding and the environment file. It returns an error for a missing or
// invalid option.
func (o *tryOptions) complete() error {
	if o.binding != "" {
		for name, value := range map[string]*string{"uri": &o.url, "api-key": &o.apiKey} {
			if *value != "" {
				continue
			}
			text, err := textfile.Read(filepath.Join(o.binding, name))
			if err != nil {
				return cli.Usage(fmt.Errorf("--binding: %w", err))
			}
			*value = strings.TrimSpace(string(text))
		}
	}
	if o.envFile != "" {
		values, err := cli.ReadEnvFile(o.envFile)
		if err != nil {
			return cli.Usage(err)
		}
		o.url, o.apiKey = values["CAURI_URI"], values["CAURI_API_KEY"]
	}
	if at, err := url.Parse(o.url); err != nil || egress.HostOf(at) == "" {
		return cli.Usage(errors.New("no sandbox: set CAURI_URI to the uri of the sandbox's Secret, " +
			"or pass --env-file=<file of cauri dev --env-file>, --url=<status.url of the SandboxEnvironment> or --binding=<folder of its Secret>"))
	}
	if o.apiKey == "" {
		return cli.Usage(errors.New("no API key: set CAURI_API_KEY to the api-key of the sandbox's Secret, or pass --binding=<folder of the Secret>"))
	}
	if o.amount < 1 {
		return cli.Usage(errors.New("--amount must be at least 1"))
	}
	return nil
}

// trial is one test payment.
type trial struct {
	options  tryOptions
	api      *sandboxapi.Client
	out      io.Writer
	random   io.Reader
	interval time.Duration
	begun    time.Time
	made     wire.Payment // as it is known; without an id, none is made
	cause    error        // error of the last attempt that did not fail because of the time limit
}

func (t *trial) run(ctx context.Context) error {
	t.begun = time.Now()
	t.say("sandbox", "%s", t.options.url)
	payer, err := t.awaitPayer(ctx)
	if err != nil {
		return err
	}
	t.say("payer", "%s, %s in %s, balance %d %s (%s)", payer.MSISDN, payer.Operator, payer.Country, payer.Balance, payer.Currency, payer.Name)
	payment, err := t.pay(ctx, payer)
	if err != nil {
		return err
	}
	defer func() { t.made = payment }()
	t.say("payment", "%s of %d %s: %s", payment.ID, payment.Amount, payment.Currency, payment.Status)
	for seen := payment.Status; payment.Status == string(payments.Pending); {
		if err := t.wait(ctx, "the payment "+payment.ID+" is still PENDING: is a worker running?", nil); err != nil {
			return err
		}
		found, err := t.api.Payment(ctx, payment.ID)
		if err == nil {
			payment = found
		} else if !transient(err) {
			return err
		}
		if payment.Status != seen {
			t.say("payment", "%s", payment.Status)
		}
	}
	if payment.Status != string(payments.Success) {
		return cli.Negative(fmt.Errorf("the payment %s ended %s and not SUCCESS", payment.ID, payment.Status))
	}
	return nil
}

func (t *trial) say(what, format string, args ...any) {
	cli.Fprintf(t.out, "%7.3fs  %-8s %s\n", time.Since(t.begun).Seconds(), what, fmt.Sprintf(format, args...))
}

// awaitPayer waits for the test client that pays. In a new sandbox, the test client may not exist yet, and the api may
// not know the key yet.
func (t *trial) awaitPayer(ctx context.Context) (wire.TestClient, error) {
	for {
		payer, err := t.findPayer(ctx)
		if err == nil || !transient(err) {
			return payer, err
		}
		if err := t.wait(ctx, "there is no payer", err); err != nil {
			return wire.TestClient{}, err
		}
	}
}

func (t *trial) findPayer(ctx context.Context) (payer wire.TestClient, err error) {
	if t.options.msisdn != "" {
		return t.api.Payer(ctx, t.options.msisdn)
	}
	all, err := t.api.Payers(ctx, nil, 100)
	if err != nil {
		return payer, err
	}
	for _, payer := range all {
		if payer.State == wire.StateActive && payer.Behavior == string(payments.Approve) && payer.Balance >= t.options.amount {
			return payer, nil
		}
	}
	return payer, errNoPayer
}

var errNoPayer = errors.New("no TestClient of the sandbox can pay (state Active, behavior Approve, enough balance): " +
	"apply one, or pass --msisdn")

func (t *trial) pay(ctx context.Context, payer wire.TestClient) (payment wire.Payment, err error) {
	reference := make([]byte, 8)
	if _, err := io.ReadFull(t.random, reference); err != nil {
		return payment, err
	}
	body := wire.CreatePaymentRequest{
		Amount: t.options.amount, Currency: payer.Currency, Operator: payer.Operator, Country: payer.Country, MSISDN: payer.MSISDN,
		Reference: fmt.Sprintf("TRY-%X", reference), Application: t.options.application, Description: new("cauri try"),
	}
	for { // every request has the same reference, so that only one payment is made
		payment, err := t.api.Pay(ctx, body)
		if err == nil || !transient(err) {
			return payment, err
		}
		if err := t.wait(ctx, "the payment could not be made", err); err != nil {
			return payment, err
		}
	}
}

// wait waits until the next attempt. After the time limit, it returns an error that names the awaited object and the
// cause.
func (t *trial) wait(ctx context.Context, what string, because error) error {
	if because != nil && !errors.Is(because, context.DeadlineExceeded) {
		t.cause = because
	}
	select {
	case <-ctx.Done():
		if because != nil && t.cause != nil {
			what += ": " + cli.Message(t.cause)
		}
		return kube.Because(cmp.Or(context.Cause(ctx), context.DeadlineExceeded), "after %s, %s", payments.FormatDuration(time.Since(t.begun)), what)
	case <-time.After(t.interval):
		return nil
	}
}

// transient reports whether a retry may help. Such errors are a missing response, an unavailable database of the api,
// and a key or a number that the api does not know yet.
func transient(err error) bool {
	var refused *sandboxapi.RefusedError
	if !errors.As(err, &refused) {
		return true
	}
	return refused.Status >= 500 || refused.Status == http.StatusUnauthorized || refused.Status == http.StatusTooManyRequests ||
		sandboxapi.IsNotFound(err)
}
