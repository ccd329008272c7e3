package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/postgres"
)

// Migration brings the tables up to date. It is a runnable of the manager, which runs it in the leader. It retries
// until it succeeds.
type Migration struct {
	migrate func(context.Context) error
	retry   time.Duration // pause between two attempts

	tried chan struct{} // closed after the first attempt
	done  atomic.Bool
}

// NewMigration returns a migration that calls migrate. After a failure, it waits for the duration retry and calls
// migrate again.
func NewMigration(migrate func(context.Context) error, retry time.Duration) *Migration {
	return &Migration{migrate: migrate, retry: retry, tried: make(chan struct{})}
}

// Start migrates. It returns nil when the migration is done or the context ends.
func (m *Migration) Start(ctx context.Context) error {
	log := logf.FromContext(ctx).WithName("migration")
	var logged, unavailable bool // a failure was logged; the last logged failure was ErrUnavailable
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
		if reconciler.Interrupted(ctx) {
			return nil
		}
		if is := errors.Is(err, postgres.ErrUnavailable); !logged || is != unavailable {
			log.Info("The tables are not up to date: retrying until they are", "after", m.retry.String(), "because", err.Error())
			logged, unavailable = true, is
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(m.retry):
		}
	}
}

// Ready returns nil once the tables are up to date. It waits for the first attempt. After a failed attempt it returns
// [postgres.ErrUnavailable], until an attempt succeeds. So the resources show an unavailable database, not an error
// about a missing table. If ctx ends first, Ready returns the error of ctx.
func (m *Migration) Ready(ctx context.Context) error {
	select {
	case <-m.tried:
	case <-ctx.Done():
		return ctx.Err()
	}
	if !m.done.Load() {
		return fmt.Errorf("its tables are not up to date: %w", postgres.ErrUnavailable)
	}
	return nil
}
