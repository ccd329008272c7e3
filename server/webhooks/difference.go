package webhooks

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/english"
)

// DifferenceCause says why the bytes that a receiver verified are not those that were sent.
type DifferenceCause string

// The causes.
const (
	DifferenceEmpty       DifferenceCause = "empty"           // something read the body before
	DifferenceCut         DifferenceCause = "cut"             // only the beginning is there
	DifferenceMark        DifferenceCause = "byte_order_mark" // it begins with U+FEFF
	DifferenceBlanks      DifferenceCause = "line_breaks"     // other line breaks, or blanks around the body
	DifferenceCharset     DifferenceCause = "charset"         // written in another charset than UTF-8, or in UTF-8 twice
	DifferenceEncoded     DifferenceCause = "encoded"         // in quotes, as base64 or as a form
	DifferenceRewritten   DifferenceCause = "rewritten"       // the same JSON, parsed and written again
	DifferenceOtherEvent  DifferenceCause = "other_event"     // the event of another transaction
	DifferenceOtherValues DifferenceCause = "other_values"    // the same event with other fields or values
	DifferenceUnknown     DifferenceCause = "unknown"
)

// DifferenceCauses are all causes.
var DifferenceCauses = []DifferenceCause{
	DifferenceEmpty, DifferenceCut, DifferenceMark, DifferenceBlanks, DifferenceCharset, DifferenceEncoded, DifferenceRewritten,
	DifferenceOtherEvent, DifferenceOtherValues, DifferenceUnknown,
}

// Difference is the difference between the bytes that were sent and those that a receiver verified.
type Difference struct {
	Offset int // of the first byte that differs
	Cause  DifferenceCause

	// Of DifferenceRewritten: how many blanks and escapes (\u00e9) there are more than were sent, negative for fewer, and whether
	// fields are in another order.
	Blanks, Escapes int
	Reordered       bool

	Fields []string // of DifferenceOtherValues: names of the fields that differ, are missing or were added
}

// Differ returns how got differs from sent; nil if it does not.
func Differ(sent, got []byte) *Difference {
	if bytes.Equal(sent, got) {
		return nil
	}
	d := &Difference{}
	for d.Offset < min(len(sent), len(got)) && sent[d.Offset] == got[d.Offset] {
		d.Offset++
	}
	d.Cause = causeOf(sent, got)
	if d.Cause == "" {
		d.compareJSON(sent, got)
	}
	return d
}

// causeOf returns the cause of a difference that JSON has nothing to do with; empty: none was found.
func causeOf(sent, got []byte) DifferenceCause {
	marked, isMarked := bytes.CutPrefix(got, []byte("\uFEFF"))
	switch {
	case len(got) == 0:
		return DifferenceEmpty
	case isMarked && bytes.Equal(marked, sent):
		return DifferenceMark
	case bytes.HasPrefix(sent, got):
		return DifferenceCut
	case bytes.Equal(bytes.TrimSpace(bytes.ReplaceAll(got, []byte("\r\n"), []byte("\n"))), sent):
		return DifferenceBlanks
	case slices.ContainsFunc(charsets, func(write func([]byte) []byte) bool { return bytes.Equal(write(sent), got) }):
		return DifferenceCharset
	case encodes(got, sent):
		return DifferenceEncoded
	}
	return ""
}

// charsets write a text in UTF-8 as receivers do that take it for another charset.
var charsets = []func([]byte) []byte{
	func(text []byte) []byte { // ISO 8859-1
		return mapRunes(text, func(r rune) []byte {
			if r > 0xFF {
				r = '?'
			}
			return []byte{byte(r)}
		})
	},
	func(text []byte) (twice []byte) { // UTF-8 that was read as ISO 8859-1
		for _, b := range text {
			twice = utf8.AppendRune(twice, rune(b))
		}
		return twice
	},
	func(text []byte) []byte { return replaced(text, "?") }, // ASCII
	func(text []byte) []byte { return replaced(text, "\uFFFD") },
	func(text []byte) (wide []byte) {
		for _, unit := range utf16.Encode([]rune(string(text))) {
			wide = binary.LittleEndian.AppendUint16(wide, unit)
		}
		return wide
	},
	func(text []byte) (wide []byte) {
		for _, unit := range utf16.Encode([]rune(string(text))) {
			wide = binary.BigEndian.AppendUint16(wide, unit)
		}
		return wide
	},
}

func replaced(text []byte, by string) []byte {
	return mapRunes(text, func(r rune) []byte {
		if r >= utf8.RuneSelf {
			return []byte(by)
		}
		return []byte{byte(r)}
	})
}

func mapRunes(text []byte, write func(rune) []byte) (written []byte) {
	for _, r := range string(text) {
		written = append(written, write(r)...)
	}
	return written
}

