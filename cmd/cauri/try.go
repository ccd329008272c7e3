package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/server/egress"
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
			if err := o.complete(); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), o.timeout)
			defer cancel()
			trial := &trial{options: o, client: &http.Client{}, out: cmd.OutOrStdout(), random: rand.Reader, interval: tryPoll}
			return trial.run(ctx)
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
	return cmd
}

// tryPoll is the time between two requests.
const tryPoll = 250 * time.Millisecond

// complete reads the binding and checks that nothing is missing.
func (o *tryOptions) complete() error {
	if o.binding != "" {
		for name, value := range map[string]*string{"uri": &o.url, "api-key": &o.apiKey} {
			if *value != "" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(o.binding, name))
			if err != nil {
				return fmt.Errorf("--binding: %w", err)
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
		return errors.New("no sandbox: set CAURI_URI to the uri of the sandbox's Secret, " +
			"or pass --env-file=<file of cauri dev --env-file>, --url=<status.url of the SandboxEnvironment> or --binding=<folder of its Secret>")
	}
	if o.apiKey == "" {
		return errors.New("no API key: set CAURI_API_KEY to the api-key of the sandbox's Secret, or pass --binding=<folder of the Secret>")
	}
	if o.amount < 1 {
		return errors.New("--amount must be at least 1")
	}
	return nil
}

// trial is one test payment.
type trial struct {
	options  tryOptions
	client   *http.Client
	out      io.Writer
	random   io.Reader
	interval time.Duration
	begun    time.Time
	cause    error // of the last attempt that failed for another reason than the time limit
}

type tryPayer struct {
	MSISDN   string `json:"msisdn"`
	Name     string `json:"name"`
	Operator string `json:"operator"`
	Country  string `json:"country"`
	Currency string `json:"currency"`
	State    string `json:"state"`
	Behavior string `json:"behavior"`
	Balance  int64  `json:"balance"`
}

type tryPayment struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
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
	t.say("payment", "%s of %d %s: %s", payment.ID, payment.Amount, payment.Currency, payment.Status)
	for seen := payment.Status; payment.Status == "PENDING"; {
		if err := t.wait(ctx, "the payment "+payment.ID+" is still PENDING: is a worker running?", nil); err != nil {
			return err
		}
		if err := t.call(ctx, http.MethodGet, "/payments/"+payment.ID, nil, &payment); err != nil && !transient(err) {
			return err
		}
		if payment.Status != seen {
			t.say("payment", "%s", payment.Status)
		}
	}
	if payment.Status != "SUCCESS" {
		return fmt.Errorf("the payment %s ended %s and not SUCCESS", payment.ID, payment.Status)
	}
	return nil
}

func (t *trial) say(what, format string, args ...any) {
	fmt.Fprintf(t.out, "%7.3fs  %-8s %s\n", time.Since(t.begun).Seconds(), what, cli.Printable(fmt.Sprintf(format, args...)))
}

// awaitPayer finds the test client that pays. A new sandbox may not have it yet, and the api may not know its key yet.
func (t *trial) awaitPayer(ctx context.Context) (tryPayer, error) {
	for {
		payer, err := t.findPayer(ctx)
		if err == nil || !transient(err) {
			return payer, err
		}
		if err := t.wait(ctx, "there is no payer", err); err != nil {
			return tryPayer{}, err
		}
	}
}

func (t *trial) findPayer(ctx context.Context) (payer tryPayer, err error) {
	if t.options.msisdn != "" {
		return payer, t.call(ctx, http.MethodGet, "/test_clients/"+url.PathEscape(t.options.msisdn), nil, &payer)
	}
	var list struct {
		Data []tryPayer `json:"data"`
	}
	if err := t.call(ctx, http.MethodGet, "/test_clients?limit=100", nil, &list); err != nil {
		return payer, err
	}
	for _, payer := range list.Data {
		if payer.State == "Active" && payer.Behavior == "Approve" && payer.Balance >= t.options.amount {
			return payer, nil
		}
	}
	return payer, errNoPayer
}

var errNoPayer = errors.New("no TestClient of the sandbox can pay (state Active, behavior Approve, enough balance): " +
	"apply one, or pass --msisdn")

func (t *trial) pay(ctx context.Context, payer tryPayer) (payment tryPayment, err error) {
	reference := make([]byte, 8)
	if _, err := io.ReadFull(t.random, reference); err != nil {
		return payment, err
	}
	body := map[string]any{
		"amount": t.options.amount, "currency": payer.Currency, "operator": payer.Operator, "country": payer.Country, "msisdn": payer.MSISDN,
		"reference": fmt.Sprintf("TRY-%X", reference), "application": t.options.application, "description": "cauri try",
	}
	for { // a repeated request has the same reference, so that it is no second payment
		err := t.call(ctx, http.MethodPost, "/payments", body, &payment)
		if err == nil || !transient(err) {
			return payment, err
		}
		if err := t.wait(ctx, "the payment could not be made", err); err != nil {
			return payment, err
		}
	}
}

// wait waits until the next attempt. When the time limit is reached, it returns an error with what it waited for, and why.
func (t *trial) wait(ctx context.Context, what string, because error) error {
	if because != nil && !errors.Is(because, context.DeadlineExceeded) {
		t.cause = because
	}
	select {
	case <-ctx.Done():
		if because != nil && t.cause != nil {
			what += ": " + cli.Message(t.cause)
		}
		return fmt.Errorf("after %s, %s", time.Since(t.begun).Round(time.Second), what)
	case <-time.After(t.interval):
		return nil
	}
}

// refusedError is an error response of the API.
type refusedError struct {
	status        int
	code, message string
}

func (e refusedError) Error() string {
	if e.code == "" {
		return fmt.Sprintf("the API answered %d", e.status)
	}
	return fmt.Sprintf("the API answered %d %s: %s", e.status, e.code, e.message)
}

// transient reports whether an error may disappear by itself: no response, an api without its database, a key or a number that the api does
// not know yet.
func transient(err error) bool {
	var refused refusedError
	if !errors.As(err, &refused) {
		return true
	}
	return refused.status >= 500 || refused.status == http.StatusUnauthorized || refused.status == http.StatusTooManyRequests ||
		refused.status == http.StatusNotFound && refused.code == "not_found"
}

// maxTryResponse bounds a response, in bytes.
const maxTryResponse = 1 << 20

func (t *trial) call(ctx context.Context, method, path string, body, result any) error {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(t.options.url, "/")+"/api/v1"+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+t.options.apiKey)
	request.Header.Set("Content-Type", "application/json")
	answer, err := t.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxTryResponse))
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		refused := struct{ Error, Message string }{}
		_ = json.Unmarshal(text, &refused) // an error of another server has no code
		return refusedError{answer.StatusCode, refused.Error, refused.Message}
	}
	if err := json.Unmarshal(text, result); err != nil {
		return fmt.Errorf("the answer to %s %s is not one of the API: %w", method, path, err)
	}
	return nil
}
