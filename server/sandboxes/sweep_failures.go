package sandboxes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres"
)

// SweepFailure says that a sweep of the workers fails in one sandbox although the database serves the others. The sweep
// skips the sandbox until RetryAt.
type SweepFailure struct {
	Sweep    string // settlement, delivery, passthrough, callbacks, clock or verification
	Failures int    // in a row
	Since    time.Time
	RetryAt  time.Time
	Error    string
}

// NoteSweepFailure makes all workers skip a sandbox in a sweep for some time. This time grows with each consecutive
// failure from one second to five minutes. It returns the number of consecutive failures and this time.
func (s *Registry) NoteSweepFailure(
	ctx context.Context,
	sweep string,
	tenant int64,
	failure error,
) (failures int, pause time.Duration, err error) {
	row, err := s.unscoped().NoteSweepFailure(ctx, sweep, postgres.Text(failure.Error()), tenant)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, 0, nil // the sandbox is gone
	}
	if err != nil {
		return 0, 0, postgres.Classify(err, "writing down that a sweep failed")
	}
	s.active.note(tenant)
	return int(row.Failures), postgres.FromMilliseconds(row.PauseMs), nil
}

// ClearSweepFailures records that a sweep succeeded in these sandboxes.
func (s *Registry) ClearSweepFailures(ctx context.Context, sweep string, tenants []int64) error {
	if err := s.unscoped().ClearSweepFailures(ctx, tenants, sweep); err != nil {
		return postgres.Classify(err, "writing down that a sweep works again")
	}
	s.active.note(tenants...)
	return nil
}

func (s *Registry) sweepFailures(ctx context.Context, tenant int64) (failures []SweepFailure, err error) {
	rows, err := s.unscoped().SweepFailures(ctx, tenant)
	for _, row := range rows {
		failures = append(failures, SweepFailure{
			Sweep: row.Sweep, Failures: int(row.Failures), Since: row.FailingSince, RetryAt: row.RetryAt, Error: row.Error,
		})
	}
	return failures, err
}

// SandboxErrors has an error for each sandbox that a sweep could not serve. The keys are tenants.
type SandboxErrors map[int64]error

func (e SandboxErrors) Error() string {
	var texts []string
	for _, tenant := range slices.Sorted(maps.Keys(e)) {
		texts = append(texts, fmt.Sprintf("tenant %d: %v", tenant, e[tenant]))
	}
	return strings.Join(texts, "; ")
}

// Keep adds err and returns nil if err concerns only this sandbox. It returns err if err ends the work for all
// sandboxes.
func (e SandboxErrors) Keep(ctx context.Context, tenant int64, err error) error {
	if errors.Is(err, postgres.ErrUnavailable) || ctx.Err() != nil {
		return err
	}
	if err != nil {
		e[tenant] = err
	}
	return nil
}

func (e SandboxErrors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}
