package controllers

import (
	"context"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// reconcileSpec turns the spec into the configuration that the database takes.
func (r *sandboxReconciler) reconcileSpec(_ context.Context, sandbox *v1alpha1.SandboxEnvironment, seen *sandboxObservation) (err error) {
	seen.config, err = sandboxConfig(sandbox)
	return err
}

// reconcileDatabase makes the rows follow the spec, and the Secrets with operators' credentials that it names.
func (r *sandboxReconciler) reconcileDatabase(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen *sandboxObservation) (err error) {
	seen.config.Operators, seen.operatorProblem, err = r.operatorAccess(ctx, sandbox)
	if err != nil {
		return err
	}
	state, err := r.database.ApplySandbox(ctx, seen.config)
	if err != nil {
		return databaseFailure(err)
	}
	seen.state = &state
	return nil
}
