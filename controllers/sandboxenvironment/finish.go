package sandboxenvironment

import (
	"context"
	"errors"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// sandboxURL returns the base URL of a sandbox's API. It does not escape namespace and name, because they are DNS
// labels.
func (r *Reconciler) sandboxURL(sandbox *v1alpha1.SandboxEnvironment) string {
	return r.BaseURL.JoinPath("sandboxes", sandbox.Namespace, sandbox.Name).String()
}

// finish writes the status if it changed, and returns when the sandbox is reconciled again.
func (r *Reconciler) finish(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen Observation,
) (ctrl.Result, error) {
	if reconciler.Interrupted(ctx) {
		return ctrl.Result{}, fmt.Errorf("reconciling %s: %w", client.ObjectKeyFromObject(sandbox), context.Cause(ctx))
	}
	if errors.Is(seen.Progress.Err, reconciler.ErrSpecChanged) {
		return r.Pace.Next(seen.Progress.Err)
	}
	before := sandbox.DeepCopy()
	sandbox.Status = Status(sandbox, seen, r.sandboxURL(sandbox), r.Clock.Now())
	if id := sandbox.Status.OrganizationID; id != "" {
		sandbox.Status.OperatorAPIs = r.operatorAPIs(sandbox, id)
	}
	if err := reconciler.PatchStatus(ctx, r.Client, r.Writes, before, sandbox); err != nil {
		return r.Pace.Next(err)
	}
	for _, kind := range announcedConditions {
		reconciler.Announce(r.Recorder, sandbox, kind, before.Status.Conditions, sandbox.Status.Conditions)
	}
	result, err := r.Pace.Next(seen.Progress.Err)
	return r.wake(sandbox, seen.State, result, err)
}

// announcedConditions are the conditions whose changes create events.
var announcedConditions = []string{
	v1alpha1.ConditionReady,
	v1alpha1.ConditionOperatorCredentialsReady,
	v1alpha1.ConditionWebhookReady,
}

// wake shortens result.RequeueAfter to the time until the sandbox expires, its quota renews, or its receiver is judged
// otherwise because of the age of events.
func (r *Reconciler) wake(
	sandbox *v1alpha1.SandboxEnvironment, state *sandboxes.SandboxState, result ctrl.Result, err error,
) (ctrl.Result, error) {
	if err != nil || !sandbox.DeletionTimestamp.IsZero() {
		return result, err
	}
	soonest := func(at *time.Time, least time.Duration) {
		if at == nil {
			return
		}
		if left := max(at.Sub(r.Clock.Now()), least); result.RequeueAfter == 0 || left < result.RequeueAfter {
			result.RequeueAfter = left
		}
	}
	soonest(expiry(sandbox), time.Millisecond)
	soonest(renewal(state), renewalPause)
	soonest(fewer(state), renewalPause)
	return result, err
}

// fewer returns the time at which fewer events of the last 24 hours are unacknowledged, if nothing else happens. It returns
// nil as renewal does for a manual clock.
func fewer(state *sandboxes.SandboxState) *time.Time {
	if state == nil || state.Endpoint.OldestAt == nil || state.Clock.Mode == sandboxes.ManualClock {
		return nil
	}
	return new(state.Endpoint.OldestAt.Add(24*time.Hour - state.Clock.Ahead))
}

// renewalPause is the polling interval for what is overdue by database time, such as a renewal of a quota. Database
// time may be behind the clock of this machine.
const renewalPause = time.Second

// renewal returns the time at which a used quota renews. It returns nil if no quota is used. It also returns nil for a
// manual clock, because an advance of the clock reconciles the sandbox.
func renewal(state *sandboxes.SandboxState) *time.Time {
	if state == nil || state.Quota == nil || state.Quota.Used == 0 || state.Clock.Mode == sandboxes.ManualClock {
		return nil
	}
	return new(state.Quota.RenewsAt.Add(-state.Clock.Ahead))
}
