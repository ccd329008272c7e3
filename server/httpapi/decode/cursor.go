package decode

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"

	"github.com/cauri-dev/cauri/server/payments"
)

// errBadCursor is returned for an invalid cursor, and for a cursor of another sandbox or list.
var errBadCursor = errors.New("not a cursor")

const cursorSum = 8

// cursors encodes and decodes the cursors of one list. Its value is the list's name. The checksum of a cursor includes
// the name, so that a cursor of another list is refused.
type cursors string

const (
	PaymentCursors cursors = "cursor"
	EventCursors   cursors = "events"
	// callbackCursors are the cursors that follow a callback in the list of events.
	callbackCursors cursors = "callbacks"
)

// decode decodes a cursor into *into. It returns the problem of an invalid cursor, or "".
func (c cursors) decode(into **payments.ID, tenant int64, text string) (problem string) {
	id, err := c.parse(tenant, text)
	if err != nil {
		return "is not one that this list gave: send a nextCursor as it was, or none"
	}
	*into = &id
	return ""
}

// before returns the cursors that end a page before an object, for the list of c.
func (c cursors) before() cursors { return c + " before" }

// noPrevious is the problem of an invalid cursor of a page that ends before an object.
const noPrevious = "is not one that this list gave: send a previousCursor as it was, or none"

// decodeBefore is [cursors.decode] for a cursor of [cursors.Before].
func (c cursors) decodeBefore(into **payments.ID, tenant int64, text string) (problem string) {
	if c.before().decode(into, tenant, text) != "" {
		return noPrevious
	}
	return ""
}

// Before returns the cursor of the page that ends before a transaction in a tenant's list.
func (c cursors) Before(tenant int64, id payments.ID) string { return c.before().After(tenant, id) }

// After returns the cursor that follows a transaction in a tenant's list. The checksum detects changed cursors. It
// needs no secret, because every query is limited to the tenant.
func (c cursors) After(tenant int64, id payments.ID) string {
	return base64.RawURLEncoding.EncodeToString(append(id[:], c.checksum(tenant, id)...))
}

// AfterEvent returns the cursor that follows an event in a tenant's list.
func AfterEvent(tenant int64, id payments.EventID) string {
	if id.Callback {
		return callbackCursors.After(tenant, id.ID)
	}
	return EventCursors.After(tenant, id.ID)
}

// BeforeEvent returns the cursor of the page that ends before an event in a tenant's list.
func BeforeEvent(tenant int64, id payments.EventID) string {
	if id.Callback {
		return callbackCursors.Before(tenant, id.ID)
	}
	return EventCursors.Before(tenant, id.ID)
}

// decodeEvent is [cursors.decode] for a cursor of the list of events, or [cursors.decodeBefore]: the parameter decode says
// which.
func decodeEvent(
	into **payments.EventID, decode func(c cursors, into **payments.ID, tenant int64, text string) string, tenant int64, text string,
) (problem string) {
	var id *payments.ID
	callback := decode(callbackCursors, &id, tenant, text) == ""
	if !callback {
		problem = decode(EventCursors, &id, tenant, text)
	}
	if problem == "" {
		*into = &payments.EventID{ID: *id, Callback: callback}
	}
	return problem
}

func (c cursors) parse(tenant int64, text string) (payments.ID, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != len(payments.ID{})+cursorSum {
		return payments.ID{}, errBadCursor
	}
	id := payments.ID(raw[:len(payments.ID{})])
	if c.After(tenant, id) != text { // compared as text, because the base64 decoder accepts some variants
		return payments.ID{}, errBadCursor
	}
	return id, nil
}

func (c cursors) checksum(tenant int64, id payments.ID) []byte {
	message := binary.BigEndian.AppendUint64([]byte(c), uint64(tenant))
	sum := sha256.Sum256(append(message, id[:]...))
	return sum[:cursorSum]
}
