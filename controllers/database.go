package controllers

import (
	"context"
	"errors"
	"fmt"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Database has the methods of Postgres that the controllers need. While the database is unavailable, every method
// returns an error that is [postgres.ErrUnavailable]. No error contains a secret.
type Database interface {
	// ApplySandbox makes the rows of a sandbox equal to its configuration and returns them. It writes nothing if they are
	// equal already. It returns [sandboxes.ErrStaleGeneration] if a later generation of the resource has been applied,
	// [sandboxes.ErrNameTaken] if the rows of another resource have the name, and [sandboxes.ErrClockAdvancing] if only the mode of
	// the clock is not applied yet.
	ApplySandbox(ctx context.Context, config sandboxes.Config) (sandboxes.SandboxState, error)

	// StoredCredentials returns the credentials of a sandbox in the database; zero if there are none yet.
	StoredCredentials(ctx context.Context, sandboxUID string) (sandboxes.StoredCredentials, error)

	// ApplyCredentials sets the key and the signing secret of a sandbox. Replaced keys still work for the grace; every other key is
	// revoked. It writes nothing if nothing changes. It returns [sandboxes.ErrNoOrganization] for a sandbox that was never applied,
	// [sandboxes.ErrKeyTaken] for a key of another sandbox, and [sandboxes.ErrCredentialsChanged] if others were applied meanwhile.
	ApplyCredentials(ctx context.Context, sandboxUID string, credentials sandboxes.Credentials) error

	// DeleteSandbox deletes every row of a sandbox. It returns nil if there is no such sandbox, and [sandboxes.ErrDeletionUnfinished] while
	// some are left.
	DeleteSandbox(ctx context.Context, sandboxUID string) error

	// RetainSandbox revokes a sandbox's keys, suspends it for ever and keeps its rows. It returns nil if there is no such sandbox.
	RetainSandbox(ctx context.Context, sandboxUID string) error

	// ApplyTestClient makes the row of a SIM equal to its configuration. It returns [sandboxes.ErrDuplicateMSISDN] if another
	// SIM of the sandbox has the number, [sandboxes.ErrNoOrganization] if there is no such sandbox, and [sandboxes.ErrStaleGeneration] as
	// ApplySandbox does.
	ApplyTestClient(ctx context.Context, sandboxUID string, config sandboxes.TestClientConfig) (sandboxes.TestClientState, error)

	// DeleteTestClient deletes a SIM. It returns nil if there is no such SIM.
	DeleteTestClient(ctx context.Context, testClientUID string) error

	resync.Database
}

// databaseGate keeps reconciliations from querying a database that is unavailable.
type databaseGate struct {
	breaker interface{ Check(resync.Change) error }
	ready   func(context.Context) error // nil once the tables are up to date
}

// check returns a waiting error while the database is unavailable, or its tables are not up to date. A resource that the breaker
// blocks is reconciled when the breaker closes.
func (g databaseGate) check(ctx context.Context, c resync.Change) error {
	cause := g.breaker.Check(c)
	if cause == nil {
		return databaseFailure(g.ready(ctx))
	}
	return &waitingError{reason: v1alpha1.ReasonDatabaseUnavailable, message: databaseUnavailable(cause), cause: cause, woken: true}
}

// databaseUnavailable is the message for an unavailable database. It depends on the kind of the cause only: a changed message would write
// the status again at each attempt. The error itself is in the controller's log.
func databaseUnavailable(err error) string {
	switch postgres.AbsenceOf(err) {
	case postgres.Hanging:
		return "The database does not answer in time: it hangs, or the network loses packets. Retrying until it answers."
	case postgres.DiskFull:
		return "The disk of the database is full. Retrying until there is space."
	case postgres.Exhausted:
		return "The database has no connections or no memory left. Retrying until it has some."
	case postgres.ReadOnly:
		return "The database is a standby and accepts no writes. Retrying until it is the primary."
	}
	return "The database cannot be reached. Retrying until it answers."
}

// deletionUnavailable is the message for an unavailable database that blocks a deletion.
const deletionUnavailable = "The deletion waits for the database, which is unavailable: the rows there must be deleted first. " +
	"Retrying until it answers."

// deletionGoesOn is the message while a sandbox has more rows than one call deletes.
const deletionGoesOn = "The rows of the sandbox are being deleted from the database. There are many: the deletion continues by itself."

// clockAdvancing is the message while the mode of a clock cannot be changed.
const clockAdvancing = "The clock is being advanced. A change of spec.clock.mode waits until it has arrived; everything else in the spec " +
	"is applied."

// deletionFailure adds to an error that it blocks a deletion; nil stays nil.
func deletionFailure(err error) error {
	var waiting *waitingError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &waiting) && waiting.reason == v1alpha1.ReasonDeleting:
		return err
	case errors.As(err, &waiting):
		return &waitingError{reason: waiting.reason, message: deletionUnavailable, cause: waiting.cause, woken: waiting.woken}
	default:
		return &failedError{reason: reasonOf(err), cause: fmt.Errorf("the deletion failed and is retried: %w", err)}
	}
}

// databaseFailure converts an error of the database into one that decides what happens next; nil stays nil.
func databaseFailure(err error) error {
	var failed *failedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errSpecChanged), errors.As(err, &failed):
		return err
	case errors.Is(err, sandboxes.ErrClockAdvancing):
		return &waitingError{reason: v1alpha1.ReasonClockAdvancing, message: clockAdvancing, cause: err}
	case errors.Is(err, sandboxes.ErrDeletionUnfinished):
		return &waitingError{reason: v1alpha1.ReasonDeleting, message: deletionGoesOn, cause: err}
	case errors.Is(err, postgres.ErrUnavailable):
		return &waitingError{reason: v1alpha1.ReasonDatabaseUnavailable, message: databaseUnavailable(err), cause: err}
	default:
		return &failedError{reason: v1alpha1.ReasonDatabaseError, cause: err}
	}
}
