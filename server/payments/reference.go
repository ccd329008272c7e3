package payments

import (
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// OwnOrigin is the origin of generated references that follow no other reference.
const OwnOrigin = "CAURI"

// Operation is the second segment of a reference.
type Operation string

// The operations that references name.
const (
	OpPayment      Operation = "PAY"
	OpRefund       Operation = "REF"
	OpDisbursement Operation = "DIS"
	OpSubscription Operation = "ABO"
)

// Reference is a reference of the recommended form ORIGIN-OP-TS-CODE, or of the older one ORIGIN-OP-CODE.
type Reference struct {
	Origin string // 2-12 letters and digits, in capitals
	Op     Operation
	At     time.Time // zero for the older form
	Code   string    // 12 hex digits in capitals
}

const referenceTime = "20060102150405"

var referenceForm = regexp.MustCompile(`^([A-Z0-9]{2,12})-(PAY|REF|DIS|ABO)-(?:([0-9]{14})-)?([0-9A-F]{12})$`)

// ParseReference reads a reference. The API accepts any string as a reference. The result ok is false for a string that
// has none of the two forms of [Reference].
func ParseReference(s string) (r Reference, ok bool) {
	parts := referenceForm.FindStringSubmatch(s)
	if parts == nil {
		return Reference{}, false
	}
	r = Reference{Origin: parts[1], Op: Operation(parts[2]), Code: parts[4]}
	if parts[3] == "" {
		return r, true
	}
	at, err := time.Parse(referenceTime, parts[3])
	if err != nil || at.IsZero() { // a zero time stands for none
		return Reference{}, false
	}
	r.At = at
	return r, true
}

// NewReference makes a reference with a random code. Its error is that of the source of randomness.
func NewReference(origin string, op Operation, at time.Time, random io.Reader) (Reference, error) {
	var code [6]byte
	if _, err := io.ReadFull(random, code[:]); err != nil {
		return Reference{}, fmt.Errorf("making a reference: %w", err)
	}
	return Reference{Origin: origin, Op: op, At: at.UTC(), Code: strings.ToUpper(hex.EncodeToString(code[:]))}, nil
}

// OriginOf returns the origin for a generated reference that follows another reference: the origin of that reference if
// it has the recommended form, else [OwnOrigin].
func OriginOf(reference string) string {
	if r, ok := ParseReference(reference); ok {
		return r.Origin
	}
	return OwnOrigin
}

// String returns the text of the reference.
func (r Reference) String() string {
	if r.At.IsZero() {
		return fmt.Sprintf("%s-%s-%s", r.Origin, r.Op, r.Code)
	}
	return fmt.Sprintf("%s-%s-%s-%s", r.Origin, r.Op, r.At.Format(referenceTime), r.Code)
}
