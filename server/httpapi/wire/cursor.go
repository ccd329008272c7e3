package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/cauri-dev/cauri/server/payments"
)

// errBadCursor is returned for a cursor that this API did not give, or not to this sandbox.
var errBadCursor = errors.New("not a cursor")

const cursorSum = 8

// cursors are those of one list. Its name is part of their checksums, so that a cursor of another list is refused.
type cursors string

const (
	PaymentCursors cursors = "cursor"
	EventCursors   cursors = "events"
	// callbackCursors name places in the list of events too, after callbacks.
	callbackCursors cursors = "callbacks"
)

// place reads a cursor.
func (c cursors) place(into **payments.ID, tenant int64, text string) (problem string) {
	id, err := c.parse(tenant, text)
	if err != nil {
		return "is not one that this list gave: send a nextCursor as it was, or none"
	}
	*into = &id
	return ""
}

// After names the place after a transaction in a tenant's list. It carries a checksum, so that one that was changed is
// refused rather than taken for another place; it is no secret, since every query is bound to the tenant anyway.
func (c cursors) After(tenant int64, id payments.ID) string {
	return base64.RawURLEncoding.EncodeToString(append(id[:], c.checksum(tenant, id)...))
}

// AfterEvent is After for the list of events.
func AfterEvent(tenant int64, id payments.EventID) string {
	if id.Callback {
		return callbackCursors.After(tenant, id.Transaction)
	}
	return EventCursors.After(tenant, id.Transaction)
}

// placeOfEvent is place for the list of events.
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
