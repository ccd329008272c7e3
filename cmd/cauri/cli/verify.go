package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/explain"
	"github.com/cauri-dev/cauri/cmd/cauri/kube"
	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/textfile"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func (p *program) verifyCommand() *cobra.Command {
	var o output
	var secret signingSecret
	var headers, at, computed string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Verify a captured webhook request against a signing secret, step by step",
		Long: `Verify a captured webhook request against a signing secret, step by step, and say which
step fails.

FILE, or the standard input, is the whole request: headers, an empty line, the body.
With --headers it is the body alone, byte for byte. The exit code is 5 if a signature
does not match.

With the id of an EVENT, it also compares the body with the bytes that the sandbox
stores, and says which differ. Without a secret it takes that of the sandbox.

With --computed=SIGNATURE, which a program computed for EVENT and logged, no request is
needed: the event is signed again as usual mistakes do, and the one that fits is named.`,
		Example: `  cauri verify request.txt --secret-file=secret.txt
  cauri verify body.json --headers=headers.txt
  cauri verify evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE request.txt --env-file=.env.cauri
  cauri verify evt_01JCC5H2M4Q7ZXW3V8R6T9B0YE --computed=sha256=64e832ddea26d2a2a3c0f0c6a5a0e3f0f6b1bfb07cb3a0dd5b2d8a2fd7c7a5b1`,
	}
	direct := *p
	direct.Plugin = false // the first argument is not a sandbox, because the command mostly needs none
	t := direct.target(cmd, argument{name: "EVENT"}, argument{name: "FILE"})
	cmd.ValidArgsFunction = nil // the arguments are files
	flags := cmd.Flags()
	flags.StringVar(&headers, "headers", "", "file with the headers, one a line; FILE is then the body alone")
	flags.StringVar(&at, "received-at", "", "when the request arrived, such as 2026-05-31T12:00:00Z; empty: the time in its header, so that its age is not checked")
	flags.StringVar(&computed, "computed", "", "signature that a program computed for EVENT, in place of FILE")
	secret.add(cmd)
	o.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := o.check(); err != nil {
			return err
		}
		key, err := secret.of(cmd.Context(), t, nil)
		if err != nil {
			return err
		}
		event, args, err := splitEvent(args)
		if err != nil {
			return err
		}
		if computed != "" {
			return p.verifyComputed(cmd, t, o, event, args, computed, key)
		}
		header, body, now, err := readCaptured(cmd.InOrStdin(), args, headers, at)
		if err != nil {
			return err
		}
		found, failure := verify(header, body, key, now, at != "")
		if event == "" {
			return errors.Join(found.print(cmd.OutOrStdout(), o), failure)
		}
		return t.withAPI(cmd, nil, func(ctx context.Context, api *sandboxapi.Client, _ *sandbox, _ []string) error {
			stored, err := api.Event(ctx, event)
			if err != nil {
				return err
			}
			other := found.compare(event, stored.Body, string(body))
			return cmp.Or(found.print(cmd.OutOrStdout(), o), other, failure)
		})
	}
	return cmd
}

// verifyComputed says how a program computed another signature of an event.
func (p *program) verifyComputed(cmd *cobra.Command, t *target, o output, event string, files []string, computed, key string) error {
	if event == "" || len(files) > 0 {
		return usage(errors.New("--computed needs the id of an event, and no file: write `cauri verify EVENT --computed=SIGNATURE`"))
	}
	return t.withAPI(cmd, nil, func(ctx context.Context, api *sandboxapi.Client, s *sandbox, _ []string) error {
		x := s.explainer(p, api)
		x.Secrets[explain.SigningSecret] = key
		return s.diagnosed(ctx, cmd.OutOrStdout(), o, x, event, computed)
	})
}

// splitEvent separates the id of an event from the other arguments, which are at most one file.
func splitEvent(args []string) (event string, files []string, err error) {
	if len(args) > 0 && strings.HasPrefix(args[0], eventPrefix) {
		event, args = args[0], args[1:]
	}
	if len(args) > 1 {
		return "", nil, usage(fmt.Errorf("%q is no id of an event: write `cauri verify EVENT FILE`, or `cauri verify FILE`", args[0]))
	}
	return event, args, nil
}

