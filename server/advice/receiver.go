package advice

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// The causes of an event that does not arrive.
const (
	NotListening     Code = "receiver.not_listening"
	Slow             Code = "receiver.slow"        // it was reached, and did not answer in time
	Unreachable      Code = "receiver.unreachable" // no connection was made in time
	HostUnknown      Code = "receiver.host_unknown"
	DNSFails         Code = "receiver.dns_fails" // the DNS server did not answer, or could not
	Certificate      Code = "receiver.certificate"
	NoHandshake      Code = "receiver.no_handshake" // it was reached, and TLS was not ready in time
	AddressForbidden Code = "receiver.address_forbidden"
	CallbackHost     Code = "receiver.callback_host" // spec.callbackHosts of the sandbox does not allow it
	ConnectionBroken Code = "receiver.connection_broken"
	SignatureRefused Code = "receiver.signature_refused"
	CallbackRefused  Code = "receiver.callback_refused" // with 401 or 403, and operators' callbacks are not signed
	BadRequest       Code = "receiver.bad_request"
	WrongPath        Code = "receiver.wrong_path"
	Gone             Code = "receiver.gone"
	Fails            Code = "receiver.fails"
	Redirects        Code = "receiver.redirects"
	Refuses          Code = "receiver.refuses"
	NotDelivered     Code = "receiver.not_delivered" // of an unknown cause
)

// noSuchHost is in the error of package net for a name that has no address.
const noSuchHost = "no such host"

// Attempt is a failed attempt to deliver an event on which no fault acted.
type Attempt struct {
	Failure  string // the error of the attempt
	Host     string // of the URL, with its port
	Event    string // id; empty: it cannot be sent again
	Callback bool   // of an operator's own API
	Local    bool   // to a program on the machine of who reads the advice

	Acknowledged bool // since then, the receiver acknowledged another event at the present URL
	Former       bool // it was at a former URL
	Events       int  // how many are unacknowledged, of which this is the newest; 0: it is about this event
	Waits        bool // the event is sent again without anybody's doing
}

// HostAndPortOf returns the host of a URL with its port, for [Attempt.Host].
func HostAndPortOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// OfAttempt returns the cause of a failed attempt.
func OfAttempt(attempt Attempt) Advice {
	kind, status := webhooks.KindOfText(attempt.Failure)
	if attempt.isOver(status != 0 || kind == "timeout" || kind == "connection_reset") {
		return ofPast(&attempt)
	}
	var a Advice
	if status != 0 {
		a = answered(status, attempt.Callback)
	} else {
		a = unanswered(kind, attempt)
	}
	if attempt.Acknowledged {
		a.What = english.Say("%s. It has acknowledged other events since", a.What)
	}
	if signed := a.Code == SignatureRefused || a.Code == BadRequest; signed && attempt.Event != "" {
		a.Steps = append([]Step{diagnose(attempt.Event)}, a.Steps...)
	}
	if attempt.Event != "" && a.Code != Gone {
		a.Steps = append(slices.Clip(a.Steps), resend("When it is repaired, send the event again:", attempt.Event))
	}
	return a
}

// resend returns the step that sends an event again.
func resend(purpose, event string) Step {
	return Step{Purpose: purpose, Command: "resend", Rest: event, Tool: "resend_event", Arguments: map[string]any{"event": event}}
}

// diagnose returns the step that finds out what a receiver signed, if its answer to the event has the signature that it computed.
func diagnose(event string) Step {
	return Step{
		Purpose: "This signs the event again as usual mistakes do, and names the one that fits the answer of the receiver:", Command: "explain", Rest: event,
		Tool: "diagnose_signature", Arguments: map[string]any{"event": event},
	}
}

// forward brings the events to a program on the machine of who reads the advice.
var forward = Step{
	Purpose: "A program on your own machine gets the events by", Command: "listen", Rest: "--forward-to=http://localhost:3000/webhooks",
}

