package console

import (
	"fmt"
	"net/http"

	"github.com/cauri-dev/cauri/server/webhooks"
)

// trouble says in words why events do not reach a receiver: where the cause is, and what to do.
type trouble struct {
	title  string // in two or three words
	what   string // in a sentence without its full stop
	advice string
}

// troubleOf returns the trouble behind the error of an attempt. The parameter host is the one of its URL.
func troubleOf(v *visit, failure, host string) trouble {
	kind, status := webhooks.KindOfText(failure)
	if status != 0 {
		return answeredTrouble(v, status)
	}
	switch kind {
	case "connection_refused":
		return trouble{v.Text("Nothing listens"), v.Text("Nothing listens at %s", host),
			v.Text("No program accepts connections there. Start your receiver, or correct the port in its URL.")}
	case "timeout":
		return trouble{v.Text("Receiver is too slow"), v.Text("%s gives no answer within %s s", host, fmt.Sprint(webhooks.AttemptTimeout.Seconds())),
			v.Text("Your receiver acknowledges too late, or a firewall drops what is sent. Acknowledge first, and do the work afterwards.")}
	case "dns":
		return trouble{v.Text("Host is not found"), v.Text("No address is known for %s", host),
			v.Text("Correct the host in its URL. In a cluster it is the name of the Service and of its namespace: shop.team.svc.")}
	case "tls":
		return trouble{v.Text("Certificate is not accepted"), v.Text("The certificate of %s is not accepted", host),
			v.Text("It has ended, is for another name, or its authority is not known to Cauri. Or the port speaks no TLS.")}
	case "forbidden":
		return trouble{v.Text("Address is not allowed"), v.Text("Cauri may not send to %s", host),
			v.Text("The operators of this installation allow no events to this address. Ask them, or use another one.")}
	case "connection_reset":
		return trouble{v.Text("Connection breaks"), v.Text("%s ends the connection without an answer", host),
			v.Text("Your receiver or a proxy before it accepts the connection, and ends before it answers. Its log says why.")}
	}
	return trouble{v.Text("Events do not arrive"), v.Text("Events do not arrive at %s", host), isolated(failure)}
}

// answeredTrouble returns the trouble behind an answer that is no 2xx: it is always on the receiver's side.
func answeredTrouble(v *visit, status int) trouble {
	t := trouble{title: v.Text("Receiver refuses events"), what: v.Text("Your receiver answers %s", fmt.Sprint(status))}
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		t.advice = v.Text("It does not accept the signature. Most often it holds another secret, or a framework writes the body again before it is verified.")
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed:
		t.advice = v.Text("A program answers there, and takes no POST at this path. Compare the path of its URL with the route in your code.")
	case status == http.StatusGone:
		t.advice = v.Text("410 says that it wants no more events, so the retries of an event end with it.")
	case status >= http.StatusInternalServerError:
		t.title = v.Text("Receiver fails")
		t.advice = v.Text("It takes the event and then fails. The cause is in its own log, at the time of the attempt.")
	case status < http.StatusBadRequest:
		t.advice = v.Text("Only a 2xx acknowledges an event, and Cauri follows no redirect. Put the last address into its URL.")
	default:
		t.advice = v.Text("It takes the event and refuses it. The cause is in its own log, at the time of the attempt.")
	}
	return t
}