// readCaptured reads a captured request from the file in files, or else from standard input. It also returns the time
// at which the request arrived. The parameter headers is the path of the file with the headers. If it is empty, the
// headers precede the body.
func readCaptured(standard io.Reader, files []string, headers, at string) (http.Header, []byte, time.Time, error) {
	in := standard
	if len(files) == 1 && files[0] != "-" {
		file, err := os.Open(files[0])
		if err != nil {
			return nil, nil, time.Time{}, usage(err)
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	header, body, err := captured(textfile.Reader(in), headers)
	if err != nil {
		return nil, nil, time.Time{}, err
	}
	now, err := arrival(header, at)
	return header, body, now, err
}

// arrival returns the time at which a request arrived: the user's time, or else the time in its header.
func arrival(header http.Header, at string) (time.Time, error) {
	if at == "" {
		return sentAt(header), nil
	}
	now, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return now, usage(fmt.Errorf("--received-at=%s: write a time like 2026-05-31T12:00:00Z", at))
	}
	return now, nil
}

// verified is the result of `cauri verify`.
type verified struct {
	Valid bool           `json:"valid"`
	Steps []verifiedStep `json:"steps"`
}

// verifiedStep is a step of a receiver's verification.
type verifiedStep struct {
	Step   string `json:"step"`
	Result string `json:"result"` // ok, FAILED or skipped
	Note   string `json:"note,omitempty"`
}

func (v *verified) add(result, step, note string) {
	v.Steps = append(v.Steps, verifiedStep{step, result, note})
}

func (v *verified) print(out io.Writer, o output) error {
	var names []string
	for _, s := range v.Steps {
		if s.Result == resultFailed {
			names = append(names, s.Step)
		}
	}
	return o.print(out, v, names, func(out io.Writer) {
		for _, s := range v.Steps {
			Fprintf(out, "%-8s %s%s\n", s.Result, s.Step, s.Note)
		}
	})
}

// compare adds a step if a body is the stored body of an event. Otherwise it returns an error with the difference.
func (v *verified) compare(event, stored, body string) error {
	if difference := differs(stored, body); difference != "" {
		v.Valid = false
		return negative("wrong_body", "the body is not that of %s: %s", event, difference)
	}
	v.add(resultOK, fmt.Sprintf("the %d bytes of %s", len(body), event), "")
	return nil
}

// differs returns a text about the first difference between a body and the stored one; "" for none.
func differs(stored, body string) string {
	if stored == body {
		return ""
	}
	at := 0
	for at < min(len(stored), len(body)) && stored[at] == body[at] {
		at++
	}
	part := func(text string) string {
		if at == len(text) {
			return "nothing more"
		}
		return strconv.Quote(text[at:min(len(text), at+20)])
	}
	said := fmt.Sprintf("byte %d and those behind it. Stored is %s, and the body has %s (%d and %s).", at+1, part(stored), part(body),
		len(stored), english.Plural(len(body), "byte", "bytes"))
	var sent, got any
	if json.Unmarshal([]byte(stored), &sent) == nil && json.Unmarshal([]byte(body), &got) == nil && reflect.DeepEqual(sent, got) {
		said += rewritten
	}
	return said
}

// rewritten is the message for a body that was parsed and encoded again.
const rewritten = "\nThe body is the same JSON, parsed and written again: verify the bytes that arrive, before anything parses them."

// captured reads a captured request. The parameter headers is the path of the file with the headers. If it is empty,
// the headers precede the body.
func captured(in io.Reader, headers string) (http.Header, []byte, error) {
	reader := bufio.NewReader(io.LimitReader(in, 2*maxEvent))
	top := reader
	if headers != "" {
		text, err := textfile.Read(headers)
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
		return nil, nil, usage(kube.Because(err, "the headers cannot be read: write one `Name: value` a line, and an empty line behind them"))
	}
	body, err := io.ReadAll(reader)
	return http.Header(header), body, err
}

// sentAt returns the time in the header of a request; zero for none.
func sentAt(header http.Header) time.Time {
	seconds, err := strconv.ParseInt(header.Get(webhooks.HeaderStandardTimestamp), 10, 64)
	if err != nil {
		return time.Now()
	}
	return time.Unix(seconds, 0)
}

// verify returns the steps of a receiver's verification, in order. The parameter aged is true if now is not taken from the request itself.
func verify(header http.Header, body []byte, secret string, now time.Time, aged bool) (*verified, error) {
	failure := webhooks.Verify(header, body, secret, now)
	v := &verified{Valid: failure == nil}
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
			v.add(resultFailed, step.name, "")
		case passed && !aged && errors.Is(step.err, webhooks.ErrBadTimestamp):
			v.add(resultOK, step.name, ", whose age is not checked: say with --received-at when it arrived")
		case passed && errors.Is(step.err, webhooks.ErrBadSignature) && !webhooks.SignedBy(secret, header, body):
			v.add(resultSkipped, step.name, ": newer secrets signed it")
		case passed:
			v.add(resultOK, step.name, "")
		default:
			v.add(resultSkipped, step.name, "")
		}
	}
	if failure == nil {
		return v, nil
	}
	return v, negative("wrong_signature", "%w%s", failure, probableCause(header, body, secret, now))
}

