package cli

import (
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// command returns the command line that calls a command for this sandbox, for messages.
func (s *sandbox) command(name, rest string) string {
	words := []string{"cauri", name}
	switch {
	case s.cluster != nil && s.target.plugin:
		words = []string{"kubectl cauri", "-n " + s.key.Namespace, name, s.key.Name}
	case s.cluster != nil:
		words = append(words, "--sandbox="+s.key.String())
	case !s.target.found && s.target.uri == "" && s.target.envFile != os.Getenv(variableEnvFile):
		words = append(words, "--env-file="+s.target.envFile)
	}
	return strings.TrimSpace(strings.Join(append(words, rest), " "))
}

// undelivered reports whether an event has failed attempts and is not acknowledged.
func undelivered(e *wire.EventSummary) bool {
	return e.AttemptCount > 0 && (e.State == eventFailed || e.State == eventQueued)
}

// eventAdvice returns advice, with the probable reason why an event is not acknowledged. The parameter faults has the
// faults that applied to the event's last attempt.
func (s *sandbox) eventAdvice(e *wire.EventSummary, faults []string) string {
	if !undelivered(e) {
		return ""
	}
	if len(faults) > 0 {
		return "The last attempt had the " + Printable(faultsNamed(faults)) + ". The receiver need not be wrong. This sends the " +
			"event without faults:\n  " + s.command("resend", e.ID)
	}
	return s.receiverAdvice(e.LastResponseStatus, "spec.webhook.url") + "\nWhen it is repaired, send the event again:\n  " + s.command("resend", e.ID)
}

// receiverAdvice returns a text with the probable reason why a receiver does not acknowledge an event. The parameter
// status is that of the receiver's answer. The parameter place is the name of the setting with the receiver's URL.
func (s *sandbox) receiverAdvice(status *int, place string) string {
	switch {
	case status == nil && place == forwardFlag:
		return "Your program did not answer. Does it run, and does it listen at this address?"
	case status == nil:
		return "The receiver did not answer. Does it run, and does Cauri reach it at spec.webhook.url? " +
			"A program on your own machine gets the events by\n  " + s.command("listen", forwardFlag+"=http://localhost:3000/webhooks")
	case *status == http.StatusUnauthorized || *status == http.StatusForbidden || *status == http.StatusBadRequest:
		return fmt.Sprintf("The receiver answered %d: most often it verifies the signature with another secret, or not the bytes that arrived.\n"+
			"Save a request as it arrives, headers, an empty line, body. This says which step fails:\n  %s\nThe right secret is\n  %s",
			*status, `CAURI_WEBHOOK_SECRET="what the receiver has" cauri verify request.txt`, s.command("listen", "--print-secret"))
	case *status/100 == 3:
		return fmt.Sprintf("The receiver answered %d, and redirects are not followed: set %s to where it leads.", *status, place)
	case *status == http.StatusNotFound || *status == http.StatusMethodNotAllowed:
		return fmt.Sprintf("The receiver answered %d: does %s have its path, and does it take POST there?", *status, place)
	}
	return fmt.Sprintf("The receiver answered %d: its log says why. Everything but 2xx is no acknowledgement.", *status)
}
