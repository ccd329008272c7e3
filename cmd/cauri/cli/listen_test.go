package cli

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

const listenSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

var listenedAt = time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)

const listenedEvent = `{"event":"payment.completed","tx_id":"TX_1","status":"SUCCESS","amount":"25000","currency":"RWF",` +
	`"operator":"mtn","country":"RW","msisdn":"+250788000001","reference":"r1"}`

// deliver sends an event to a receiver as a worker would, after change, and returns the answer and what was printed.
func deliver(t *testing.T, r *receiver, body string, change func(*http.Request)) (*httptest.ResponseRecorder, string) {
	t.Helper()
	var out bytes.Buffer
	r.out, r.now = &out, func() time.Time { return listenedAt }
	request := httptest.NewRequest(http.MethodPost, "/hooks/payments", strings.NewReader(body))
	h := request.Header
	h.Set(webhooks.HeaderEvent, payments.Collection.Event())
	h.Set(webhooks.HeaderDelivery, "evt_1")
	h.Set(webhooks.HeaderSignature, webhooks.Signature(listenSecret, []byte(body)))
	h.Set(webhooks.HeaderStandardID, "evt_1")
	h.Set(webhooks.HeaderStandardTimestamp, strconv.FormatInt(listenedAt.Unix(), 10))
	h.Set(webhooks.HeaderStandardSignature, webhooks.StandardSignature(listenSecret, "evt_1", listenedAt, []byte(body)))
	if change != nil {
		change(request)
	}
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, request)
	return answer, out.String()
}

func TestListenPrintsWhatItVerified(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		body, want string
		full       bool
	}{
		"a line": {listenedEvent, LineTime(listenedAt, false) + "  verified  payment.completed       TX_1                            SUCCESS                25000 RWF  " +
			"mtn/RW     +250788000001  ref r1  evt_1\n", false},
		"full":     {listenedEvent, listenedEvent + "\n", true},
		"not JSON": {"hello", LineTime(listenedAt, false) + "  verified  an event that is not JSON  evt_1\n", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer, printed := deliver(t, &receiver{secret: listenSecret, full: c.full}, c.body, nil)
			if answer.Code != http.StatusNoContent || printed != c.want {
				t.Errorf("answered %d, printed %q, want %q", answer.Code, printed, c.want)
			}
		})
	}
}

func TestListenRefusesWhatItCannotVerify(t *testing.T) {
	t.Parallel()
	drop := func(name string) func(*http.Request) { return func(r *http.Request) { r.Header.Del(name) } }
	cases := map[string]struct {
		secret string
		change func(*http.Request)
		why    error
	}{
		"another secret":        {"whsec_dGVzdA==", nil, webhooks.ErrBadSignature},
		"no secret":             {"", nil, webhooks.ErrBadSignature},
		"no signature":          {listenSecret, drop(webhooks.HeaderSignature), webhooks.ErrBadSignature},
		"no standard signature": {listenSecret, drop(webhooks.HeaderStandardSignature), webhooks.ErrBadStandardSignature},
		"no timestamp":          {listenSecret, drop(webhooks.HeaderStandardTimestamp), webhooks.ErrBadTimestamp},
		"another body": {listenSecret, func(r *http.Request) {
			r.Body = http.NoBody
		}, webhooks.ErrBadSignature},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer, printed := deliver(t, &receiver{secret: c.secret}, listenedEvent, c.change)
			if answer.Code != http.StatusUnauthorized {
				t.Errorf("answered %d", answer.Code)
			}
			if want := LineTime(listenedAt, false) + "  REFUSED  POST /hooks/payments: " + c.why.Error() + "\n"; printed != want {
				t.Errorf("printed %q, want %q", printed, want)
			}
		})
	}
}

// During a rotation a receiver that still has the previous secret accepts.
func TestListenAcceptsThePreviousSecret(t *testing.T) {
	t.Parallel()
	const previous = "whsec_dGhlIHByZXZpb3VzIG9uZQ=="
	answer, printed := deliver(t, &receiver{secret: previous}, listenedEvent, func(r *http.Request) {
		body := []byte(listenedEvent)
		r.Header.Set(webhooks.HeaderPreviousSignature, webhooks.Signature(previous, body))
		r.Header.Set(webhooks.HeaderStandardSignature,
			webhooks.StandardSignatures(listenSecret, []string{previous}, "evt_1", listenedAt, body))
	})
	if answer.Code != http.StatusNoContent {
		t.Errorf("answered %d, printed %q", answer.Code, printed)
	}
}

// Without a secret even a signature made without one is refused.
func TestListenWithoutASecretFailsClosed(t *testing.T) {
	t.Parallel()
	answer, _ := deliver(t, &receiver{}, listenedEvent, func(r *http.Request) {
		r.Header.Set(webhooks.HeaderSignature, webhooks.Signature("", []byte(listenedEvent)))
		r.Header.Set(webhooks.HeaderStandardSignature, webhooks.StandardSignature("", "evt_1", listenedAt, []byte(listenedEvent)))
	})
	if answer.Code != http.StatusUnauthorized {
		t.Errorf("answered %d", answer.Code)
	}
}

func TestListenRefusesABodyThatIsTooLarge(t *testing.T) {
	t.Parallel()
	answer, printed := deliver(t, &receiver{secret: listenSecret}, strings.Repeat("a", maxEvent+1), nil)
	if answer.Code != http.StatusBadRequest || printed != "" {
		t.Errorf("answered %d, printed %q", answer.Code, printed)
	}
}

func TestListenSecret(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cases := map[string]struct {
		options signingSecret
		want    string // empty: an error
	}{
		"given":                     {signingSecret{text: listenSecret}, listenSecret},
		"file":                      {signingSecret{file: file(listenSecret)}, listenSecret},
		"file with a line break":    {signingSecret{file: file(listenSecret + "\n")}, listenSecret},
		"file of Windows":           {signingSecret{file: file(listenSecret + "\r\n")}, listenSecret},
		"blanks belong to a secret": {signingSecret{file: file(" my own secret \n")}, " my own secret "},
		"nothing":                   {signingSecret{}, ""},
		"empty file":                {signingSecret{file: file("\n")}, ""},
		"no such file":              {signingSecret{file: filepath.Join(t.TempDir(), "none")}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := c.options.read()
			if got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
	if _, err := (&signingSecret{file: "/none"}).read(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
