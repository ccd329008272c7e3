package operators_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/operators"
)

// A document describes the credentials that its calls need, and no others.
func TestDocumentsHaveTheCredentialsOfTheirCalls(t *testing.T) {
	t.Parallel()
	for _, api := range operators.NativeAPIs() {
		document := api.Document()
		used := map[string]bool{}
		for _, calls := range document["paths"].(map[string]map[string]any) {
			for _, call := range calls {
				security, own := call.(map[string]any)["security"].([]any)
				if !own {
					security = document["security"].([]any)
				}
				for _, needed := range security {
					for scheme := range needed.(map[string]any) {
						used[scheme] = true
					}
				}
			}
		}
		described := document["components"].(map[string]any)["securitySchemes"].(map[string]any)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(used)), slices.Sorted(maps.Keys(described))); diff != "" {
			t.Errorf("%s (-used +described):\n%s", api.Operator, diff)
		}
	}
}
