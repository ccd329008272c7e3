package reconciler

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// StallingError means that the user must change the spec or an object that the spec names. The resource is reconciled
// again only after a watch event or at the periodic resync, unless Polled is true.
type StallingError struct {
	Reason  string
	Message string // tells the user what to change
	Polled  bool   // whether no watch reports the change
}

func (e *StallingError) Error() string { return e.Message }

// WaitingError means that the reconciliation waits for something other than the user. It is retried after Pace.Retry,
// unless Woken is true.
type WaitingError struct {
	Reason  string
	Message string // constant over retries, because it is written to the status
	Cause   error  // may be nil
	Woken   bool   // whether an event reconciles the resource when the wait ends
}

func (e *WaitingError) Error() string { return e.Message }
func (e *WaitingError) Unwrap() error { return e.Cause }

// FailedError is any other error. It is retried with backoff.
type FailedError struct {
	Reason string // reason of the condition
	Cause  error
}

func (e *FailedError) Error() string { return e.Cause.Error() }
func (e *FailedError) Unwrap() error { return e.Cause }

// ErrSpecChanged means that the cache had an earlier spec. The result of the reconciliation is dropped.
var ErrSpecChanged = errors.New("the spec has changed since it was read")

// IsStalling reports whether an error is a StallingError.
func IsStalling(err error) bool {
	var stalling *StallingError
	return errors.As(err, &stalling)
}

// IsWaiting reports whether an error is a WaitingError.
func IsWaiting(err error) bool {
	var waiting *WaitingError
	return errors.As(err, &waiting)
}

// isPolled reports whether an error is a StallingError that no event ends.
func isPolled(err error) bool {
	var stalling *StallingError
	return errors.As(err, &stalling) && stalling.Polled
}

// isWoken reports whether an error is a WaitingError that an event ends.
func isWoken(err error) bool {
	var waiting *WaitingError
	return errors.As(err, &waiting) && waiting.Woken
}

// ReasonOf returns the condition reason of a step's error.
func ReasonOf(err error) string {
	var (
		stalling *StallingError
		waiting  *WaitingError
		failed   *FailedError
	)
	switch {
	case errors.As(err, &stalling):
		return stalling.Reason
	case errors.As(err, &waiting):
		return waiting.Reason
	case errors.As(err, &failed):
		return failed.Reason
	default:
		return v1alpha1.ReasonRetrying
	}
}

// Pace has the intervals of reconciliations without an event.
type Pace struct {
	Resync time.Duration // interval of the periodic resync, in case an event was missed
	Retry  time.Duration // interval while waiting for something that no watch reports
}

// Next returns when a resource is reconciled again after a reconciliation with this error.
func (p Pace) Next(err error) (ctrl.Result, error) {
	switch {
	case err == nil, IsStalling(err) && !isPolled(err), isWoken(err):
		return ctrl.Result{RequeueAfter: wait.Jitter(p.Resync, spread)}, nil
	case IsStalling(err), IsWaiting(err):
		return ctrl.Result{RequeueAfter: wait.Jitter(p.Retry, spread)}, nil
	case apierrors.IsConflict(err), errors.Is(err, ErrSpecChanged): // a concurrent write, which is no failure
		return ctrl.Result{RequeueAfter: wait.Jitter(p.Retry/10, spread)}, nil
	default:
		return ctrl.Result{}, err
	}
}

// spread is the maximum jitter of a delay, as a fraction of the delay. It spreads the reconciliations of resources that
// were created together. No stored or compared value depends on this randomness.
const spread = 0.2

// Interrupted reports whether the end of the controller or the timeout canceled an attempt. Then the error of the
// attempt has no meaning for the resource.
func Interrupted(ctx context.Context) bool { return ctx.Err() != nil }