// encodes reports whether text is sent as a JSON text in quotes, as base64, or as a form or its only field.
func encodes(text, sent []byte) bool {
	var quoted string
	if json.Unmarshal(text, &quoted) == nil && quoted == string(sent) {
		return true
	}
	if base64.StdEncoding.EncodeToString(sent) == string(text) {
		return true
	}
	form, err := url.QueryUnescape(string(text))
	if err != nil {
		return false
	}
	_, field, _ := strings.Cut(form, "=")
	return form == string(sent) || field == string(sent)
}

func (d *Difference) compareJSON(sent, got []byte) {
	var was, is map[string]any
	d.Cause = DifferenceUnknown
	if json.Unmarshal(sent, &was) != nil || json.Unmarshal(got, &is) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(merged(was, is))) {
		value, present := is[name]
		if old, sent := was[name]; sent != present || !reflect.DeepEqual(old, value) {
			d.Fields = append(d.Fields, name)
		}
	}
	switch {
	case len(d.Fields) == 0:
		d.Cause = DifferenceRewritten
		sentBlanks, sentEscapes := blanksAndEscapes(sent)
		blanks, escapes := blanksAndEscapes(got)
		d.Blanks, d.Escapes, d.Reordered = blanks-sentBlanks, escapes-sentEscapes, !slices.Equal(names(sent), names(got))
	case is["tx_id"] != nil && was["tx_id"] != is["tx_id"]:
		d.Cause, d.Fields = DifferenceOtherEvent, nil
	default:
		d.Cause = DifferenceOtherValues
	}
}

func merged(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// blanksAndEscapes counts the white space of a JSON text outside of its strings, and the escapes in them: two of a
// surrogate pair count once.
func blanksAndEscapes(text []byte) (blanks, escapes int) {
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
			low := bytes.ToLower(text[i:min(len(text), i+4)])
			if text[i] == '/' || text[i] == 'u' && !(low[1] == 'd' && low[2] >= 'c') {
				escapes++
			}
		case !inString && strings.IndexByte(" \t\r\n", c) >= 0:
			blanks++
		}
	}
	return blanks, escapes
}

// names returns the texts of a valid JSON text in their order: names of fields, and values.
func names(text []byte) (all []string) {
	in := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := in.Token()
		if err != nil {
			return all
		}
		if text, is := token.(string); is {
			all = append(all, text)
		}
	}
}

// Words says the cause in a sentence, and what to do.
func (d *Difference) Words() english.Phrase {
	switch d.Cause {
	case DifferenceEmpty:
		return english.Say("There are no bytes: something read the body before. Take the raw body first.")
	case DifferenceCut:
		return english.Say("Only the beginning of the body is there. Read it to its end, without a limit below 64 KiB.")
	case DifferenceMark:
		return english.Say("The body begins with a byte order mark that was not sent. Verify the bytes that arrive, before anything decodes them.")
	case DifferenceBlanks:
		return english.Say("The body has line breaks or blanks that were not sent. Verify the bytes that arrive, without a line break at the end.")
	case DifferenceCharset:
		return english.Say("The body was written in another charset. It is UTF-8: verify the bytes that arrive, before anything decodes them.")
	case DifferenceEncoded:
		return english.Say("The body is in quotes, in base64 or encoded as a form. Verify the bytes that arrive, before anything encodes them.")
	case DifferenceRewritten:
		if changes := d.changes(); changes != nil {
			return english.Say("The same JSON, but other bytes: a framework parsed it and wrote it again (%s). "+
				"Verify the bytes that arrive, before anything parses them.", changes)
		}
		return english.Say("The same JSON, but other bytes: a framework parsed it and wrote it again. " +
			"Verify the bytes that arrive, before anything parses them.")
	case DifferenceOtherEvent:
		return english.Say("This is the event of another transaction. Compare it with that event, by its X-Service-Delivery.")
	case DifferenceOtherValues:
		return english.Say("These fields differ from what was sent: %s. Verify the bytes that arrive, before anything changes them.",
			strings.Join(d.Fields[:min(len(d.Fields), 10)], ", "))
	}
	return english.Say("The bytes are not the body of this event. Log the raw body where the signature is computed.")
}

// changes says what a rewritten body has more or less than the one that was sent.
func (d *Difference) changes() (said []english.Phrase) {
	count := func(n int, more, fewer english.Text) {
		switch {
		case n > 0:
			said = append(said, english.Say(more, n))
		case n < 0:
			said = append(said, english.Say(fewer, -n))
		}
	}
	if d.Blanks == -1 { // the one of every event, which JSON libraries do not write
		said = append(said, english.Say("1 fewer blank"))
	} else {
		count(d.Blanks, "%d more blanks", "%d fewer blanks")
	}
	count(d.Escapes, `%d more escapes such as \u00e9`, `%d fewer escapes such as \u00e9`)
	if d.Reordered {
		said = append(said, english.Say("fields in another order"))
	}
	return said
}
