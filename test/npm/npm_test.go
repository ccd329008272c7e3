package npm

import "testing"

// What is in the way decides: a registry that cannot be reached is no fault of the change, and another package than the pinned one is.
func TestWhatNPMSaysIsTold(t *testing.T) {
	for out, want := range map[string]bool{
		"npm warn x\nnpm error code ECONNREFUSED\nnpm error syscall connect": true,
		"npm ERR! code EAI_AGAIN":   true,
		"npm error code E403":       true,
		"npm error code EINTEGRITY": false,
		"npm error code E404":       false,
		"npm error code EUSAGE":     false,
		"node: not found":           false,
	} {
		if got := unreachable(out); got != want {
			t.Errorf("%q: unreachable is %t", out, got)
		}
	}
}
