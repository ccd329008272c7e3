package moov

import (
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The advice for an incomplete request names the fields that its call needs, and no others.
func TestAdviceForAnIncompleteRequest(t *testing.T) {
	for _, route := range NewAPI().Routes {
		told := ""
		for _, reason := range []operatorapi.Reason{incomplete, noReference} {
			if slices.Contains(route.Doc.Refused, reason) {
				told += advice[reason].Instead
			}
		}
		for _, field := range route.Doc.Request {
			if got := strings.Contains(told, "`"+field.Name+"`"); got == field.Optional {
				t.Errorf("%s: the advice names %s: %t", route.Path, field.Name, got)
			}
		}
	}
}
