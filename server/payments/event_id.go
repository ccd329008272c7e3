package payments

import "strings"

// EventID names an event: that of a transaction, or a callback of an operator's own API.
type EventID struct {
	ID       ID // of the transaction, or of the callback, which for the first of a transaction is the same
	Callback bool
}

const eventPrefix = "evt_"

// String returns the text form, evt_<code>. The code of an event is the code of its transaction. The code of a callback
// is that of its id with the last digit raised by one: this digit has two unused bits, which are 0 in the code of a
// transaction. So the code is unique. That of a transaction's first callback sorts directly after that of the event.
func (e EventID) String() string {
	code := e.ID.Code()
	if e.Callback {
		last := codeLength - 1
		code = code[:last] + crockfordDigits[strings.IndexByte(crockfordDigits, code[last])+1:][:1]
	}
	return eventPrefix + code
}

// ParseEventID reads the text form of an event's id. It returns [ErrBadID] for anything else.
func ParseEventID(text string) (e EventID, err error) {
	code, is := strings.CutPrefix(text, eventPrefix)
	if !is || len(code) != codeLength {
		return EventID{}, ErrBadID
	}
	last := codeLength - 1
	if digit := strings.IndexByte(crockfordDigits, code[last]); digit%4 == 1 {
		e.Callback, code = true, code[:last]+crockfordDigits[digit-1:digit]
	}
	if e.ID, err = ParseCode(code); err != nil {
		return EventID{}, err
	}
	return e, nil
}
