package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// noteTimeout bounds the recording of a failure in one sandbox.
const noteTimeout = 5 * time.Second

// isolationDatabase records the sandboxes in which a sweep fails.
type isolationDatabase interface {
	NoteSweepFailure(ctx context.Context, sweep string, tenant int64, failure error) (failures int, pause time.Duration, err error)
	ClearSweepFailures(ctx context.Context, sweep string, tenants []int64) error
}

// contained calls f and returns a panic of f as an error, so that an unexpected row does not end the process.
func (w *Worker) contained(ctx context.Context, f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
			w.log.ErrorContext(ctx, "a sweep panicked", "panic", cause, "stack", string(debug.Stack()))
		}
	}()
	return f()
}

// skipSandbox records that a sweep failed only in this sandbox. All workers skip the sandbox for a while, and its
// resource shows the failure.
func (w *Worker) skipSandbox(ctx context.Context, sweep string, tenant queues.DueTenant, failure error) {
	w.metrics.SandboxFailed(sweep)
	var failures int
	var pause time.Duration
	err := within(context.WithoutCancel(ctx), noteTimeout, func(ctx context.Context) (err error) {
		failures, pause, err = w.database.NoteSweepFailure(ctx, sweep, tenant.Tenant, failure)
		return err
	})
	log := w.log.With("sweep", sweep, "tenant", tenant.Tenant, "error", failure)
	if err != nil {
		log.ErrorContext(ctx, "sweep fails in one sandbox, and the failure cannot be recorded", "because", err)
		return
	}
	log.ErrorContext(ctx, "sweep fails in one sandbox; all workers skip it for a while, the other sandboxes are not affected",
		"failures", failures, "again_after",
		pause)
}

// resumeSandboxes records that a sweep works again in the sandboxes in which it failed before.
func (w *Worker) resumeSandboxes(ctx context.Context, sweep string, due []queues.DueTenant) {
	var tenants []int64
	for _, tenant := range due {
		if tenant.SweepFailed {
			tenants = append(tenants, tenant.Tenant)
		}
	}
	if len(tenants) == 0 {
		return
	}
	err := within(context.WithoutCancel(ctx), noteTimeout, func(ctx context.Context) error {
		return w.database.ClearSweepFailures(ctx, sweep, tenants)
	})
	if err != nil { // the next successful sweep records this instead
		w.log.WarnContext(ctx, "sweep works again in some sandboxes, but this cannot be recorded", "sweep", sweep, "because", err)
		return
	}
	w.log.InfoContext(ctx, "sweep works again in some sandboxes", "sweep", sweep, "tenants", tenants)
}

// logSandboxErrors logs failures in single sandboxes, and returns any other error.
func (w *Worker) logSandboxErrors(ctx context.Context, sweep string, err error) error {
	var alone sandboxes.SandboxErrors
	if !errors.As(err, &alone) {
		return err
	}
	for tenant, failure := range alone {
		w.metrics.SandboxFailed(sweep)
		w.log.ErrorContext(ctx, "sweep fails in one sandbox; the other sandboxes are not affected",
			"sweep", sweep, "tenant", tenant, "error", failure)
	}
	return nil
}
