package sandboxenvironment

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// expiry returns the time at which a sandbox expires; nil without a valid ttl. reconcileSpec reports an invalid ttl.
func expiry(sandbox *v1alpha1.SandboxEnvironment) *time.Time {
	if sandbox.Spec.TTL == "" {
		return nil
	}
	ttl, err := duration("spec.ttl", sandbox.Spec.TTL, "")
	if err != nil {
		return nil
	}
	// The result has whole seconds, like the creation timestamp and the status.
	at := sandbox.CreationTimestamp.Add(ttl).Truncate(time.Second)
	return &at
}

// Expired reports whether the ttl of a sandbox has ended, so that the controller deletes the sandbox.
func Expired(sandbox *v1alpha1.SandboxEnvironment, now time.Time) bool {
	at := expiry(sandbox)
	return at != nil && !now.Before(*at)
}

// expire deletes a sandbox whose ttl has ended. The deletion has the resourceVersion as precondition, in case the ttl
// was changed.
func (r *Reconciler) expire(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment) (ctrl.Result, error) {
	err := r.Delete(ctx, sandbox, client.Preconditions{UID: &sandbox.UID, ResourceVersion: &sandbox.ResourceVersion})
	if client.IgnoreNotFound(err) != nil {
		return r.Pace.Next(fmt.Errorf("deleting the sandbox, whose ttl has ended: %w", err))
	}
	if err == nil {
		r.Recorder.Eventf(sandbox, nil, corev1.EventTypeNormal, eventExpired, reconciler.ActionExpire,
			"The ttl of %s has ended: the sandbox deletes itself.", sandbox.Spec.TTL)
	}
	return ctrl.Result{}, nil
}

// eventExpired is the reason of the event for a ttl that has ended.
const eventExpired = "Expired"
