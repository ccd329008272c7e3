package sandboxenvironment

import (
	"context"
	"errors"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// reconcileDatabase reads the operators' credentials from the Secrets that the spec names, and applies the
// configuration to the database. It registers the TestClients of a new sandbox, too.
func (r *Reconciler) reconcileDatabase(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen *Observation,
) (err error) {
	if err := r.Gate.Check(ctx, resync.OfSandbox(sandbox)); err != nil {
		return err
	}
	seen.Config.Operators, seen.OperatorProblem, err = r.operatorAccess(ctx, sandbox)
	if err != nil {
		return err
	}
	if sandbox.Status.OrganizationID == "" {
		waiting, sims := r.TestClients.WaitingFor(ctx, sandbox)
		defer r.TestClients.DeleteGone(ctx, waiting)
		seen.Config.TestClients = sims
	}
	state, err := r.apply(ctx, sandbox, &seen.Config)
	var taken sandboxes.ErrNameTaken
	if errors.As(err, &taken) {
		// In the database, a sandbox with another UID has this name. If this resource exists at the API server, the
		// resource with the other UID was deleted, and the controller missed the deletion.
		if err := reconciler.CheckSpecIsCurrent(ctx, r.APIReader, sandbox); err != nil {
			return err
		}
		seen.Config.Replaces = taken.UID
		if state, err = r.apply(ctx, sandbox, &seen.Config); errors.As(err, &taken) {
			return reconciler.ErrSpecChanged
		}
	}
	if err != nil {
		return reconciler.DatabaseFailure(err)
	}
	seen.State = &state
	return nil
}

func (r *Reconciler) apply(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, config *sandboxes.Config,
) (sandboxes.SandboxState, error) {
	return reconciler.ApplyCurrent(ctx, r.APIReader, sandbox, func(rolledBack int64) (sandboxes.SandboxState, error) {
		config.RolledBack = rolledBack
		return r.Database.ApplySandbox(ctx, *config)
	})
}
