package reconciler

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Database has the methods of the database that the controllers need. Every method returns [postgres.ErrUnavailable]
// while the database is unavailable. No error contains a secret.
type Database interface {
	// ApplySandbox makes the rows of a sandbox equal to its configuration and returns them. It writes only differences.
	// It returns [sandboxes.ErrStaleGeneration] if the database has a later generation of the resource, and
	// [sandboxes.ErrNameTaken] if another resource has the name. If it applied everything except the mode of an
	// advancing clock, it returns [sandboxes.ErrClockAdvancing].
	ApplySandbox(ctx context.Context, config sandboxes.Config) (sandboxes.SandboxState, error)

	// StoredCredentials returns the credentials of a sandbox in the database, or the zero value.
	StoredCredentials(ctx context.Context, sandboxUID string) (sandboxes.StoredCredentials, error)

	// ApplyCredentials sets the key and the signing secret of a sandbox. Replaced keys still work during the grace
	// period. Every other key is revoked. ApplyCredentials writes only differences. It returns
	// [sandboxes.ErrNoOrganization] if the sandbox has no rows, [sandboxes.ErrKeyTaken] for a key of another sandbox,
	// and [sandboxes.ErrCredentialsChanged] if the stored credentials changed since they were read.
	ApplyCredentials(ctx context.Context, sandboxUID string, credentials sandboxes.Credentials) error

	// CheckKeyIsFree returns [sandboxes.ErrKeyTaken] if a sandbox other than this one has the key.
	CheckKeyIsFree(ctx context.Context, sandboxUID string, hash sandboxes.KeyHash) error

	// DeleteSandbox deletes the rows of a sandbox. It returns [sandboxes.ErrDeletionUnfinished] if rows are left, and
	// nil if the sandbox does not exist.
	DeleteSandbox(ctx context.Context, sandboxUID string) error

	// RetainSandbox revokes a sandbox's keys, suspends it forever and keeps its rows. It returns nil if the sandbox
	// does not exist.
	RetainSandbox(ctx context.Context, sandboxUID string) error

	// ApplyTestClient makes the row of a SIM equal to its configuration. It returns [sandboxes.ErrDuplicateMSISDN] if
	// another SIM of the sandbox has the number, [sandboxes.ErrNoOrganization] if the sandbox does not exist, and
	// [sandboxes.ErrStaleGeneration] if the database has a later generation of the resource.
	ApplyTestClient(ctx context.Context, sandboxUID string, config sandboxes.TestClientConfig) (sandboxes.TestClientState, error)

	// DeleteTestClient deletes a SIM. It returns nil if the SIM does not exist.
	DeleteTestClient(ctx context.Context, testClientUID string) error

	// BeginExpectation has the workers evaluate an Expectation, in place of an earlier run. It returns
	// [sandboxes.ErrNoOrganization] if there is no such sandbox.
	BeginExpectation(ctx context.Context, sandboxUID string, config sandboxes.ExpectationConfig) error

	// FindExpectation returns the stored state of a run of an Expectation, or [sandboxes.ErrNoExpectation].
	FindExpectation(ctx context.Context, uid, run string) (expectations.State, error)

	// DeleteExpectation ends the evaluation of an Expectation. It returns nil if there is none.
	DeleteExpectation(ctx context.Context, uid string) error

	resync.Database
}

// DatabaseGate prevents queries to an unavailable database.
type DatabaseGate struct {
	Breaker interface{ Check(resync.Change) error }
	Ready   func(context.Context) error // nil once the tables are up to date
}

// Check returns a waiting error while the database is unavailable or its tables are not up to date. If the circuit
// breaker is open, the resource is reconciled again when the breaker closes.
func (g DatabaseGate) Check(ctx context.Context, c resync.Change) error {
	cause := g.Breaker.Check(c)
	if cause == nil {
		return DatabaseFailure(g.Ready(ctx))
	}
	return &WaitingError{Reason: v1alpha1.ReasonDatabaseUnavailable, Message: databaseUnavailable(cause), Cause: cause, Woken: true}
}

// databaseUnavailable returns the message for an unavailable database. The message depends only on the kind of error,
// because each change of a message writes the status again. The controller's log has the full error.
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
	case postgres.Refused:
		return "The database refuses the login: a wrong password, no right to log in or to connect, or no such database. " +
			"Retrying until it accepts it."
	case postgres.Untrusted:
		return "The certificate of the database is not trusted: " + distrust(err) + ". Retrying until it is trusted."
	}
	return "The database cannot be reached. Retrying until it answers."
}

// distrust returns why a certificate is not trusted, without a time or an address.
func distrust(err error) string {
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "x509: no authority that this process trusts has signed it"
	case errors.As(err, new(x509.HostnameError)):
		return "x509: it is of another host"
	}
	return "x509: it has expired, or is not valid for a server"
}

// deletionUnavailable is the message while an unavailable database blocks a deletion.
const deletionUnavailable = "The deletion waits for the database, which is unavailable: the rows there must be deleted first. " +
	"Retrying until it answers."

// deletionGoesOn is the message while DeleteSandbox has rows left to delete.
const deletionGoesOn = "The rows of the sandbox are being deleted from the database. There are many: the deletion continues by itself."

// clockAdvancing is the message while an advance delays a change of a clock's mode.
const clockAdvancing = "The clock is being advanced. A change of spec.clock.mode waits until it has arrived; everything else in the spec " +
	"is applied."

// DeletionFailure returns the step error for a failed deletion of rows; nil stays nil.
func DeletionFailure(err error) error {
	var waiting *WaitingError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &waiting) && waiting.Reason == v1alpha1.ReasonDeleting:
		return err
	case errors.As(err, &waiting):
		return &WaitingError{Reason: waiting.Reason, Message: deletionUnavailable, Cause: waiting.Cause, Woken: waiting.Woken}
	default:
		return &FailedError{Reason: ReasonOf(err), Cause: fmt.Errorf("the deletion failed and is retried: %w", err)}
	}
}

// DatabaseFailure returns the step error for an error of the database; nil stays nil.
func DatabaseFailure(err error) error {
	var failed *FailedError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrSpecChanged), errors.As(err, &failed):
		return err
	case errors.Is(err, sandboxes.ErrClockAdvancing):
		return &WaitingError{Reason: v1alpha1.ReasonClockAdvancing, Message: clockAdvancing, Cause: err}
	case errors.Is(err, sandboxes.ErrDeletionUnfinished):
		return &WaitingError{Reason: v1alpha1.ReasonDeleting, Message: deletionGoesOn, Cause: err}
	case errors.Is(err, postgres.ErrUnavailable):
		return &WaitingError{Reason: v1alpha1.ReasonDatabaseUnavailable, Message: databaseUnavailable(err), Cause: err}
	default:
		return &FailedError{Reason: v1alpha1.ReasonDatabaseError, Cause: err}
	}
}
