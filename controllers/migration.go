package controllers

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cauri-dev/cauri/server/postgres"
)

// Migration brings the tables up to date. It is a runnable of the manager: the leader migrates, and retries until it succeeds.
type Migration struct {
	migrate func(context.Context) error
	retry   time.Duration // between two attempts

	tried chan struct{} // closed after the first attempt
	done  atomic.Bool
}

// NewMigration returns a migration that calls migrate, and repeats a failed call after retry.
func NewMigration(migrate func(context.Context) error, retry time.Duration) *Migration {
	return &Migration{migrate: migrate, retry: retry, tried: make(chan struct{})}
}

// Start migrates, and returns when that is done or the context ends.
func (m *Migration) Start(ctx context.Context) error {
	log := logf.FromContext(ctx).WithName("migration")
	var logged, unavailable bool // whether a failure was logged, and of which kind: a long one is logged once
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

// Ready returns nil once the tables are up to date. It waits for the first attempt. When that failed it returns
// [postgres.ErrUnavailable] until a later one succeeds, so that the resources say that the database is not ready instead of failing on
// a missing table. It returns the context's error if that ends first.
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
