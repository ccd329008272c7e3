package httpapi_test

import (
	"fmt"
	"testing"
)

// What was made at the first moment of a month, by a clock that stands there, is in that month and in no other, whoever asks.
func TestMidnightIsInOneMonth(t *testing.T) {
	f := newFixture(t)
	f.paid("midnight")
	f.exec("update transactions set created_at = '2026-12-01T00:00:00.000456Z'") // the clock has microseconds, which nothing shows
	f.exec("update events set created_at = '2026-12-01T00:00:00.000456Z'")
	for month, want := range map[string]int{
		"2026-11-01T00:00:00Z 2026-12-01T00:00:00Z": 0, "2026-12-01T00:00:00Z 2027-01-01T00:00:00Z": 1,
		"2026-11-01T00:00:00Z 2026-12-01T00:00:00.000456Z": 0, "2026-12-01T00:00:00.000456Z 2027-01-01T00:00:00Z": 1,
	} {
		var from, until string
		if _, err := fmt.Sscan(month, &from, &until); err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{"/v1/payments?", "/v1/events?", "/v1/payments?status=SUCCESS&", "/v1/payments?reference=midnight&"} {
			got := f.call("GET", list+"created_after="+from+"&created_before="+until, nil)
			if n := len(got.each("id")); n != want {
				t.Errorf("%s has %d of %s, want %d: %s", list, n, month, want, got.raw)
			}
		}
		where := object{"createdAfter": from, "createdBefore": until}
		for _, kind := range []string{"transactions", "events"} {
			got := f.call("POST", "/v1/expectations/evaluate", object{"expect": []any{object{kind: object{"where": where, "count": want}}}})
			if got.body["met"] != true {
				t.Errorf("an expectation of %s of %s: %s", kind, month, got.raw)
			}
		}
	}
}
