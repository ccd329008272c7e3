package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/server/webhooks"
)

type listenOptions struct {
	address    string
	secret     string
	secretFile string
	full       bool
}

func newListenCommand() *cobra.Command {
	var o listenOptions
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Receive webhooks, verify both signatures and print one line for each event",
		Example: `  export CAURI_WEBHOOK_SECRET="$(kubectl get secret checkout-credentials \
    -o jsonpath='{.data.webhook-signing-secret}' | base64 -d)"
  cauri listen`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			secret, err := o.signingSecret()
			if err != nil {
				return err
			}
			listener, err := bind("webhooks", o.address)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), "webhooks", listener, &receiver{secret: secret, full: o.full, out: cmd.OutOrStdout(), now: time.Now})
		},
	}
	cmd.Flags().StringVar(&o.address, "address", "127.0.0.1:9000", "address to listen on; webhooks are accepted at every path")
	cmd.Flags().StringVar(&o.secret, "secret", "",
		"webhook-signing-secret of the sandbox; prefer CAURI_WEBHOOK_SECRET, which ps does not show")
	cmd.Flags().StringVar(&o.secretFile, "secret-file", "", "file with the signing secret (CAURI_WEBHOOK_SECRET_FILE)")
	cmd.Flags().BoolVar(&o.full, "full", false, "print the whole body of each event instead of one line")
	return cmd
}

func (o listenOptions) signingSecret() (string, error) {
	if o.secretFile == "" {
		if o.secret == "" {
			return "", errors.New("no signing secret: set CAURI_WEBHOOK_SECRET to the webhook-signing-secret of the sandbox's Secret, " +
				"or pass --secret or --secret-file")
		}
		return o.secret, nil
	}
	text, err := os.ReadFile(o.secretFile)
	if err != nil {
		return "", fmt.Errorf("reading the signing secret: %w", err)
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", fmt.Errorf("reading the signing secret: %s is empty", o.secretFile)
	}
	return secret, nil
}

// receiver is a webhook endpoint as every merchant should write it: it verifies before it parses, and refuses in doubt.
type receiver struct {
	secret string
	full   bool
	out    io.Writer
	now    func() time.Time
}

// maxEvent bounds the body of an event, in bytes.
const maxEvent = 1 << 20

func (l *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxEvent))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusBadRequest)
		return
	}
	at := l.now().Format("15:04:05.000")
	if err := webhooks.Verify(r.Header, body, l.secret, l.now()); err != nil {
		fmt.Fprintf(l.out, "%s  REFUSED  %s %s: %v\n", at, printable(r.Method), printable(r.URL.Path), err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if l.full {
		fmt.Fprintf(l.out, "%s\n", body)
	} else {
		fmt.Fprintf(l.out, "%s  verified  %s  %s\n", at, summary(body), printable(r.Header.Get(webhooks.HeaderDelivery)))
	}
	w.WriteHeader(http.StatusNoContent)
}

// paymentSummary is a transaction, or an event of one, on one line.
type paymentSummary struct {
	What      string `json:"event"`
	ID        string `json:"tx_id"`
	Status    string `json:"status"`
	Amount    string `json:"amount"`
	Currency  string `json:"currency"`
	Operator  string `json:"operator"`
	Country   string `json:"country"`
	MSISDN    string `json:"msisdn"`
	Reference string `json:"reference"`
}

func (p paymentSummary) String() string {
	return printable(fmt.Sprintf("%s  %s  %s  %s %s  %s/%s %s  ref %s", p.What, p.ID, p.Status, p.Amount, p.Currency, p.Operator, p.Country,
		p.MSISDN, p.Reference))
}

// summary is an event on one line.
func summary(body []byte) string {
	var event paymentSummary
	if err := json.Unmarshal(body, &event); err != nil {
		return "an event that is not JSON"
	}
	return event.String()
}

// printable replaces control characters, so that a text stays on its line and cannot control the terminal: the sender may be unknown, and
// chooses the reference freely.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
