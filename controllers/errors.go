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

// stallingError says that the user must change the spec, or something that it depends on. Only a watch event retries it, apart from the
// resync of all resources.
type stallingError struct {
	reason  string
	message string // what to change
}

func (e *stallingError) Error() string { return e.message }

// waitingError says that something else has to happen first. It is retried after a pause; if
// woken is true, only when it happens.
type waitingError struct {
	reason  string
	message string // the same each time, because it is written to the status
	cause   error  // may be nil
	woken   bool   // the resource is reconciled when it happens: no retry before
}

func (e *waitingError) Error() string { return e.message }
func (e *waitingError) Unwrap() error { return e.cause }

// failedError is any other error: it is retried with backoff. reason is the condition's.
type failedError struct {
	reason string
	cause  error
}

func (e *failedError) Error() string { return e.cause.Error() }
func (e *failedError) Unwrap() error { return e.cause }

// errSpecChanged says that the cache was behind: the result is for an earlier spec and is dropped.
var errSpecChanged = errors.New("the spec has changed since it was read")

// isStalling reports whether only a change by the user can help.
func isStalling(err error) bool {
	var stalling *stallingError
	return errors.As(err, &stalling)
}

// isWaiting reports whether something else has to happen first.
func isWaiting(err error) bool {
	var waiting *waitingError
	return errors.As(err, &waiting)
}

// isWoken reports whether the resource is reconciled without a retry when the wait ends.
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

// pace is how often a resource is reconciled when no event asks for it.
type pace struct {
	resync time.Duration // in case an event was missed; the check for drift finds the rest
	retry  time.Duration // while waiting for something that no watch reports
}

// next decides from the error of a reconciliation when the resource is reconciled again.
func (p pace) next(err error) (ctrl.Result, error) {
	switch {
	case err == nil, isStalling(err), isWoken(err):
		return ctrl.Result{RequeueAfter: wait.Jitter(p.resync, spread)}, nil
	case isWaiting(err):
		return ctrl.Result{RequeueAfter: wait.Jitter(p.retry, spread)}, nil
	case apierrors.IsConflict(err), errors.Is(err, errSpecChanged): // somebody else wrote first; nothing is wrong
		return ctrl.Result{RequeueAfter: wait.Jitter(p.retry/10, spread)}, nil
	default:
		return ctrl.Result{}, err
	}
}

// spread is the part of a delay that is added at random, so that resources that were created together are not reconciled together
// for ever. Nothing that is stored or compared depends on this randomness.
const spread = 0.2

// interrupted reports whether an attempt was cut short by the controller's end or by its timeout. Its result says nothing about
// the resource.
func interrupted(ctx context.Context) bool { return ctx.Err() != nil }
