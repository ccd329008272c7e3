package cases

import (
	"strings"
	"testing"
)

func TestCasesAreSelectedByTheirWholeName(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		pattern string
		smoke   bool
		want    string
	}{
		"one":                   {"settle", false, "settle"},
		"two":                   {"hot|get", false, "hot get"},
		"several":               {"settle.*", false, "settle settle10k"},
		"of several, the short": {"settle.*", true, "settle"},
		"none":                  {"no such case", false, ""},
		"no regular expression": {"(", false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selected, err := Select(c.pattern, c.smoke)
			var names []string
			for _, r := range selected {
				names = append(names, r.Name)
			}
			if got := strings.Join(names, " "); got != c.want || (err != nil) != (c.want == "") {
				t.Errorf("selected %q, error %v; want %q", got, err, c.want)
			}
		})
	}
	if all, err := Select("", false); err != nil || len(all) != len(All) {
		t.Errorf("%d of %d cases are selected by nothing, error %v", len(all), len(All), err)
	}
}
