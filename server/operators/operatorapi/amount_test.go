package operatorapi_test

import (
	"encoding/json"
	"testing"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

func TestWholeAmount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		`5`: 5, `"5"`: 5, `5.0`: 5, `"5.000"`: 5, `0`: 0, `007`: 7, `0100`: 100, `"010"`: 10, `1.0E7`: 10_000_000, `"1.25e3"`: 1250, `2e+2`: 200,
		`999999999999999999`: 999_999_999_999_999_999,
	} {
		if got, ok := operatorapi.WholeAmount(json.RawMessage(text)); !ok || got != want {
			t.Errorf("%s is %d, %t", text, got, ok)
		}
	}
	for _, text := range []string{
		``, `""`, `null`, `-5`, `+5`, `5.5`, `1.25E1`, `1e-1`, `1e99`, `1e999`, `9999999999999999999`, `5.`, `.5`, `0x5`, `5/1`, ` 5`, `1_000`, `NaN`, `Inf`, `true`,
		`"1,000"`, "٥",
	} {
		if got, ok := operatorapi.WholeAmount(json.RawMessage(text)); ok {
			t.Errorf("%q is %d", text, got)
		}
	}
}
