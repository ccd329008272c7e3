package controllers

import (
	"context"
	"errors"
	"time"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/store"
)

// Database is what the controllers need of Postgres. Every method returns an error that is [store.ErrUnavailable] while
// the database is away, and none puts a secret into an error.
type Database interface {
	// ApplySandbox makes the rows of a sandbox equal to its configuration and returns them. It writes nothing where they
	// are equal already.
	ApplySandbox(ctx context.Context, config store.SandboxConfig) (store.SandboxState, error)

	// SigningSecret is the webhook signing secret of a sandbox, empty if none was stored yet.
	SigningSecret(ctx context.Context, sandboxUID string) (string, error)

	// ApplyCredentials makes the key and the signing secret the only ones of a sandbox. It writes nothing where they are
	// already. It returns [store.ErrNoOrganization] for a sandbox that was never applied, and [store.ErrKeyTaken] for a key
	// of another one.
	ApplyCredentials(ctx context.Context, sandboxUID string, credentials store.Credentials) error

	// DeleteSandbox removes every row of a sandbox. It returns nil where there is none.
	DeleteSandbox(ctx context.Context, sandboxUID string) error

	// ApplyTestClient makes the row of a SIM equal to its configuration. It returns [store.ErrDuplicateMSISDN] if another
	// SIM of the sandbox has the number, and [store.ErrNoOrganization] if there is no such sandbox.
	ApplyTestClient(ctx context.Context, sandboxUID string, config store.TestClientConfig) (store.TestClientState, error)

	// DeleteTestClient removes a SIM. It returns nil where there is none.
	DeleteTestClient(ctx context.Context, testClientUID string) error

	// ChangedAccounts names the resources whose live balance changed since a time of the database, and returns the time to
	// ask from next. That answer may name a change again, with the same ChangedAt.
	ChangedAccounts(ctx context.Context, since time.Time) ([]store.AccountChange, time.Time, error)
}

// databaseAway is the message for a database that cannot be reached. It is the same each time, so that the status is not
// written again for every attempt; the cause stands in the controller's log.
const databaseAway = "The database cannot be reached. It is tried again until it can."

// databaseFailure turns an error of the database into one that says what happens next; nil stays nil.
func databaseFailure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrUnavailable):
		return &waitingError{reason: v1alpha1.ReasonDatabaseUnavailable, message: databaseAway, cause: err}
	default:
		return &failedError{reason: v1alpha1.ReasonDatabaseError, cause: err}
	}
}
