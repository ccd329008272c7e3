package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/cauri-dev/cauri/server/payments"
)

// errBadCursor is returned for a cursor that this API did not make, or made for another sandbox or list.
var errBadCursor = errors.New("not a cursor")

const cursorSum = 8

// cursors makes and reads the cursors of one list. Its value is the list's name, which is part of the checksum, so that
// a cursor of another list is refused.
type cursors string

const (
	PaymentCursors cursors = "cursor"
	EventCursors   cursors = "events"
	// callbackCursors name places in the list of events too, after callbacks.
	callbackCursors cursors = "callbacks"
)

// place parses a cursor into the place that it names. It returns what is wrong with the cursor; empty: nothing.
func (c cursors) place(into **payments.ID, tenant int64, text string) (problem string) {
	id, err := c.parse(tenant, text)
	if err != nil {
		return "is not one that this list gave: send a nextCursor as it was, or none"
	}
	*into = &id
	return ""
}

// After returns the cursor of the place after a transaction in a tenant's list. Its checksum lets place refuse a cursor
// that was changed. The checksum needs no secret: every query is bound to the tenant anyway.
func (c cursors) After(tenant int64, id payments.ID) string {
	return base64.RawURLEncoding.EncodeToString(append(id[:], c.checksum(tenant, id)...))
}

// AfterEvent is [cursors.After] for the list of events.
func AfterEvent(tenant int64, id payments.EventID) string {
	if id.Callback {
		return callbackCursors.After(tenant, id.Transaction)
	}
	return EventCursors.After(tenant, id.Transaction)
}

// placeOfEvent is [cursors.place] for the list of events.
func placeOfEvent(into **payments.EventID, tenant int64, text string) (problem string) {
	var id *payments.ID
	callback := callbackCursors.place(&id, tenant, text) == ""
	if !callback {
		problem = EventCursors.place(&id, tenant, text)
	}
	if problem == "" {
		*into = &payments.EventID{Transaction: *id, Callback: callback}
	}
	return problem
}

func (c cursors) parse(tenant int64, text string) (payments.ID, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != len(payments.ID{})+cursorSum {
		return payments.ID{}, errBadCursor
	}
	id := payments.ID(raw[:len(payments.ID{})])
	if c.After(tenant, id) != text { // to the letter: the decoder lets some differences pass
		return payments.ID{}, errBadCursor
	}
	return id, nil
}

func (c cursors) checksum(tenant int64, id payments.ID) []byte {
	message := binary.BigEndian.AppendUint64([]byte(c), uint64(tenant))
	sum := sha256.Sum256(append(message, id[:]...))
	return sum[:cursorSum]
}
