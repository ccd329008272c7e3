package console_test

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A browser opens at most six connections to a host. So a hidden tab closes its stream, and opens one when it is shown
// again.
func TestHiddenTabClosesItsStream(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node.js on this machine")
	}
	for tab, want := range map[string]string{
		"shown":  "loaded: open\nhidden: closed\nshown: closed open\nleft: closed closed\n",
		"hidden": "loaded: none\nhidden: none\nshown: open\nleft: closed\n",
	} {
		got, err := exec.CommandContext(t.Context(), node, "testdata/tab.mjs", "../assets/console.js", tab).CombinedOutput()
		if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
			t.Errorf("a tab that is %s at first: %v (-want +got):\n%s", tab, err, diff)
		}
	}
}
