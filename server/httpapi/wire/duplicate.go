package wire

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// DuplicateReference is 409 for a reference that another request has. recorded has the fields in which the two requests
// differ, with what the recorded one sent; nil: it left the field out.
func DuplicateReference(t *payments.Transaction, recorded map[string]any) *Error {
	differ := "it differs in " + strings.Join(slices.Sorted(maps.Keys(recorded)), ", ")
	instead := "Read detail.recorded, and repeat that request exactly, or read the transaction."
	switch {
	case recorded["type"] != nil:
		differ, instead = "a reference is unique over payments, refunds and disbursements", "Read the transaction."
	case recorded["source"] != nil:
		differ, instead = "it was made through the operator's own API, and this API cannot repeat it", "Read the transaction."
	case len(recorded) == 0:
		differ = "its fields were sent otherwise"
	}
	return &Error{Status: http.StatusConflict, Code: "duplicate_reference",
		Message: fmt.Sprintf("The reference %q belongs to the %s %s with status %s: %s. %s A new reference makes another one.",
			t.Reference, t.Type, t.ID, t.Status, differ, instead),
		Detail: map[string]any{
			"transaction": map[string]any{"id": t.ID.String(), "type": t.Type, "status": t.Status}, "recorded": recorded,
		}}
}

// Conflict returns [DuplicateReference] for a body whose reference another request has. kind and parent are those of the
// body's own request, as for [Decoder.Hash].
func (d *Decoder[T]) Conflict(taken *ledger.ErrReferenceTaken, kind payments.Type, parent string, body *T) *Error {
	t := taken.Transaction
	switch {
	case t.Type != kind:
		return DuplicateReference(t, map[string]any{"type": t.Type})
	case t.NativeCall != "":
		return DuplicateReference(t, map[string]any{"source": "native"})
	}
	recordedParent := ""
	if t.ParentID != nil {
		recordedParent = t.ParentID.String()
	}
	differing := d.differing(t, body, func(candidate *T) bool {
		return bytes.Equal(d.Hash(kind, recordedParent, candidate), taken.RequestHash)
	})
	if recordedParent != parent {
		differing["parentTxId"] = recordedParent
	}
	return DuplicateReference(t, differing)
}

// recordable is a body that records a transaction.
type recordable interface {
	// SetFrom sets all fields to those of a transaction. It returns the fields that the service may have filled in.
	SetFrom(t *payments.Transaction) (filledIn []string)
}

// differing returns the fields in which a body differs from the one that recorded a transaction. Whether that one had the
// fields that the service fills in is not stored: it follows from its hash, which isRecorded compares. The first guess is
// that it had those that the body has.
func (d *Decoder[T]) differing(t *payments.Transaction, body *T, isRecorded func(*T) bool) map[string]any {
	full := new(T)
	filledIn := any(full).(recordable).SetFrom(t)
	filled := slices.DeleteFunc(slices.Clone(d.fields), func(f field) bool { return !slices.Contains(filledIn, f.name) })
	var guesses []*T
	for flip := range 1 << len(filled) {
		guess := *full
		for bit := range filled {
			if sent := !filled[bit].of(body).IsZero(); sent == (flip>>bit&1 == 1) {
				filled[bit].of(&guess).SetZero()
			}
		}
		guesses = append(guesses, &guess)
	}
	recorded := guesses[max(0, slices.IndexFunc(guesses, isRecorded))]
	differing := map[string]any{}
	for i := range d.fields {
		f := &d.fields[i]
		was := f.of(recorded)
		switch {
		case reflect.DeepEqual(was.Interface(), f.of(body).Interface()):
		case was.IsZero():
			differing[f.name] = nil
		default:
			differing[f.name] = reflect.Indirect(was).Interface()
		}
	}
	return differing
}

// of returns the field of a body, which is a pointer to a struct.
func (f *field) of(body any) reflect.Value { return reflect.ValueOf(body).Elem().Field(f.index) }
