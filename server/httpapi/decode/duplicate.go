package decode

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// Conflict returns [view.DuplicateReference] for a body whose reference another request has. kind and parent are those of the
// body's own request, as for [Decoder.Hash].
func (d *Decoder[T]) Conflict(taken *ledger.ErrReferenceTaken, kind payments.Type, parent string, body *T) *wire.Error {
	t := taken.Transaction
	switch {
	case t.Type != kind:
		return view.DuplicateReference(t, map[string]any{"type": t.Type})
	case t.NativeCall != "":
		return view.DuplicateReference(t, map[string]any{"source": "native"})
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
	return view.DuplicateReference(t, differing)
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
