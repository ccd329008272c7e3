package webhooks_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// seen is what a receiver makes of an attempt.
type seen struct {
	Signed      bool // by the secret, at a time that is not too old
	Standard    bool // the signature of the specification holds too, whenever it was made
	JSON        bool
	Event       string // of the header
	ContentType string
	Changed     bool // the body is not the stored one
}

func TestFaultChangesBytesOnTheWay(t *testing.T) {
	t.Parallel()
	untouched := seen{Signed: true, Standard: true, JSON: true, Event: "payment.completed", ContentType: "application/json"}
	for name, c := range map[string]struct {
		fault faults.Webhook
		want  func(*seen)
	}{
		"nothing":       {faults.Webhook{}, func(*seen) {}},
		"before answer": {faults.Webhook{BeforeAnswer: true}, func(*seen) {}},
		"bad signature": {faults.Webhook{BadSignature: true}, func(s *seen) { s.Signed, s.Standard = false, false }},
		"stale":         {faults.Webhook{StaleTimestamp: new(faults.Duration(10 * time.Minute))}, func(s *seen) { s.Signed = false }},
		"truncated": {faults.Webhook{Truncate: true}, func(s *seen) {
			s.Signed, s.Standard, s.JSON, s.Changed = false, false, false, true
		}},
		"content type":  {faults.Webhook{ContentType: "text/plain"}, func(s *seen) { s.ContentType = "text/plain" }},
		"unknown field": {faults.Webhook{UnknownField: true}, func(s *seen) { s.Changed = true }},
		"unknown event": {faults.Webhook{UnknownEvent: true}, func(s *seen) { s.Changed, s.Event = true, webhooks.UnknownEvent }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stored, err := webhooks.Body("org_1", sample(), nil)
			if err != nil {
				t.Fatal(err)
			}
			kept := bytes.Clone(stored)
			var got seen
			var body []byte
			url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
				body, _ = io.ReadAll(r.Body)
				got = seen{
					Signed: webhooks.Verify(r.Header, body, standardSecret, time.Now()) == nil, JSON: json.Valid(body),
					Event: r.Header.Get(webhooks.HeaderEvent), ContentType: r.Header.Get("Content-Type"), Changed: !bytes.Equal(body, kept),
					Standard: library(t, standardSecret).VerifyIgnoringTimestamp(body, r.Header) == nil,
				}
			})
			d := delivery(url)
			d.Body, d.Fault, d.Type = stored, &c.fault, payments.Collection
			if r := newSender().Send(t.Context(), d); r.Err != nil || time.Since(r.StartedAt) > 5*time.Minute {
				t.Errorf("got %+v", r)
			}
			want := untouched
			c.want(&want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the receiver sees (-want +got):\n%s", diff)
			}
			if !bytes.Equal(stored, kept) {
				t.Error("the stored body was changed")
			}
			if want.JSON && want.Changed {
				checkMembers(t, kept, body, c.fault)
			}
		})
	}
}

// checkMembers compares the body that was sent with the stored one.
func checkMembers(t *testing.T, stored, sent []byte, f faults.Webhook) {
	t.Helper()
	var want, got map[string]any
	if err := errors.Join(json.Unmarshal(stored, &want), json.Unmarshal(sent, &got)); err != nil {
		t.Fatal(err)
	}
	if f.UnknownEvent {
		want["event"] = webhooks.UnknownEvent
	}
	if f.UnknownField {
		if got[webhooks.UnknownField] == nil {
			t.Error("no field was added")
		}
		delete(got, webhooks.UnknownField)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other members differ (-stored +sent):\n%s", diff)
	}
}
