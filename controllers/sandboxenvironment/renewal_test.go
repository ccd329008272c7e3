package sandboxenvironment

import (
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	clocktesting "k8s.io/utils/clock/testing"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// A month that is over by this machine's clock, and not yet by that of the database, is not asked for without a pause.
func TestRenewalIsAwaitedWithPauses(t *testing.T) {
	t.Parallel()
	r := &Reconciler{Clock: clocktesting.NewFakePassiveClock(now)}
	for left, want := range map[time.Duration]time.Duration{-3 * time.Second: time.Second, 0: time.Second, time.Hour: time.Hour} {
		state := &sandboxes.SandboxState{Quota: &sandboxes.QuotaState{Limit: 2, Used: 2, RenewsAt: now.Add(left)}}
		got, err := r.wake(&v1alpha1.SandboxEnvironment{}, state, ctrl.Result{}, nil)
		if err != nil || got.RequeueAfter != want {
			t.Errorf("a quota that begins again in %s is looked at in %s, %v, want %s", left, got.RequeueAfter, err, want)
		}
	}
}
