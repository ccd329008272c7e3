package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// sandboxURL returns the base URL of a sandbox's API. Namespace and name are DNS labels, which need no escaping.
func (r *sandboxReconciler) sandboxURL(sandbox *v1alpha1.SandboxEnvironment) string {
	return r.baseURL.JoinPath("sandboxes", sandbox.Namespace, sandbox.Name).String()
}

// finish writes the status, if it changed, and decides when the sandbox is reconciled again.
func (r *sandboxReconciler) finish(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen sandboxObservation,
) (ctrl.Result, error) {
	if interrupted(ctx) {
		return ctrl.Result{}, fmt.Errorf("reconciling %s: %w", client.ObjectKeyFromObject(sandbox), context.Cause(ctx))
	}
	if errors.Is(seen.progress.err, errSpecChanged) {
		return r.pace.next(seen.progress.err)
	}
	before := sandbox.DeepCopy()
	sandbox.Status = sandboxStatus(sandbox, seen, r.sandboxURL(sandbox), r.clock.Now())
	if err := patchStatus(ctx, r.Client, r.writes, before, sandbox); err != nil {
		return r.pace.next(err)
	}
	for _, kind := range announcedConditions {
		announce(r.recorder, sandbox, kind, before.Status.Conditions, sandbox.Status.Conditions)
	}
	result, err := r.pace.next(seen.progress.err)
	return r.wake(sandbox, seen.state, result, err)
}

// announcedConditions are the conditions whose changes create events.
var announcedConditions = []string{
	v1alpha1.ConditionReady,
	v1alpha1.ConditionOperatorCredentialsReady,
	v1alpha1.ConditionWebhookReady,
}

// wake reconciles a sandbox when it expires and when its quota renews, if that is before the next reconciliation.
func (r *sandboxReconciler) wake(
	sandbox *v1alpha1.SandboxEnvironment, state *sandboxes.SandboxState, result ctrl.Result, err error,
) (ctrl.Result, error) {
	if err != nil || !sandbox.DeletionTimestamp.IsZero() {
		return result, err
	}
	soonest := func(at *time.Time, least time.Duration) {
		if at == nil {
			return
		}
		if left := max(at.Sub(r.clock.Now()), least); result.RequeueAfter == 0 || left < result.RequeueAfter {
			result.RequeueAfter = left
		}
	}
	soonest(expiry(sandbox), time.Millisecond)
	soonest(renewal(state), renewalPause)
	return result, err
}

// renewalPause is the polling interval for a quota that should have renewed. The month ends by the clock of the
// database, and this machine's clock may be ahead of it.
const renewalPause = time.Second

// renewal returns when a quota that has been used renews. It returns nil if there is no such quota, or if the quota
// renews only when somebody advances a manual clock, which is noticed.
func renewal(state *sandboxes.SandboxState) *time.Time {
	if state == nil || state.Quota == nil || state.Quota.Used == 0 || state.Clock.Mode == sandboxes.ManualClock {
		return nil
	}
	return new(state.Quota.RenewsAt.Add(-state.Clock.Ahead))
}
