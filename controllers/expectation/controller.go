package expectation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// +kubebuilder:rbac:groups=cauri.dev,resources=expectations,verbs=list;watch;delete
// +kubebuilder:rbac:groups=cauri.dev,resources=expectations/status,verbs=patch

// Reconcile brings one Expectation forward.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	for _, deleted := range r.deleted.Take(req.NamespacedName) {
		if err := r.Database.DeleteExpectation(ctx, string(deleted.UID)); err != nil {
			break // the row ends by its own time
		}
	}
	expectation := &v1alpha1.Expectation{}
	if err := r.Get(ctx, req.NamespacedName, expectation); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !expectation.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	key := client.ObjectKey{Namespace: expectation.Namespace, Name: expectation.Spec.SandboxRef.Name}
	if reconciler.IsOfForeignSandbox(ctx, r, key, r.Installation) {
		return ctrl.Result{}, nil
	}
	if isDecided(expectation) {
		return r.expire(ctx, expectation)
	}
	seen := r.evaluate(ctx, expectation)
	if errors.Is(seen.Err, reconciler.ErrSandboxUnseen) && !reconciler.IsObserved(expectation.Status.ObservedGeneration) {
		return r.Pace.Next(seen.Err) // the sandbox was created together with it: too early for a status
	}
	return r.finish(ctx, expectation, seen)
}

// isDecided reports whether the present run of an Expectation has a verdict.
func isDecided(e *v1alpha1.Expectation) bool {
	return e.Status.DecidedAt != nil && e.Status.ObservedRun == e.Spec.Run
}

// isStarted reports whether the workers evaluate the present run of an Expectation, or did so.
func isStarted(e *v1alpha1.Expectation) bool {
	return e.Status.StartedAt != nil && e.Status.ObservedRun == e.Spec.Run
}