// unanswered returns the cause of an attempt without an answer.
func unanswered(kind string, attempt Attempt) Advice {
	host := attempt.Host
	a := Advice{Steps: []Step{forward}}
	if attempt.Callback || attempt.Local {
		a.Steps = nil // the command forwards no callbacks
	}
	within := fmt.Sprint(webhooks.AttemptTimeout.Seconds())
	switch kind {
	case "connection_refused":
		a.set(NotListening, "Nothing listens", english.Say("Nothing listens at %s", host),
			"No program accepts connections there. Start your receiver, or correct the port in its URL.")
	case "timeout":
		a.Steps = nil // it was reached
		a.set(Slow, "Receiver is too slow", english.Say("%s gives no answer within %s s", host, within),
			"It was reached, and may have done its work. Acknowledge first, do the work afterwards, and do it once for each tx_id, however often the event comes.")
	case "connect_timeout":
		a.set(Unreachable, "Receiver is not reached", english.Say("%s accepts no connection within %s s", host, within),
			"A firewall or a network policy drops what is sent, or no machine has this address.")
	case "dns":
		if !strings.Contains(attempt.Failure, noSuchHost) {
			a.set(DNSFails, "DNS does not answer", english.Say("The DNS server gives no answer for %s", host),
				"The name may be right. Look at the DNS of the cluster or of the machine, for example at the log of CoreDNS.")
			break
		}
		a.set(HostUnknown, "Host is not found", english.Say("No address is known for %s", host),
			"Correct the host in its URL. In a cluster it is the name of the Service and of its namespace: shop.team.svc.")
	case "tls":
		if strings.Contains(attempt.Failure, webhooks.HandshakeLate) {
			a.set(NoHandshake, "TLS does not begin", english.Say("%s accepts the connection, and does not finish the TLS handshake within %s s", host, within),
				"The port may speak no TLS: then write http:// in its URL. Or a program or proxy there hangs: its log says why.")
			break
		}
		a.set(Certificate, "Certificate is not accepted", english.Say("The certificate of %s is not accepted", host),
			"It has ended, is for another name, or its authority is not known to Cauri. Or the port speaks no TLS.")
	case "forbidden":
		a.forbidden(attempt, host)
	case "connection_reset":
		a.Steps = nil // it was reached
		a.set(ConnectionBroken, "Connection breaks", english.Say("%s ends the connection without an answer", host),
			"Your receiver or a proxy before it accepts the connection, and ends before it answers. Its log says why.")
	default:
		a.set(NotDelivered, "Events do not arrive", english.Say("Events do not arrive at %s", host), "%s", attempt.Failure)
		if attempt.Callback {
			a.Title, a.What = english.Say("Callbacks do not arrive"), english.Say("Callbacks do not arrive at %s", host)
		}
	}
	return a
}

// forbidden says whose rule forbids to send there.
func (a *Advice) forbidden(attempt Attempt, host string) {
	const title = english.Text("Address is not allowed")
	what := english.Say("Cauri may not send to %s", host)
	switch {
	case attempt.Callback && webhooks.OfCallbackHost(attempt.Failure):
		a.set(CallbackHost, "Host is not allowed", english.Say("This sandbox allows no callbacks to %s", host),
			"Add the host to spec.callbackHosts of the sandbox, beside all others that get callbacks. Then send the callback again.")
	case strings.Contains(attempt.Failure, egress.Loopback):
		a.set(AddressForbidden, title, what,
			"That is the machine of Cauri itself, not yours. In a cluster write the name of the receiver's Service and of its namespace: http://shop.team.svc/webhooks.")
	case attempt.Callback:
		a.set(AddressForbidden, title, what, "The operators of this installation allow no callbacks to this address. Ask them, or use another one.")
	default:
		a.set(AddressForbidden, title, what, "The operators of this installation allow no events to this address. Ask them, or use another one.")
	}
}

// verifying finds out why a receiver does not accept a signature.
var verifying = []Step{
	{Purpose: "Save a request as it arrives, headers, an empty line, body. This says which step fails:", Command: "verify", Rest: "request.txt",
		Before: `CAURI_WEBHOOK_SECRET="what the receiver has"`, Alone: true},
	{Purpose: "This prints the right secret:", Command: "listen", Rest: "--print-secret"},
}

// answered returns the cause of an answer that is no 2xx. It is always on the receiver's side.
func answered(status int, callback bool) (a Advice) {
	refuses := english.Text("Receiver refuses events")
	if callback {
		refuses = "Receiver refuses callbacks"
	}
	what := english.Say("Your receiver answers %s", fmt.Sprint(status))
	credentials := status == http.StatusUnauthorized || status == http.StatusForbidden
	switch {
	case credentials && callback:
		a.set(CallbackRefused, refuses, what,
			"It wants credentials that the operator does not send. Only the events of Cauri have its signature: let your program take this path without it.")
	case credentials:
		a.set(SignatureRefused, refuses, what,
			"It does not accept the signature. Most often it holds another secret, or a framework writes the body again before it is verified.")
		a.Steps = verifying
	case status == http.StatusBadRequest && !callback:
		a.set(BadRequest, refuses, what,
			"It does not accept the signature, or does not understand the body. Most often it holds another secret, or a framework writes the body again before it is verified.")
		a.Steps = verifying
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		a.set(WrongPath, refuses, what,
			"A program answers there, and takes no POST at this path. Compare the path of its URL with the route in your code.")
	case status == http.StatusGone && !callback: // a callback is sent again as its operator does
		a.set(Gone, refuses, what, "410 says that it wants no more events, so the retries of an event end with it.")
	case status >= http.StatusInternalServerError:
		a.set(Fails, "Receiver fails", what, "It takes the event and then fails. The cause is in its own log, at the time of the attempt.")
	case status < http.StatusBadRequest:
		a.set(Redirects, refuses, what, "Only a 2xx acknowledges an event, and Cauri follows no redirect. Put the last address into its URL.")
	default:
		a.set(Refuses, refuses, what, "It takes the event and refuses it. The cause is in its own log, at the time of the attempt.")
	}
	return a
}

// FaultActed is the cause of an attempt that failed on purpose.
const FaultActed Code = "fault.acted"

// OfFaults returns the cause of an attempt on which faults acted. The parameter effects has them in words, and event is
// the id of the event.
func OfFaults(effects []string, event string) (a Advice) {
	a.set(FaultActed, "Fault on purpose", english.Say("A fault on purpose acted on the last attempt: %s", strings.Join(effects, "; ")),
		"The receiver need not be wrong.")
	a.Steps = []Step{resend("This sends the event without faults:", event)}
	return a
}
