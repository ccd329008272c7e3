package localapi

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
)

// FuzzFault checks that a fault is refused with a reason, or is one that every api and worker can read, and that its
// effect and its JSON are those of the entry.
func FuzzFault(f *testing.F) {
	for _, preset := range faults.Presets() {
		seed, err := json.Marshal(preset.Fault)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"name":"a","api":{"status":503}}`, `{"name":"a","api":{"status":5e2}}`, `{"name":"a","api":{"delay":"1h"}}`,
		`{"name":"a","when":{"reference":"\u0000"},"webhook":{"drop":true}}`, `{"name":"a","webhook":{"delay":"1d"}}`,
		`{"name":"a","when":{"first":1e18},"webhook":{"duplicate":2,"spacing":"-1s"}}`, `{"name":"a","when":null,"webhook":{"drop":null}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, entry []byte) {
		problems := FaultProblems(entry)
		for field, messages := range problems {
			if len(messages) == 0 {
				t.Errorf("%q: nothing is said of %q", entry, field)
			}
		}
		if len(problems) > 0 {
			return
		}
		fault, err := faults.ParseSet(1, entry, time.Time{})
		if err != nil {
			t.Fatalf("%q is accepted, and cannot be read: %v", entry, err)
		}
		if fault.Name == "" || fault.String() == "" {
			t.Errorf("%q is accepted as %q, which does %q", entry, fault.Name, fault.String())
		}
		written, err := json.Marshal(&fault)
		if err != nil {
			t.Fatal(err)
		}
		if again := FaultProblems(written); len(again) > 0 {
			t.Errorf("%q is accepted, and written as %s, which is refused: %v", entry, written, again)
		}
	})
}
