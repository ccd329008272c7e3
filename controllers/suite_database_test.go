package controllers_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// faultyDatabase is a database that can be unavailable, and that counts what it is asked.
type faultyDatabase struct {
	reconciler.Database

	mutex sync.Mutex
	down  bool
	calls map[string]int
}

func newFaultyDatabase(database reconciler.Database) *faultyDatabase {
	return &faultyDatabase{Database: database, calls: make(map[string]int)}
}

// setUnavailable makes the database unavailable or available.
func (d *faultyDatabase) setUnavailable(down bool) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.down = down
}

// count is how often a method was called.
func (d *faultyDatabase) count(method string) int {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	return d.calls[method]
}

// call counts a call, and fails it while the database is unavailable, each time with another text, as real failures have one.
func (d *faultyDatabase) call(method string) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	d.calls[method]++
	if d.down {
		return fmt.Errorf("attempt %d: %w", d.calls[method], postgres.ErrUnavailable)
	}
	return nil
}

func (d *faultyDatabase) ApplySandbox(ctx context.Context, config sandboxes.Config) (sandboxes.SandboxState, error) {
	if err := d.call("ApplySandbox"); err != nil {
		return sandboxes.SandboxState{}, err
	}
	return d.Database.ApplySandbox(ctx, config)
}

func (d *faultyDatabase) StoredCredentials(ctx context.Context, sandboxUID string) (sandboxes.StoredCredentials, error) {
	if err := d.call("StoredCredentials"); err != nil {
		return sandboxes.StoredCredentials{}, err
	}
	return d.Database.StoredCredentials(ctx, sandboxUID)
}

func (d *faultyDatabase) ApplyCredentials(ctx context.Context, sandboxUID string, credentials sandboxes.Credentials) error {
	if err := d.call("ApplyCredentials"); err != nil {
		return err
	}
	return d.Database.ApplyCredentials(ctx, sandboxUID, credentials)
}

func (d *faultyDatabase) CheckKeyIsFree(ctx context.Context, sandboxUID string, hash sandboxes.KeyHash) error {
	if err := d.call("CheckKeyIsFree"); err != nil {
		return err
	}
	return d.Database.CheckKeyIsFree(ctx, sandboxUID, hash)
}

func (d *faultyDatabase) DeleteSandbox(ctx context.Context, sandboxUID string) error {
	if err := d.call("DeleteSandbox"); err != nil {
		return err
	}
	return d.Database.DeleteSandbox(ctx, sandboxUID)
}

func (d *faultyDatabase) RetainSandbox(ctx context.Context, sandboxUID string) error {
	if err := d.call("RetainSandbox"); err != nil {
		return err
	}
	return d.Database.RetainSandbox(ctx, sandboxUID)
}

func (d *faultyDatabase) ApplyTestClient(
	ctx context.Context, sandboxUID string, config sandboxes.TestClientConfig,
) (sandboxes.TestClientState, error) {
	if err := d.call("ApplyTestClient"); err != nil {
		return sandboxes.TestClientState{}, err
	}
	return d.Database.ApplyTestClient(ctx, sandboxUID, config)
}

func (d *faultyDatabase) DeleteTestClient(ctx context.Context, testClientUID string) error {
	if err := d.call("DeleteTestClient"); err != nil {
		return err
	}
	return d.Database.DeleteTestClient(ctx, testClientUID)
}

func (d *faultyDatabase) Inventory(ctx context.Context) (*sandboxes.Inventory, error) {
	if err := d.call("Inventory"); err != nil {
		return nil, err
	}
	return d.Database.Inventory(ctx)
}

func (d *faultyDatabase) ChangedAccounts(ctx context.Context, since time.Time) ([]sandboxes.AccountChange, time.Time, error) {
	if err := d.call("ChangedAccounts"); err != nil {
		return nil, time.Time{}, err
	}
	return d.Database.ChangedAccounts(ctx, since)
}

func (d *faultyDatabase) BeginExpectation(ctx context.Context, sandboxUID string, config sandboxes.ExpectationConfig) error {
	if err := d.call("BeginExpectation"); err != nil {
		return err
	}
	return d.Database.BeginExpectation(ctx, sandboxUID, config)
}

func (d *faultyDatabase) FindExpectation(ctx context.Context, uid, run string) (expectations.State, error) {
	if err := d.call("FindExpectation"); err != nil {
		return expectations.State{}, err
	}
	return d.Database.FindExpectation(ctx, uid, run)
}

func (d *faultyDatabase) DeleteExpectation(ctx context.Context, uid string) error {
	if err := d.call("DeleteExpectation"); err != nil {
		return err
	}
	return d.Database.DeleteExpectation(ctx, uid)
}

func (d *faultyDatabase) ChangedExpectations(ctx context.Context, since time.Time) ([]sandboxes.ChangedExpectation, error) {
	if err := d.call("ChangedExpectations"); err != nil {
		return nil, err
	}
	return d.Database.ChangedExpectations(ctx, since)
}
