package faults

import (
	"encoding/json"
	"slices"
	"testing"
)

// A fault is told with what it does, in the same words everywhere.
func TestEffects(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		`"webhook":{"duplicate":2}`:                                           "sent 2 times",
		`"webhook":{"duplicate":3,"spacing":"90s"}`:                           "sent 3 times, 1 min 30 s apart",
		`"webhook":{"duplicate":2,"overlap":true}`:                            "sent 2 times at the same moment",
		`"operator":{"callback":{"duplicate":3,"overlap":true}}`:              "sent 3 times at the same moment",
		`"webhook":{"drop":true}`:                                             "not sent",
		`"webhook":{"delay":"1h30m","badSignature":true}`:                     "sent 1 h 30 min late, signed with a wrong key",
		`"webhook":{"beforeAnswer":true}`:                                     "sent before the answer",
		`"webhook":{"outOfOrder":true}`:                                       "sent out of order",
		`"webhook":{"staleTimestamp":"10m"}`:                                  "signed 10 min too early",
		`"webhook":{"truncate":true,"contentType":"text/plain"}`:              "sent as text/plain, body cut off",
		`"webhook":{"unknownField":true,"unknownEvent":true}`:                 "an unknown field added, sent as an unknown event",
		`"api":{"status":503}`:                                                "answered 503 Service Unavailable",
		`"api":{"delay":"500ms","malformedBody":true}`:                        "answered 500 ms late, answered with a body that is not JSON",
		`"api":{"dropConnection":"AfterCommit"}`:                              "recorded and not answered",
		`"operator":{"dropConnection":"BeforeCommit"}`:                        "not recorded and not answered",
		`"operator":{"callback":{"drop":true},"statusStaysPending":"10m"}`:    "not sent, status pending 10 min longer",
		`"operator":{"callback":{"drop":true},"statusFlickers":true}`:         "not sent, status flickers",
		`"operator":{"callback":{"duplicate":2},"reason":"INTERNAL_PROBLEM"}`: "sent 2 times, reason INTERNAL_PROBLEM",
	} {
		var s Set
		if err := json.Unmarshal([]byte(`[{"name":"f",`+entry+`}]`), &s); err != nil {
			t.Fatal(err)
		}
		if got := s.Effects([]string{"f", "gone"}); !slices.Equal(got, []string{"f: " + want, "gone"}) {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
	if got := Set(nil).Effects([]string{"test number 911", "test number 910", "test number 912"}); !slices.Equal(got, []string{
		"test number 911: sent 2 times", "test number 910: not sent", "test number 912: sent before the answer",
	}) {
		t.Errorf("test numbers: %q", got)
	}
}
