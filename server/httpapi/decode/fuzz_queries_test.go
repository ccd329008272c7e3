package decode

import (
	"bytes"
	"math/big"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

var decimalInteger = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// FuzzAmount checks that an amount is taken exactly if it is written as an integer within the bounds, and then as that integer.
func FuzzAmount(f *testing.F) {
	for _, seed := range []string{
		"1", "0", "-1", "01", "1.0", "1e3", "1000000000000", "1000000000001", "9223372036854775807", "9223372036854775808",
		"18446744073709551617",
		"99999999999999999999999999", `"1"`, "null", "true", "[1]", "1,\"amount\":2", " 7 ", "+1", "1_000", "0x10", "١",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, `,"{}[]`) || !utf8.ValidString(text) {
			return // may be several fields
		}
		body, err := CreateRefund.parse(http.Header{}, []byte(`{"amount":`+text+`}`), nil)
		written := strings.Trim(text, " \t\r\n")
		n, isNumber := new(big.Int).SetString(written, 10)
		valid := isNumber && decimalInteger.MatchString(written) && n.Cmp(big.NewInt(1)) >= 0 && n.Cmp(big.NewInt(payments.MaxAmount)) <= 0
		if valid != (err == nil) {
			t.Fatalf("the amount %q is refused with %v", text, err)
		}
		if valid && *body.Amount != n.Int64() {
			t.Errorf("the amount %q is read as %d", text, *body.Amount)
		}
	})
}

// FuzzOtherListQueries checks the queries of the lists beside that of payments: each is refused for a reason that names a known parameter,
// or its limit and its place are what it says.
func FuzzOtherListQueries(f *testing.F) {
	id := payments.ID{1, 2, 3}
	for _, seed := range []string{
		"", "limit=5", "limit=101", "limit=1&limit=2", "cursor=" + EventCursors.After(1, id), "cursor=" + TestClientCursors.After(1, id),
		"cursor=" + PromptCursors.After(1, id),
		"cursor=" + AfterEvent(1, payments.EventID{ID: id, Callback: true}), "event=operator.callback",
		"event=payment.completed&state=queued", "tx_id=" + id.String(), "created_after=2026-05-31T12:00:00Z",
		"country=RW&operator=mtn&state=Blocked", "a;b", "%zz",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		var events EventQuery
		var clients TestClientQuery
		var prompts PromptQuery
		values, wrong := EventParameters.Read(http.Header{}, raw, 1, &events)
		placed := ""
		if events.After != nil {
			placed = AfterEvent(1, *events.After)
		}
		read(t, EventParameters, raw, values, wrong, placed, events.Limit)
		values, wrong = TestClientParameters.Read(http.Header{}, raw, 1, &clients)
		read(t, TestClientParameters, raw, values, wrong, afterIn(TestClientCursors, clients.After), clients.Limit)
		values, wrong = PromptParameters.Read(http.Header{}, raw, 1, &prompts)
		read(t, PromptParameters, raw, values, wrong, afterIn(PromptCursors, prompts.After), prompts.Limit)
	})
}

// afterIn is the cursor that leads to a place; empty for none.
func afterIn(of cursors, place *payments.ID) string {
	if place == nil {
		return ""
	}
	return of.After(1, *place)
}

// read checks a query that was read; cursor is the one that leads where it does.
func read[Q, A any](t *testing.T, known Parameters[Q, A], raw string, values url.Values, wrong wire.FieldErrors, cursor string, limit int) {
	t.Helper()
	for name, why := range wrong {
		if _, found := known[name]; !found && name != "query" && known.misspelled(name) == "" || len(why) == 0 || why[0] == "" {
			t.Errorf("%q is refused for %s: %q", raw, name, why)
		}
	}
	if len(wrong) > 0 {
		refused(t, raw, view.InvalidParams(wrong), "invalid_params")
		return
	}
	if want, err := url.ParseQuery(raw); err != nil || want.Encode() != values.Encode() {
		t.Fatalf("%q is read as %v, %v", raw, values, err)
	}
	if values.Has("cursor") != (cursor != "") || cursor != values.Get("cursor") {
		t.Errorf("%q leads to %q", raw, cursor)
	}
	if values.Has("limit") && (limit < 1 || limit > wire.MaxLimit) {
		t.Errorf("%q has the limit %d", raw, limit)
	}
}

// FuzzPlaceOfANumber checks that a place in the list of test clients is the one of its number, and that places are in the numbers' order.
func FuzzPlaceOfANumber(f *testing.F) {
	f.Add("+250788000001", "+250788000002")
	f.Add("+1234567", "+123456789012345")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !payments.ValidMSISDN(a) || !payments.ValidMSISDN(b) {
			return
		}
		at, beside := NumberCursor(a), NumberCursor(b)
		if back := MSISDNAt(&at); back != a {
			t.Errorf("the place of %s is that of %s", a, back)
		}
		if (a == b) != (at == beside) || (a < b) != (bytes.Compare(at[:], beside[:]) < 0) {
			t.Errorf("%s and %s are in another order than their places", a, b)
		}
	})
}

// FuzzMoment checks that a time of a query is read as the time that it is, whatever its offset.
func FuzzMoment(f *testing.F) {
	for _, seed := range []string{"2026-05-31T12:00:00Z", "2026-05-31T12:00:00.123456789+02:00", "2026-02-30T00:00:00Z",
		"0000-01-01T00:00:00Z", "2026-05-31T24:00:00Z", "2026-05-31t12:00:00z", "2026-05-31T12:00:00+24:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var at *time.Time
		problem := moment(&at, text)
		if (problem == "") != (at != nil) {
			t.Fatalf("%q is read as %v, %q", text, at, problem)
		}
		if at == nil {
			return
		}
		var again *time.Time
		if problem := moment(&again, at.Format(time.RFC3339Nano)); problem != "" || !again.Equal(*at) {
			t.Errorf("%q is %v, which is read as %v, %q", text, at, again, problem)
		}
	})
}
