package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cauri-dev/cauri/server/store"
)

// Migrated is a database whose tables are brought up to date first. Methods wait for the first attempt to do so. When it
// failed they return [store.ErrUnavailable] until a later one succeeds, so that the resources say that the database is not
// ready instead of failing on a missing table.
//
// It is a runnable of the manager: the leader migrates, and tries again until it succeeds.
type Migrated struct {
	database Database
	migrate  func(context.Context) error
	retry    time.Duration // between two attempts

	tried chan struct{} // closed after the first attempt
	done  atomic.Bool
}

var _ Database = (*Migrated)(nil)

// NewMigrated is a database that migrate brings up to date, tried again after each failure.
func NewMigrated(database Database, migrate func(context.Context) error, retry time.Duration) *Migrated {
	return &Migrated{database: database, migrate: migrate, retry: retry, tried: make(chan struct{})}
}

// Start migrates, and returns when that is done or the context ends.
func (m *Migrated) Start(ctx context.Context) error {
	log := logf.FromContext(ctx).WithName("migration")
	var told, away bool // whether a failure was logged, and of which kind: one that goes on for long is logged once
	for attempt := 1; ; attempt++ {
		err := m.migrate(ctx)
		m.done.Store(err == nil)
		if attempt == 1 {
			close(m.tried)
		}
		if err == nil {
			log.Info("The tables are up to date")
			return nil
		}
		if interrupted(ctx) {
			return nil
		}
		if isAway := errors.Is(err, store.ErrUnavailable); !told || isAway != away {
			log.Info("The tables are not up to date: trying again until they are", "after", m.retry.String(), "because", err.Error())
			told, away = true, isAway
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(m.retry):
		}
	}
}

// ready is nil once the tables are up to date.
func (m *Migrated) ready(ctx context.Context) error {
	select {
	case <-m.tried:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !m.done.Load() {
		return fmt.Errorf("its tables are not up to date: %w", store.ErrUnavailable)
	}
	return nil
}

// ApplySandbox implements [Database].
func (m *Migrated) ApplySandbox(ctx context.Context, config store.SandboxConfig) (store.SandboxState, error) {
	if err := m.ready(ctx); err != nil {
		return store.SandboxState{}, err
	}
	return m.database.ApplySandbox(ctx, config)
}

// StoredCredentials implements [Database].
func (m *Migrated) StoredCredentials(ctx context.Context, sandboxUID string) (store.StoredCredentials, error) {
	if err := m.ready(ctx); err != nil {
		return store.StoredCredentials{}, err
	}
	return m.database.StoredCredentials(ctx, sandboxUID)
}

// ApplyCredentials implements [Database].
func (m *Migrated) ApplyCredentials(ctx context.Context, sandboxUID string, credentials store.Credentials) error {
	if err := m.ready(ctx); err != nil {
		return err
	}
	return m.database.ApplyCredentials(ctx, sandboxUID, credentials)
}

// DeleteSandbox implements [Database].
func (m *Migrated) DeleteSandbox(ctx context.Context, sandboxUID string) error {
	if err := m.ready(ctx); err != nil {
		return err
	}
	return m.database.DeleteSandbox(ctx, sandboxUID)
}

// RetainSandbox implements [Database].
func (m *Migrated) RetainSandbox(ctx context.Context, sandboxUID string) error {
	if err := m.ready(ctx); err != nil {
		return err
	}
	return m.database.RetainSandbox(ctx, sandboxUID)
}

// ApplyTestClient implements [Database].
func (m *Migrated) ApplyTestClient(ctx context.Context, sandboxUID string, config store.TestClientConfig) (store.TestClientState, error) {
	if err := m.ready(ctx); err != nil {
		return store.TestClientState{}, err
	}
	return m.database.ApplyTestClient(ctx, sandboxUID, config)
}

// DeleteTestClient implements [Database].
func (m *Migrated) DeleteTestClient(ctx context.Context, testClientUID string) error {
	if err := m.ready(ctx); err != nil {
		return err
	}
	return m.database.DeleteTestClient(ctx, testClientUID)
}

// Inventory implements [Database].
func (m *Migrated) Inventory(ctx context.Context) (*store.Inventory, error) {
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	return m.database.Inventory(ctx)
}

// ChangedAccounts implements [Database].
func (m *Migrated) ChangedAccounts(ctx context.Context, since time.Time) ([]store.AccountChange, time.Time, error) {
	if err := m.ready(ctx); err != nil {
		return nil, time.Time{}, err
	}
	return m.database.ChangedAccounts(ctx, since)
}
