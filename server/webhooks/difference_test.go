package webhooks_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/webhooks"
)

const compared = `{"event":"payment.completed","tx_id":"TX_1","amount":"25000","description":"Riz parfumé", "raw":{"a":1,"b":[true,null]}}`

func utf16le(text string) (wide string) {
	for _, unit := range utf16.Encode([]rune(text)) {
		wide += string([]byte{byte(unit), byte(unit >> 8)})
	}
	return wide
}

// phpOf writes an event as PHP does after it has parsed it.
func phpOf(event string) string {
	return strings.NewReplacer(", ", ",", "é", `\u00e9`).Replace(event)
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	quoted, _ := json.Marshal(compared)
	latin1 := strings.Replace(compared, "é", "\xe9", 1)
	const python = `{"event": "payment.completed", "tx_id": "TX_1", "amount": "25000", "description": "Riz parfum\u00e9", "raw": {"a": 1, "b": [true, null]}}`
	others := &webhooks.Difference{Offset: 2, Cause: webhooks.DifferenceOtherValues, Fields: []string{"amount", "description", "raw", "x"}}
	accent := strings.IndexRune(compared, 'é')
	rewritten := webhooks.DifferenceRewritten
	for name, c := range map[string]struct {
		got  string
		want *webhooks.Difference
	}{
		"the same":           {compared, nil},
		"nothing":            {"", &webhooks.Difference{Cause: webhooks.DifferenceEmpty}},
		"the beginning":      {compared[:40], &webhooks.Difference{Offset: 40, Cause: webhooks.DifferenceCut}},
		"a mark":             {"\uFEFF" + compared, &webhooks.Difference{Cause: webhooks.DifferenceMark}},
		"a line break":       {compared + "\n", &webhooks.Difference{Offset: len(compared), Cause: webhooks.DifferenceBlanks}},
		"a Windows one":      {compared + "\r\n", &webhooks.Difference{Offset: len(compared), Cause: webhooks.DifferenceBlanks}},
		"ISO 8859-1":         {latin1, &webhooks.Difference{Offset: accent, Cause: webhooks.DifferenceCharset}},
		"UTF-8 twice":        {strings.Replace(compared, "é", "Ã©", 1), &webhooks.Difference{Offset: accent + 1, Cause: webhooks.DifferenceCharset}},
		"ASCII":              {strings.Replace(compared, "é", "?", 1), &webhooks.Difference{Offset: accent, Cause: webhooks.DifferenceCharset}},
		"UTF-16":             {utf16le(compared), &webhooks.Difference{Offset: 1, Cause: webhooks.DifferenceCharset}},
		"quotes":             {string(quoted), &webhooks.Difference{Cause: webhooks.DifferenceEncoded}},
		"base64":             {base64.StdEncoding.EncodeToString([]byte(compared)), &webhooks.Difference{Cause: webhooks.DifferenceEncoded}},
		"a form":             {"payload=" + url.QueryEscape(compared), &webhooks.Difference{Cause: webhooks.DifferenceEncoded}},
		"json.dumps":         {python, &webhooks.Difference{Offset: 9, Cause: rewritten, Blanks: 12, Escapes: 1}},
		"JSON.stringify":     {strings.Replace(compared, ", ", ",", 1), &webhooks.Difference{Offset: accent + len("é\","), Cause: rewritten, Blanks: -1}},
		"json_encode":        {phpOf(compared), &webhooks.Difference{Offset: accent, Cause: rewritten, Blanks: -1, Escapes: 1}},
		"a blank":            {"{ " + compared[1:], &webhooks.Difference{Offset: 1, Cause: rewritten, Blanks: 1}},
		"an escape":          {strings.Replace(compared, "é", `\u00E9`, 1), &webhooks.Difference{Offset: accent, Cause: rewritten, Escapes: 1}},
		"order":              {`{"tx_id":"TX_1","event":"payment.completed"` + compared[43:], &webhooks.Difference{Offset: 2, Cause: rewritten, Reordered: true}},
		"another event":      {strings.Replace(compared, "TX_1", "TX_2", 1), &webhooks.Difference{Offset: 41, Cause: webhooks.DifferenceOtherEvent}},
		"other values":       {`{"tx_id":"TX_1","event":"payment.completed","amount":25000,"x":1}`, others},
		"another text":       {"hello", &webhooks.Difference{Cause: webhooks.DifferenceUnknown}},
		"a list":             {"[1]", &webhooks.Difference{Cause: webhooks.DifferenceUnknown}},
		"a blank in a value": {strings.Replace(compared, "25000", "25 000", 1), &webhooks.Difference{Offset: 56, Cause: webhooks.DifferenceOtherValues, Fields: []string{"amount"}}},
	} {
		got := webhooks.Differ([]byte(compared), []byte(c.got))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if got != nil && (!strings.HasSuffix(got.Words().String(), ".") || len(got.Words().String()) < 50) {
			t.Errorf("%s: %s", name, got.Words().String())
		}
	}
}

func TestWordsOfARewrittenBody(t *testing.T) {
	t.Parallel()
	for said, d := range map[string]webhooks.Difference{
		`74 more blanks, 1 fewer escapes such as \u00e9, fields in another order`: {Blanks: 74, Escapes: -1, Reordered: true},
		"1 fewer blank":  {Blanks: -1},
		"2 fewer blanks": {Blanks: -2},
	} {
		d.Cause = webhooks.DifferenceRewritten
		want := "The same JSON, but other bytes: a framework parsed it and wrote it again (" + said +
			"). Verify the bytes that arrive, before anything parses them."
		if got := d.Words().String(); got != want {
			t.Error(got)
		}
	}
}

// Whatever a receiver captured: two bodies differ if and only if there is a difference, whose bytes differ.
func FuzzDiffer(f *testing.F) {
	f.Add([]byte(compared), []byte(`{"a":"\ud83c\udfab\/"}`))
	f.Add([]byte(`{"a":"\u00e9"}`), []byte("a=%7B"))
	f.Fuzz(func(t *testing.T, sent, got []byte) {
		d := webhooks.Differ(sent, got)
		if (d == nil) != (string(sent) == string(got)) {
			t.Fatalf("difference %+v", d)
		}
		if d == nil {
			return
		}
		if string(sent[:d.Offset]) != string(got[:d.Offset]) ||
			d.Offset < min(len(sent), len(got)) && sent[d.Offset] == got[d.Offset] || d.Cause == "" || d.Words().String() == "" {
			t.Errorf("difference %+v", d)
		}
	})
}