// probableCause returns a text about the probable cause of a failed verification. It undoes common mistakes one by one, and
// reports the mistake without which the verification passes.
func probableCause(header http.Header, body []byte, secret string, now time.Time) string {
	passes := func(body []byte, secret string) bool { return webhooks.Verify(header, body, secret, now) == nil }
	without, _ := strings.CutPrefix(secret, webhooks.SecretPrefix)
	switch {
	case strings.HasPrefix(secret, keyPrefix):
		return "\nThis secret is the API key of a sandbox: take its webhook-signing-secret, which begins with " + webhooks.SecretPrefix + "."
	case errors.Is(webhooks.Verify(header, body, secret, now), webhooks.ErrBadTimestamp):
		return fmt.Sprintf("\nIt says that it was sent at %s.", MachineTime(sentAt(header)))
	case len(header.Values(webhooks.HeaderSignature)) == 0:
		return "\nThe headers have no " + webhooks.HeaderSignature + ": does a proxy remove it?"
	case passes(bytes.TrimRight(body, "\r\n"), secret):
		return "\nThe body has a line break at its end that was not sent: capture it byte for byte."
	case passes(bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")), secret):
		return "\nThe body has other line breaks than were sent: capture it byte for byte."
	case passes(webhooks.AsSent(body), secret):
		return rewritten
	case passes(body, strings.TrimSpace(secret)):
		return "\nThe secret has spaces or a line break around it."
	case passes(body, webhooks.SecretPrefix+secret):
		return "\nThe secret lacks " + webhooks.SecretPrefix + " at its beginning, which is a part of it."
	case passes(body, without):
		return "\nThe secret has " + webhooks.SecretPrefix + " at its beginning, which is not a part of it."
	}
	return "\nThe secret is that of another sandbox, or the body is not the one that arrived."
}

const (
	keyPrefix   = "cauri_sk_" // prefix of API keys
	eventPrefix = "evt_"      // prefix of ids of events
)

// signingSecret has the flags of a command that needs a signing secret.
type signingSecret struct{ text, file string }

func (s *signingSecret) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.text, "secret", "",
		"webhook-signing-secret of the sandbox; prefer CAURI_WEBHOOK_SECRET, which ps does not show")
	cmd.Flags().StringVar(&s.file, "secret-file", "", "file with the signing secret (CAURI_WEBHOOK_SECRET_FILE)")
}

func (s *signingSecret) given() bool { return s.text != "" || s.file != "" }

// of returns the secret of the flags, or else the secret of the command's sandbox.
func (s *signingSecret) of(ctx context.Context, t *target, args []string) (string, error) {
	secret, _, err := s.find(ctx, t, args)
	return secret, err
}

// find returns the secret of the flags, or else that of the command's sandbox, which it returns too; nil for none.
func (s *signingSecret) find(ctx context.Context, t *target, args []string) (secret string, of *sandbox, err error) {
	if s.given() || t.uri != "" && t.sandbox == "" {
		secret, err = s.read()
		return secret, nil, err
	}
	of, _, err = t.find(ctx, args)
	if errors.Is(err, errNoSandbox) {
		secret, err = s.read()
		return secret, nil, err
	}
	if err == nil {
		err = of.credentials(ctx)
	}
	if err != nil {
		return "", nil, err
	}
	if of.secret != "" {
		return of.secret, of, nil
	}
	secret, err = s.read()
	return secret, of, err
}

func (s *signingSecret) read() (string, error) {
	if s.file == "" {
		if s.text == "" {
			return "", usage(errors.New("no signing secret: set CAURI_WEBHOOK_SECRET to the webhook-signing-secret of the sandbox's Secret, " +
				"or pass --secret or --secret-file"))
		}
		return s.text, nil
	}
	text, err := textfile.Read(s.file)
	if err != nil {
		return "", usage(fmt.Errorf("reading the signing secret: %w", err))
	}
	secret := strings.TrimRight(string(text), "\r\n")
	if secret == "" {
		return "", usage(fmt.Errorf("reading the signing secret: %s is empty", s.file))
	}
	return secret, nil
}
