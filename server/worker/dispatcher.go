package worker

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// pollPause is the shortest polling interval.
	pollPause = 50 * time.Millisecond
	// pollTimeDivisor limits polls to 1/pollTimeDivisor of the time. With very many sandboxes, polls are slow.
	pollTimeDivisor = 4
	// maxPollPause bounds the pause after a slow poll, so that a stall of the database does not delay due rows by more
	// than a second.
	maxPollPause = 500 * time.Millisecond
	// batchInterval is the shortest time between two statements that lease, so that each leases many rows.
	batchInterval = 12 * time.Millisecond
	// leaseTimeout bounds a poll, and the leasing of rows.
	leaseTimeout = 5 * time.Second
)

// leasedDispatcher makes attempts that send requests to other servers. It finds the sandboxes with due rows, gets slots
// for them, leases one row for each slot, and makes the attempts concurrently. Each leased row starts at once. The end
// of the context does not cancel an attempt that has started.
type leasedDispatcher[T any] struct {
	worker *Worker
	name   string
	queue  *fairQueue
	inUse  <-chan struct{} // receives a message while the queue has rows
	every  time.Duration   // the shortest time between two polls; 0: pollPause
	idle   time.Duration   // the longest time between them, while the queue has no rows; 0: listAtLeast

	listDue func(context.Context) ([]queues.DueTenant, error)
	lease   func(context.Context, []queues.SlotGrant) (leased []T, found map[int64]int, err error)
	tenant  func(*T) int64
	attempt func(context.Context, *T) (end attemptEnd, record func()) // record writes the result
	release func(context.Context, []T) error                          // releases leases

	nextPoll  time.Time
	lastLease time.Time
	attempts  *goroutines
}

func (d *leasedDispatcher[T]) run(ctx context.Context) {
	d.attempts = newGoroutines()
	defer d.attempts.close()
	d.worker.sweep(ctx, d.name, func(ctx context.Context) (more bool, err error) {
		if !d.wait(ctx) {
			return false, nil
		}
		return true, d.step(ctx)
	})
}

// wait waits for the time of the next poll, and then until the queue has rows, for at most the time idle. It returns
// earlier if a slot is free and a tenant may have more due rows. It returns false if ctx ends first.
func (d *leasedDispatcher[T]) wait(ctx context.Context) bool {
	timer := time.NewTimer(d.nextPoll.Sub(d.worker.now()))
	defer timer.Stop()
	var inUse <-chan struct{} // nil until the time of the next poll
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			if inUse != nil {
				return true
			}
			inUse = d.inUse
			timer.Reset(cmp.Or(d.idle, listAtLeast))
		case <-inUse:
			return true
		case <-d.queue.freed:
			if d.queue.waiting() {
				sleep(ctx, batchInterval-d.worker.now().Sub(d.lastLease))
				return true
			}
		}
	}
}

func (d *leasedDispatcher[T]) step(ctx context.Context) error {
	if err := d.poll(ctx); err != nil {
		return err
	}
	grants := d.queue.grantSlots()
	if len(grants) == 0 {
		return nil
	}
	leased, found, err := d.leaseRows(ctx, grants)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		d.giveBack(ctx, leased)
		return nil
	}
	for i := range leased {
		d.begin(ctx, &leased[i])
	}
	if len(leased) > 0 || len(found) > 0 {
		d.queue.wake() // other tenants may use the slots that are left
	}
	return nil
}

// poll lists the tenants with due rows if the polling interval is over.
func (d *leasedDispatcher[T]) poll(ctx context.Context) error {
	began := d.worker.now()
	if began.Before(d.nextPoll) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	found, err := d.listDue(ctx)
	if err != nil {
		return err
	}
	d.queue.setDue(found)
	took := d.worker.now().Sub(began)
	d.nextPoll = began.Add(max(cmp.Or(d.every, pollPause), took+min((pollTimeDivisor-1)*took, maxPollPause)))
	return nil
}

// leaseRows leases rows. A canceled ctx does not stop it, so that the worker knows its leases and can release them.
func (d *leasedDispatcher[T]) leaseRows(ctx context.Context, grants []queues.SlotGrant) ([]T, map[int64]int, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
	defer cancel()
	d.lastLease = d.worker.now()
	leased, found, err := d.leaseBatch(ctx, grants)
	byTenant := map[int64]int{}
	for i := range leased {
		byTenant[d.tenant(&leased[i])]++
	}
	d.queue.leased(grants, found, byTenant)
	return leased, found, err
}

// leaseBatch leases rows of several tenants with one statement. If the statement fails, leaseBatch sends one statement
// for each tenant, because an error in one sandbox must not stop the others.
func (d *leasedDispatcher[T]) leaseBatch(ctx context.Context, grants []queues.SlotGrant) (leased []T, found map[int64]int, err error) {
	err = d.worker.contained(ctx, func() (err error) {
		leased, found, err = d.lease(ctx, grants)
		return err
	})
	switch {
	case err == nil:
		due := make([]queues.DueTenant, len(grants))
		for i, grant := range grants {
			due[i] = grant.DueTenant
		}
		d.worker.resumeSandboxes(ctx, d.name, due)
		return leased, found, nil
	case errors.Is(err, postgres.ErrUnavailable):
		return nil, nil, err
	case len(grants) == 1:
		d.worker.skipSandbox(ctx, d.name, grants[0].DueTenant, err)
		return nil, nil, nil
	}
	found = map[int64]int{}
	for alone := range slices.Chunk(grants, 1) {
		rows, foundThere, err := d.leaseBatch(ctx, alone)
		if err != nil {
			break // the next poll finds the rows that are not leased
		}
		leased = append(leased, rows...)
		maps.Copy(found, foundThere)
	}
	return leased, found, nil
}

// begin starts the attempt of a row. The row keeps its slot until its result is recorded. So slow writes of results
// slow down the leasing.
func (d *leasedDispatcher[T]) begin(ctx context.Context, row *T) {
	ctx = context.WithoutCancel(ctx)
	d.attempts.run(func() { attemptRow(ctx, d.worker, d.queue, d.tenant(row), row, d.attempt) })
}

// attemptRow makes the attempt of a row that has a slot, records the result, and frees the slot.
func attemptRow[T any](
	ctx context.Context, w *Worker, q *fairQueue, tenant int64, row *T, attempt func(context.Context, *T) (end attemptEnd, record func()),
) {
	ended := q.started(tenant)
	defer q.recorded(tenant)
	end, record := notSent, func() {}
	// After a panic, the row is due again when its lease expires.
	_ = w.contained(ctx, func() error { end, record = attempt(ctx, row); return nil })
	ended(end)
	_ = w.contained(ctx, func() error { record(); return nil })
}

// giveBack releases the leases of rows whose attempts will not start.
func (d *leasedDispatcher[T]) giveBack(ctx context.Context, leased []T) {
	if len(leased) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseTimeout)
	defer cancel()
	for i := range leased {
		d.queue.unused(d.tenant(&leased[i]))
	}
	if err := d.release(ctx, leased); err != nil {
		d.worker.log.WarnContext(ctx, "could not give back what was leased and not begun; it is due again when its lease ends",
			"sweep", d.name, "rows", len(leased), "error", err)
	}
}
