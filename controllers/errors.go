package controllers

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// stallingError means that the user must change the spec or an object that the spec names. The resource is reconciled
// again only after a watch event or at the periodic resync.
type stallingError struct {
	reason  string
	message string // tells the user what to change
}

func (e *stallingError) Error() string { return e.message }

// waitingError means that the reconciliation waits for something other than the user. It is retried after pace.retry,
// unless woken is true.
type waitingError struct {
	reason  string
	message string // constant over retries, because it is written to the status
	cause   error  // may be nil
	woken   bool   // whether an event reconciles the resource when the wait ends
}

func (e *waitingError) Error() string { return e.message }
func (e *waitingError) Unwrap() error { return e.cause }

// failedError is any other error. It is retried with backoff.
type failedError struct {
	reason string // reason of the condition
	cause  error
}

func (e *failedError) Error() string { return e.cause.Error() }
func (e *failedError) Unwrap() error { return e.cause }

// errSpecChanged means that the cache had an earlier spec. The result of the reconciliation is dropped.
var errSpecChanged = errors.New("the spec has changed since it was read")

// isStalling reports whether an error is a stallingError.
func isStalling(err error) bool {
	var stalling *stallingError
	return errors.As(err, &stalling)
}

// isWaiting reports whether an error is a waitingError.
func isWaiting(err error) bool {
	var waiting *waitingError
	return errors.As(err, &waiting)
}

// isWoken reports whether an error is a waitingError that an event ends.
func isWoken(err error) bool {
	var waiting *waitingError
	return errors.As(err, &waiting) && waiting.woken
}

// reasonOf returns the condition reason of a step's error.
func reasonOf(err error) string {
	var (
		stalling *stallingError
		waiting  *waitingError
		failed   *failedError
	)
	switch {
	case errors.As(err, &stalling):
		return stalling.reason
	case errors.As(err, &waiting):
		return waiting.reason
	case errors.As(err, &failed):
		return failed.reason
	default:
		return v1alpha1.ReasonRetrying
	}
}

// pace has the intervals of reconciliations without an event.
type pace struct {
	resync time.Duration // interval of the periodic resync, in case an event was missed
	retry  time.Duration // interval while waiting for something that no watch reports
}

// next returns when a resource is reconciled again after a reconciliation with this error.
func (p pace) next(err error) (ctrl.Result, error) {
	switch {
	case err == nil, isStalling(err), isWoken(err):
		return ctrl.Result{RequeueAfter: wait.Jitter(p.resync, spread)}, nil
	case isWaiting(err):
		return ctrl.Result{RequeueAfter: wait.Jitter(p.retry, spread)}, nil
	case apierrors.IsConflict(err), errors.Is(err, errSpecChanged): // a concurrent write, which is no failure
		return ctrl.Result{RequeueAfter: wait.Jitter(p.retry/10, spread)}, nil
	default:
		return ctrl.Result{}, err
	}
}

// spread is the maximum jitter of a delay, as a fraction of the delay. It spreads the reconciliations of resources that
// were created together. No stored or compared value depends on this randomness.
const spread = 0.2

// interrupted reports whether the end of the controller or the timeout canceled an attempt. Then the error of the
// attempt has no meaning for the resource.
func interrupted(ctx context.Context) bool { return ctx.Err() != nil }
