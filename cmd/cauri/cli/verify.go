package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/server/webhooks"
)

func (p *program) verifyCommand() *cobra.Command {
	var secret signingSecret
	var headers, at string
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify a captured webhook request against a signing secret, step by step",
		Long: `Verify a captured webhook request against a signing secret, step by step, and say which
step fails.

FILE, or the standard input, is the whole request: headers, an empty line, the body.
With --headers it is the body alone, byte for byte. The exit code is 5 if a signature
does not match.`,
		Example: `  cauri verify request.txt --secret-file=secret.txt
  cauri verify body.json --headers=headers.txt`,
		Args: func(cmd *cobra.Command, args []string) error { return usage(cobra.MaximumNArgs(1)(cmd, args)) },
	}
	flags := cmd.Flags()
	flags.StringVar(&headers, "headers", "", "file with the headers, one a line; FILE is then the body alone")
	flags.StringVar(&at, "received-at", "", "when the request arrived, such as 2026-05-31T12:00:00Z; empty: the time in its header, so that its age is not checked")
	secret.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		key, err := secret.read()
		if err != nil {
			return err
		}
		in := cmd.InOrStdin()
		if len(args) == 1 && args[0] != "-" {
			file, err := os.Open(args[0])
			if err != nil {
				return usage(err)
			}
			defer func() { _ = file.Close() }()
			in = file
		}
		header, body, err := captured(in, headers)
		if err != nil {
			return err
		}
		now := sentAt(header)
		if at != "" {
			if now, err = time.Parse(time.RFC3339, at); err != nil {
				return usage(fmt.Errorf("--received-at=%s: write a time like 2026-05-31T12:00:00Z", at))
			}
		}
		return verify(cmd.OutOrStdout(), header, body, key, now)
	}
	return cmd
}

// captured reads a request. headers is the file of its headers, empty if they are before the body.
func captured(in io.Reader, headers string) (http.Header, []byte, error) {
	reader := bufio.NewReader(io.LimitReader(in, 2*maxEvent))
	top := reader
	if headers != "" {
		text, err := os.ReadFile(headers)
		if err != nil {
			return nil, nil, usage(err)
		}
		top = bufio.NewReader(io.MultiReader(bytes.NewReader(bytes.TrimSpace(text)), strings.NewReader("\n\n")))
	}
	if line, _ := top.Peek(5); string(line) == "POST " { // the request line
		if _, err := top.ReadString('\n'); err != nil {
			return nil, nil, usage(err)
		}
	}
	header, err := textproto.NewReader(top).ReadMIMEHeader()
	if err != nil {
		return nil, nil, usage(fmt.Errorf("reading the headers, one `Name: value` a line and an empty line behind them: %w", err))
	}
	body, err := io.ReadAll(reader)
	return http.Header(header), body, err
}

// sentAt is the time that a request claims.
func sentAt(header http.Header) time.Time {
	seconds, err := strconv.ParseInt(header.Get(webhooks.HeaderStandardTimestamp), 10, 64)
	if err != nil {
		return time.Now()
	}
	return time.Unix(seconds, 0)
}

// verify prints the steps of a verification, in the order in which a receiver makes them.
func verify(out io.Writer, header http.Header, body []byte, secret string, now time.Time) error {
	failure := webhooks.Verify(header, body, secret, now)
	passed := true
	for _, step := range []struct {
		name string
		err  error
	}{
		{webhooks.HeaderSignature, webhooks.ErrBadSignature},
		{webhooks.HeaderStandardTimestamp, webhooks.ErrBadTimestamp},
		{webhooks.HeaderStandardSignature, webhooks.ErrBadStandardSignature},
	} {
		switch {
		case errors.Is(failure, step.err):
			passed = false
			fmt.Fprintf(out, "FAILED   %s\n", step.name)
		case passed:
			fmt.Fprintf(out, "ok       %s\n", step.name)
		default:
			fmt.Fprintf(out, "skipped  %s\n", step.name)
		}
	}
	if failure == nil {
		return nil
	}
	return negativeError{fmt.Errorf("%w%s", failure, likely(header, body, secret, now))}
}

// likely names a mistake that explains why a verification fails, if a request without the mistake passes.
func likely(header http.Header, body []byte, secret string, now time.Time) string {
	passes := func(body []byte, secret string) bool { return webhooks.Verify(header, body, secret, now) == nil }
	without, _ := strings.CutPrefix(secret, webhooks.SecretPrefix)
	switch {
	case errors.Is(webhooks.Verify(header, body, secret, now), webhooks.ErrBadTimestamp):
		return fmt.Sprintf("\nIt says that it was sent at %s.", sentAt(header).UTC().Format(time.RFC3339))
	case len(header.Values(webhooks.HeaderSignature)) == 0:
		return "\nThe headers have no " + webhooks.HeaderSignature + ": does a proxy remove it?"
	case passes(bytes.TrimRight(body, "\r\n"), secret):
		return "\nThe body has a line break at its end that was not sent: capture it byte for byte."
	case passes(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), secret):
		return "\nThe body has other line breaks than were sent: capture it byte for byte."
	case passes(body, strings.TrimSpace(secret)):
		return "\nThe secret has spaces or a line break around it."
	case passes(body, webhooks.SecretPrefix+secret):
		return "\nThe secret lacks " + webhooks.SecretPrefix + " at its beginning, which is a part of it."
	case passes(body, without):
		return "\nThe secret has " + webhooks.SecretPrefix + " at its beginning, which is not a part of it."
	}
	return "\nThe secret is that of another sandbox, or the body is not the one that arrived: a parsed and rewritten body has other bytes."
}

// signingSecret is the flags of a command that needs the signing secret.
type signingSecret struct{ text, file string }

func (s *signingSecret) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.text, "secret", "",
		"webhook-signing-secret of the sandbox; prefer CAURI_WEBHOOK_SECRET, which ps does not show")
	cmd.Flags().StringVar(&s.file, "secret-file", "", "file with the signing secret (CAURI_WEBHOOK_SECRET_FILE)")
}

func (s *signingSecret) given() bool { return s.text != "" || s.file != "" }

func (s *signingSecret) read() (string, error) {
	if s.file == "" {
		if s.text == "" {
			return "", usage(errors.New("no signing secret: set CAURI_WEBHOOK_SECRET to the webhook-signing-secret of the sandbox's Secret, " +
				"or pass --secret or --secret-file"))
		}
		return s.text, nil
	}
	text, err := os.ReadFile(s.file)
	if err != nil {
		return "", usage(fmt.Errorf("reading the signing secret: %w", err))
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", usage(fmt.Errorf("reading the signing secret: %s is empty", s.file))
	}
	return secret, nil
}
