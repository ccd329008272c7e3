package payments_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
)

func TestEventIDText(t *testing.T) {
	t.Parallel()
	code := strings.TrimPrefix(exampleText, "TX_")
	for want, id := range map[string]payments.EventID{
		"evt_" + code:                              {ID: example},
		"evt_" + code[:len(code)-1] + "1":          {ID: example, Callback: true},
		"evt_" + strings.Repeat("0", 25) + "1":     {Callback: true},
		"evt_" + payments.LastID.Code()[:25] + "X": {ID: payments.LastID, Callback: true},
	} {
		if got := id.String(); got != want {
			t.Errorf("%v is %s, want %s", id, got, want)
		}
		if got, err := payments.ParseEventID(want); err != nil || got != id {
			t.Errorf("%s is read as %v, %v", want, got, err)
		}
	}
}

// A callback stands directly behind the event of its transaction, before every other, and no transaction has its code.
func TestCallbacksStandBesideTheirEvents(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{2})
	var texts []string
	for i := range 500 {
		id, err := payments.NewID(time.UnixMicro(1_800_000_000_000_000+int64(i)), random)
		if err != nil {
			t.Fatal(err)
		}
		event, callback := payments.EventID{ID: id}, payments.EventID{ID: id, Callback: true}
		texts = append(texts, event.String(), callback.String())
		if _, err := payments.ParseCode(strings.TrimPrefix(callback.String(), "evt_")); !errors.Is(err, payments.ErrBadID) {
			t.Fatalf("%s could be the event of a transaction: %v", callback, err)
		}
	}
	if !slices.IsSorted(texts) {
		t.Error("the ids are not in the order of their transactions")
	}
}

func TestParseEventIDRefuses(t *testing.T) {
	t.Parallel()
	code := strings.TrimPrefix(exampleText, "TX_")
	for name, text := range map[string]string{
		"empty":              "",
		"prefix alone":       "evt_",
		"a transaction":      exampleText,
		"no prefix":          code,
		"too short":          "evt_" + code[1:],
		"too long":           "evt_" + code + "0",
		"spare bits 10 set":  "evt_" + code[:25] + "2",
		"spare bits 11 set":  "evt_" + code[:25] + "3",
		"code in lower case": "evt_" + strings.ToLower(code),
		"letter U":           "evt_" + code[:25] + "U",
		"not ASCII":          "evt_" + code[:24] + "é",
	} {
		if id, err := payments.ParseEventID(text); !errors.Is(err, payments.ErrBadID) {
			t.Errorf("%s: ParseEventID(%q) = %v, %v, want %v", name, text, id, err, payments.ErrBadID)
		}
	}
}
