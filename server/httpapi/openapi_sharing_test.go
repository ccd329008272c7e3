package httpapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// The document has what the operations have in common once. Written out again, it is what each operation says of itself.
func TestSharedAnswersLoseNothing(t *testing.T) {
	t.Parallel()
	c := theContract(t)
	if most := 240_000; len(c.served) > most {
		t.Errorf("the document has %d bytes, want at most %d", len(c.served), most)
	}
	common := c.document[apidoc.CommonHeaders].(object)
	references := 0
	for _, o := range apidoc.Operations {
		var whole object
		if err := json.Unmarshal(encoded(t, o.Describe()), &whole); err != nil {
			t.Fatal(err)
		}
		described := whole["responses"].(object)
		operation := c.operation(o.Method, o.Path)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(operation["responses"].(object)))); diff != "" {
			t.Errorf("%s answers (-described +served):\n%s", o.ID, diff)
		}
		for status, want := range described {
			served, at := c.answer(operation, "", status)
			if at != "" {
				references++
			}
			if name := at[strings.LastIndex(at, "/")+1:]; at != "" && !strings.HasPrefix(name, "Error-"+status+"-") {
				t.Errorf("%s refers for %s to %s", o.ID, status, name)
			}
			got, full := maps.Clone(served), want.(object)
			headers := maps.Clone(common)
			own, _ := served["headers"].(object)
			maps.Copy(headers, own)
			got["headers"] = headers
			for name, header := range full["headers"].(object) {
				if diff := cmp.Diff(header, headers[name]); diff != "" {
					t.Errorf("%s %s: the header %s (-described +served):\n%s", o.ID, status, name, diff)
				}
			}
			full["headers"] = headers // those that only some answers have are optional
			if diff := cmp.Diff(full, got); diff != "" {
				t.Errorf("%s %s (-described +served):\n%s", o.ID, status, diff)
			}
		}
	}
	if components := len(c.document["components"].(object)["responses"].(object)); references < 5*components {
		t.Errorf("%d components are referred to %d times", components, references)
	}
}
