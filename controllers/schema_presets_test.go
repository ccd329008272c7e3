package controllers_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cauri-dev/cauri/server/faults"
)

// Each preset is a valid entry of spec.faults.
func TestPresetsAreValid(t *testing.T) {
	cases := map[string]schemaCase{}
	for _, p := range faults.Presets() {
		entry, err := json.Marshal(p.Fault)
		if err != nil {
			t.Fatal(err)
		}
		cases[p.Name] = schemaCase{spec: fmt.Sprintf("%sfaults: [%s]", leastSandbox, entry)}
	}
	testSchema(t, "SandboxEnvironment", cases)
}
