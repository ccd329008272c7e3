package payments_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/payments"
)

// example is an id whose text forms are known.
var example = payments.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

const exampleText = "TX_041061050R3GG28A1C60T3GF20"

func newID(t *testing.T, at time.Time, random []byte) payments.ID {
	t.Helper()
	id, err := payments.NewID(at, bytes.NewReader(random))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestIDText(t *testing.T) {
	t.Parallel()
	got := map[string]string{"text": example.String(), "code": example.Code(), "provider": example.ProviderTxID()}
	want := map[string]string{
		"text":     exampleText,
		"code":     strings.TrimPrefix(exampleText, "TX_"),
		"provider": "SIM_6K777E74MYQKTK2G", // recorded payments keep their provider id for as long as they live
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("texts of an id (-want +got):\n%s", diff)
	}
}

func TestIDRoundTrip(t *testing.T) {
	t.Parallel()
	random := rand.NewChaCha8([32]byte{1})
	now := time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
	form := regexp.MustCompile(`^TX_[0-9A-Z]{26}$`)
	for range 1000 {
		id, err := payments.NewID(now, random)
		if err != nil {
			t.Fatal(err)
		}
		if !form.MatchString(id.String()) {
			t.Fatalf("%s is not of the form %s", id, form)
		}
		parsed, err := payments.ParseID(id.String())
		if err != nil {
			t.Fatalf("parsing %s: %v", id, err)
		}
		if diff := cmp.Diff(id, parsed); diff != "" {
			t.Fatalf("%s read back (-want +got):\n%s", id, diff)
		}
	}
}

// TestIDsSortByTime gives later ids smaller random parts, so that only the time can put them in order.
func TestIDsSortByTime(t *testing.T) {
	t.Parallel()
	steps := []time.Duration{time.Microsecond, 255 * time.Microsecond, time.Millisecond, time.Second, 365 * 24 * time.Hour}
	at := time.Date(2026, time.May, 31, 12, 0, 0, 0, time.UTC)
	texts := []string{newID(t, at, bytes.Repeat([]byte{255}, 9)).String()}
	for i, step := range steps {
		at = at.Add(step)
		random := bytes.Repeat([]byte{byte(254 - i)}, 9)
		texts = append(texts, newID(t, at, random).String())
	}
	if !slices.IsSorted(texts) {
		t.Errorf("ids are not in the order of their times: %q", texts)
	}
}

func TestNewIDWithoutRandomness(t *testing.T) {
	t.Parallel()
	broken := errors.New("no entropy")
	if _, err := payments.NewID(time.Now(), failingReader{broken}); !errors.Is(err, broken) {
		t.Errorf("NewID() error is %v, want %v", err, broken)
	}
	if _, err := payments.NewID(time.Now(), bytes.NewReader(make([]byte, 8))); err == nil {
		t.Error("NewID() made an id of too few random bytes")
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func TestParseIDRefuses(t *testing.T) {
	t.Parallel()
	code := strings.TrimPrefix(exampleText, "TX_")
	tests := map[string]string{
		"empty":                       "",
		"prefix alone":                "TX_",
		"no prefix":                   code,
		"prefix of the provider's id": "SIM_" + code[1:],
		"prefix in lower case":        "tx_" + code,
		"code in lower case":          "TX_" + strings.ToLower(code),
		"one letter in lower case":    strings.Replace(exampleText, "R", "r", 1),
		"too short":                   exampleText[:len(exampleText)-1],
		"too long":                    exampleText + "0",
		"letter I":                    exampleText[:10] + "I" + exampleText[11:],
		"letter L":                    exampleText[:10] + "L" + exampleText[11:],
		"letter O":                    exampleText[:10] + "O" + exampleText[11:],
		"letter U":                    exampleText[:10] + "U" + exampleText[11:],
		"hyphen":                      exampleText[:10] + "-" + exampleText[11:],
		"padding":                     exampleText[:len(exampleText)-1] + "=",
		"blank in front":              " " + exampleText[:len(exampleText)-1],
		"not ASCII":                   exampleText[:len(exampleText)-2] + "é",
		"spare bits 01 set":           exampleText[:len(exampleText)-1] + "1",
		"spare bits 10 set":           exampleText[:len(exampleText)-1] + "2",
		"spare bits 11 set":           exampleText[:len(exampleText)-1] + "3",
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if id, err := payments.ParseID(text); !errors.Is(err, payments.ErrBadID) {
				t.Errorf("ParseID(%q) = %v, %v, want %v", text, id, err, payments.ErrBadID)
			}
		})
	}
}

// TestParseIDRefusesLineBreaks: the base 32 decoder passes over line breaks, so that a text of the right length can hold
// too few digits.
func TestParseIDRefusesLineBreaks(t *testing.T) {
	t.Parallel()
	for _, breaks := range []string{"\n", "\r\n", "\n\n\n\n\n\n\n\n\n\n", strings.Repeat("\n", 26)} {
		text := exampleText[:len(exampleText)-len(breaks)] + breaks
		if id, err := payments.ParseID(text); !errors.Is(err, payments.ErrBadID) {
			t.Errorf("ParseID(%q) = %v, %v, want %v", text, id, err, payments.ErrBadID)
		}
	}
}

func TestProviderTxID(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^SIM_[0-9A-Z]{16}$`)
	seen := make(map[string]bool)
	for i := range 1000 {
		id := example
		id[15], id[14] = byte(i), byte(i>>8)
		provider := id.ProviderTxID()
		if !form.MatchString(provider) {
			t.Fatalf("%s is not of the form %s", provider, form)
		}
		if provider != id.ProviderTxID() {
			t.Fatalf("%s has more than one provider id", id)
		}
		if seen[provider] {
			t.Fatalf("two transactions have the provider id %s", provider)
		}
		seen[provider] = true
	}
}

// FuzzParseID checks that a text is either the one text of an id or refused.
func FuzzParseID(f *testing.F) {
	f.Add(exampleText)
	f.Add(strings.ToLower(exampleText))
	f.Add("TX_ZZZZZZZZZZZZZZZZZZZZZZZZZZ")
	f.Add("TX_00000000000000000000000000")
	f.Add("SIM_6K777E74MYQKTK2G")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := payments.ParseID(text)
		if err != nil {
			if !errors.Is(err, payments.ErrBadID) || id != (payments.ID{}) {
				t.Errorf("ParseID(%q) = %v, %v, want no id and %v", text, id, err, payments.ErrBadID)
			}
			return
		}
		if id.String() != text {
			t.Errorf("ParseID(%q) is the id %s", text, id)
		}
	})
}
