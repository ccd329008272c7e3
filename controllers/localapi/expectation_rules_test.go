package localapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/expectations"
)

// An Expectation with lines that can never be judged is refused when it is applied, since its spec cannot be changed later. POST
// /v1/expectations/evaluate refuses the same lines in the same words.
func TestLinesThatCannotBeJudgedAreRefusedAtApply(t *testing.T) {
	t.Parallel()
	p := start(t, Options{})
	const form, order = `must be a number from 0 to 9999, or a range: ">=1", "<=3" or "2..4"`, `must be a range from the smaller to the larger number, such as "2..4"`
	counts := map[string]string{
		`1`: "", `0`: "", `9999`: "", `"3"`: "", `"0"`: "", `">=1"`: "", `"<=3"`: "", `"2..4"`: "", `"2..2"`: "", `"0..9999"`: "", `"0002..10"`: "",
		`"many"`: form, `-1`: form, `"-1"`: form, `10000`: form, `"10000"`: form, `">=10000"`: form, `""`: form, `" 1"`: form, `"1 "`: form, `"> 1"`: form,
		`"1...3"`: form, `"1.."`: form, `"..3"`: form, `"=1"`: form, `"0x1"`: form, `"4..2"`: order, `"10..9"`: order, `"0010..9"`: order,
	}
	lines := map[string]string{
		`[{"transactions":{"where":{"createdAfter":"2026-12-01T00:00:00Z","createdBefore":"2026-12-01T00:00:00Z"},"count":0}}]`:        "must be later than createdAfter",
		`[{"events":{"where":{"createdAfter":"2026-12-01T00:00:00Z","createdBefore":"2026-12-01T01:59:00+02:00"},"count":0}}]`:         "must be later than createdAfter",
		`[{"transactions":{"where":{"createdAfter":"2026-12-01T00:00:00Z","createdBefore":"2026-12-01T00:00:00.000001Z"},"count":0}}]`: "",
		`[{"transactions":{"where":{"createdBefore":"2026-12-01T00:00:00Z"},"count":0}}]`:                                              "",
		`[{"events":{"where":{"event":"payment.completed","type":"refund"},"count":1}}]`:                                               "must be the type of the transactions that have this event: leave it out",
		`[{"events":{"where":{"event":"payment.refunded","type":"refund"},"count":1}}]`:                                                "",
		`[{"events":{"where":{"event":"operator.callback","type":"refund"},"count":1}}]`:                                               "",
		`[{"nothingElse":true},{"nothingElse":true}]`:                                                                                  "nothingElse must be one line only",
		`[{"nothingElse":false}]`: "",
	}
	for count, want := range counts {
		lines[`[{"transactions":{"count":`+count+`}}]`] = want
		lines[`[{"events":{"count":`+count+`}}]`] = want
	}
	n := 0
	for text, want := range lines {
		n++
		_, noLines := expectations.Parse([]byte(text))
		_, refused := p.Apply(t.Context(), manifests(t, fmt.Sprintf(`
apiVersion: cauri.dev/v1alpha1
kind: Expectation
metadata: {name: lines-%d}
spec: {sandboxRef: {name: checkout}, expect: %s}
`, n, text)))
		if (noLines == nil) != (refused == nil) {
			t.Errorf("%s: evaluate says %v, apply %v", text, noLines, refused)
			continue
		}
		for _, err := range []error{noLines, refused} {
			if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s is refused with %v, want %s", text, err, want)
			}
		}
	}
}
