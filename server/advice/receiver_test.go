package advice_test

import (
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// The codes stay as they are: programs compare them.
func TestCauseOfAFailedAttempt(t *testing.T) {
	t.Parallel()
	for failure, want := range map[string]advice.Code{
		"dial tcp 127.0.0.1:3000: connect: connection refused": "receiver.not_listening",
		"no answer within 10s":                                 "receiver.slow",
		"no connection within 10s":                             "receiver.unreachable",
		"lookup shop on 10.0.0.53:53: i/o timeout":             "receiver.dns_fails",
		"tls: handshake not finished within 10s":               "receiver.no_handshake",
		"lookup shop on 10.0.0.53:53: server misbehaving":      "receiver.dns_fails",
		"dial tcp: lookup shop: no such host":                  "receiver.host_unknown",
		"tls: failed to verify certificate":                    "receiver.certificate",
		"events may not be sent to 127.0.0.1: ":                "receiver.address_forbidden",
		"read tcp: connection reset by peer":                   "receiver.connection_broken",
		"the receiver answered 401":                            "receiver.signature_refused",
		"the receiver answered 403":                            "receiver.signature_refused",
		"the receiver answered 400":                            "receiver.bad_request",
		"the receiver answered 404":                            "receiver.wrong_path",
		"the receiver answered 405":                            "receiver.wrong_path",
		"the receiver answered 410":                            "receiver.gone",
		"the receiver answered 500":                            "receiver.fails",
		"the receiver answered 302":                            "receiver.redirects",
		"the receiver answered 422":                            "receiver.refuses",
		"something else":                                       "receiver.not_delivered",
	} {
		a := advice.OfAttempt(advice.Attempt{Failure: failure, Host: "shop:3000", Event: "evt_1"})
		if a.Code != want || a.Title.String() == "" || a.What.String() == "" || a.Do.String() == "" {
			t.Errorf("%s: %s, %s: %s. %s", failure, a.Code, a.Title, a.What, a.Do)
		}
		for _, step := range a.Steps {
			if step.Purpose == "" || strings.Contains(step.String(), "spec.") {
				t.Errorf("%s: %q says %q", failure, step.String(), step.Purpose)
			}
		}
	}
	if a := advice.OfFaults([]string{"lost: not sent"}, "evt_1"); a.Code != "fault.acted" {
		t.Errorf("a fault: %+v", a)
	}
}

// What was reached has perhaps done its work, and is not asked whether it runs. A callback has no signature of Cauri, and is not
// forwarded.
func TestAdviceBlamesTheRightOne(t *testing.T) {
	t.Parallel()
	said := func(a advice.Advice) string {
		text := a.What.String() + ". " + a.Do.String()
		for i := range a.Steps {
			text += " " + a.Steps[i].String()
		}
		return text
	}
	for name, c := range map[string]struct {
		attempt     advice.Attempt
		has, hasNot string
	}{
		"slow":              {advice.Attempt{Failure: "no answer within 10s", Host: "shop"}, "It was reached", "listen"},
		"refused":           {advice.Attempt{Failure: "connection refused", Host: "shop"}, "Nothing listens at shop", "reached"},
		"refused callback":  {advice.Attempt{Failure: "connection refused", Host: "shop", Callback: true}, "Nothing listens", "cauri listen"},
		"callback with 401": {advice.Attempt{Failure: "the receiver answered 401", Callback: true}, "credentials", "verify"},
		"callback, its sandbox has a list": {
			advice.Attempt{Failure: webhooks.ErrHostNotAllowed.Error(), Host: "shop", Callback: true}, "spec.callbackHosts", "operators of this installation",
		},
		"callback, private by default": {
			advice.Attempt{Failure: "events may not be sent to 10.0.0.1: " + egress.NotPublic, Host: "shop", Callback: true}, "spec.callbackHosts", "operators of",
		},
		"callback, denied": {
			advice.Attempt{Failure: "events may not be sent to 10.0.0.1: the platform's deny list names it", Callback: true}, "allow no callbacks", "callbackHosts",
		},
		"event, denied": {
			advice.Attempt{Failure: "events may not be sent to 10.0.0.1: the platform's deny list names it"}, "allow no events", "callbacks",
		},
		"callback with 410":  {advice.Attempt{Failure: "the receiver answered 410", Callback: true}, "answers 410", "retries"},
		"TLS does not begin": {advice.Attempt{Failure: webhooks.HandshakeLate + " within 10s", Host: "shop"}, "TLS handshake", "certificate"},
		"local program":      {advice.Attempt{Failure: "connection refused", Host: "localhost:3000", Local: true}, "localhost:3000", "cauri listen"},
	} {
		if got := said(advice.OfAttempt(c.attempt)); !strings.Contains(got, c.has) || strings.Contains(got, c.hasNot) {
			t.Errorf("%s: %q has to have %q and not %q", name, got, c.has, c.hasNot)
		}
	}
}
