package service_test

import (
	"testing"

	"github.com/cauri-dev/cauri/server/service"
)

// However many callers wait, they look at the advance no more often together than sixteen do.
func TestLooksAtAnAdvance(t *testing.T) {
	for _, callers := range []int{1, 16, 17, 1000} {
		if all := float64(callers) / service.LookPause(callers).Seconds(); all > 64 {
			t.Errorf("%d callers look %g times a second", callers, all)
		}
	}
}
