package webhooks

import (
	"bytes"
	"crypto/rand"
	"fmt"

	"github.com/cauri-dev/cauri/server/faults"
)

const (
	// UnknownEvent is the type that a fault gives an event instead of its own.
	UnknownEvent = "unknown.event"
	// UnknownField is a member that a fault adds to the body of an event.
	UnknownField = "unknown_field"
)

// ErrLost is the error of an attempt that a fault has dropped.
type ErrLost struct{ Fault *faults.Fault }

func (e ErrLost) Error() string { return "fault " + e.Fault.String() }

// sending is a delivery as it is sent.
type sending struct {
	Delivery
	event       string // its type
	contentType string
	sent        []byte // the part of the signed body that is sent
}

// withFault returns what is sent of the delivery d with the fault f. A nil fault changes nothing. withFault does not
// change the bytes of d.
func withFault(d Delivery, f *faults.Webhook) sending {
	s := sending{Delivery: d, event: d.Type.Event(), contentType: "application/json", sent: d.Body}
	if f == nil {
		return s
	}
	if f.UnknownEvent {
		s.Body = bytes.Replace(s.Body, []byte(`"event":"`+s.event+`"`), []byte(`"event":"`+UnknownEvent+`"`), 1)
		s.event = UnknownEvent
	}
	if f.UnknownField {
		if open, isObject := bytes.CutSuffix(s.Body, []byte("}")); isObject {
			s.Body = fmt.Appendf(nil, `%s,%q:"an event may have fields that you do not know"}`, open, UnknownField)
		}
	}
	s.sent = s.Body
	if f.Truncate {
		s.sent = s.Body[:len(s.Body)/2]
	}
	if f.BadSignature {
		s.Secret, s.Previous = rand.Text(), nil // a random secret, which nobody has
	}
	s.At = s.At.Add(-f.StaleTimestamp.Of())
	if f.ContentType != "" {
		s.contentType = f.ContentType
	}
	return s
}