// expire deletes an Expectation whose ttl has ended since it was decided.
func (r *Reconciler) expire(ctx context.Context, expectation *v1alpha1.Expectation) (ctrl.Result, error) {
	if expectation.Spec.TTL == "" {
		return r.Pace.Next(nil)
	}
	ttl, err := time.ParseDuration(string(expectation.Spec.TTL))
	if err != nil {
		return r.Pace.Next(nil) // the schema allows none
	}
	if left := expectation.Status.DecidedAt.Add(ttl).Sub(r.Clock.Now()); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	err = r.Delete(ctx, expectation, client.Preconditions{UID: &expectation.UID, ResourceVersion: &expectation.ResourceVersion})
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// Observation is the result of a reconciliation.
type Observation struct {
	State   *expectations.State // nil: not known
	started bool                // the workers evaluate it
	Err     error
	wait    time.Duration // until it fails if it has not begun; 0: for ever
}

// Failed returns the observation of an Expectation that the controller itself decides.
func Failed(reason, format string, args ...any) Observation {
	return Observation{State: &expectations.State{
		Verdict: expectations.Failed, Reason: reason, Message: fmt.Sprintf(format, args...),
	}}
}

const anotherRun = "Set spec.run to a new value to evaluate it again."

// evaluate has the workers evaluate an Expectation, or reads what they found.
func (r *Reconciler) evaluate(ctx context.Context, expectation *v1alpha1.Expectation) (seen Observation) {
	config, err := configOf(expectation)
	if err != nil {
		return Failed(v1alpha1.ReasonInvalidSpec, "The spec cannot be evaluated: %s. Delete the Expectation and create it again.", err)
	}
	key := client.ObjectKey{Namespace: expectation.Namespace, Name: expectation.Spec.SandboxRef.Name}
	sandbox, err := reconciler.FindSandbox(ctx, r, key, "Expectation")
	if reconciler.IsWaiting(err) && isStarted(expectation) && reconciler.ReasonOf(err) == v1alpha1.ReasonSandboxNotFound {
		return Failed(v1alpha1.ReasonSandboxDeleted, "The sandbox was deleted while the expectation was open. "+anotherRun)
	}
	if err == nil {
		err = r.Gate.Check(ctx, resync.OfExpectation(expectation))
	}
	if err != nil {
		return r.notBegun(expectation, config, err)
	}
	state, err := r.Database.FindExpectation(ctx, config.UID, config.Run)
	switch {
	case err == nil:
		return Observation{State: &state, started: true}
	case !errors.Is(err, sandboxes.ErrNoExpectation):
		return r.notBegun(expectation, config, reconciler.DatabaseFailure(err))
	case isStarted(expectation): // the purge has removed its row
		return Failed(v1alpha1.ReasonSandboxReset, expectations.ResetMessage)
	}
	if left, bounded := r.left(expectation, config); bounded {
		config.Within = left
	}
	if config.Within <= 0 {
		return r.notBegun(expectation, config, nil)
	}
	err = r.Database.BeginExpectation(ctx, string(sandbox.UID), config)
	if errors.Is(err, sandboxes.ErrNoOrganization) {
		return r.notBegun(expectation, config, reconciler.SandboxNotReady(sandbox.Name, "Expectation"))
	}
	if errors.Is(err, sandboxes.ErrTooManyExpectations) {
		return r.notBegun(expectation, config, errTooManyExpectations)
	}
	if err != nil {
		return r.notBegun(expectation, config, reconciler.DatabaseFailure(err))
	}
	return Observation{State: &expectations.State{
		Verdict: expectations.Open, Reason: v1alpha1.ReasonNotMet, Message: "No line was evaluated yet.",
	}, started: true}
}

// left returns how much of within is left of the first run, which begins with the creation of the resource. The time of creation is
// in whole seconds, and the benefit of a part of a second is the user's. bounded is false for a later run, which begins when it is
// seen.
func (r *Reconciler) left(e *v1alpha1.Expectation, c sandboxes.ExpectationConfig) (left time.Duration, bounded bool) {
	if e.Status.DecidedAt != nil || e.Status.StartedAt != nil || isStarted(e) {
		return c.Within, false
	}
	return min(c.Within, c.Within-r.Clock.Since(e.CreationTimestamp.Time)+time.Second), true
}

// notBegun is the result for an Expectation that cannot be evaluated now. One that has never begun fails when its time is over; the
// workers decide the others.
func (r *Reconciler) notBegun(
	e *v1alpha1.Expectation, c sandboxes.ExpectationConfig, err error,
) Observation {
	left, bounded := r.left(e, c)
	if !bounded || isStarted(e) {
		return Observation{Err: err, started: isStarted(e)}
	}
	if left <= 0 {
		why := "The controller did not run."
		if err != nil {
			why = err.Error()
		}
		return Failed(v1alpha1.ReasonDeadlineExceeded, "No line could be evaluated in time. %s %s", why, anotherRun)
	}
	return Observation{Err: err, wait: left}
}

var errTooManyExpectations = &reconciler.WaitingError{
	Reason: v1alpha1.ReasonLimitExceeded,
	Message: fmt.Sprintf("The sandbox has %d open Expectations, and no more are evaluated at a time. This one waits until others are "+
		"decided: delete those that you do not need.", sandboxes.MaxOpenExpectations),
}

// configOf returns what the workers evaluate. Its error says which field is wrong.
func configOf(e *v1alpha1.Expectation) (c sandboxes.ExpectationConfig, err error) {
	lines, err := json.Marshal(e.Spec.Expect)
	if err != nil {
		return c, err
	}
	if _, err := expectations.Parse(lines); err != nil {
		return c, err
	}
	within, settle, err := expectations.ParseDurations(string(e.Spec.Within), string(e.Spec.Settle))
	return sandboxes.ExpectationConfig{
		UID: string(e.UID), Name: e.Name, Run: e.Spec.Run, Lines: lines, Within: within, Settle: settle,
		SinceCreation: e.Spec.Since == expectations.SinceCreation,
	}, err
}

// finish writes the status, if it changed, and decides when the Expectation is reconciled again.
func (r *Reconciler) finish(
	ctx context.Context, expectation *v1alpha1.Expectation, seen Observation,
) (ctrl.Result, error) {
	if reconciler.Interrupted(ctx) {
		return ctrl.Result{}, fmt.Errorf("reconciling %s: %w", client.ObjectKeyFromObject(expectation), context.Cause(ctx))
	}
	before := expectation.DeepCopy()
	expectation.Status = Status(expectation, seen, r.Clock.Now())
	if err := reconciler.PatchStatus(ctx, r.Client, r.LiveStatus, before, expectation); err != nil {
		return r.Pace.Next(err)
	}
	reconciler.Announce(r.Recorder, expectation, v1alpha1.ConditionMet, before.Status.Conditions, expectation.Status.Conditions)
	if isDecided(expectation) {
		return r.expire(ctx, expectation)
	}
	result, err := r.Pace.Next(seen.Err)
	if err == nil && seen.wait > 0 {
		result.RequeueAfter = min(result.RequeueAfter, seen.wait)
	}
	return result, err
}
