package resync

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// LiveStatus reconciles the resources whose live values changed in the database, so that their status follows, and decides when
// these values are written.
//
// A token bucket limits the writes of live values, over all resources: payments in a hundred sandboxes must not flood the API
// server. Which resource comes first, [writeQueue] decides. What a user did or has to know never waits for the bucket: a change of a
// spec, a condition, an outage of the database.
type LiveStatus struct {
	database Database
	ready    func(context.Context) error // nil once the tables are up to date
	cache    client.Reader
	breaker  *Breaker // opened and closed here
	clock    clock.WithTicker
	interval time.Duration // between two queries

	reported    map[sandboxes.AccountChange]bool // by the last answer
	writes      *writeQueue                      // of live values
	checks      *changeQueue                     // to reconcile without the right to write live values
	sandboxes   chan event.TypedGenericEvent[client.ObjectKey]
	testClients chan event.TypedGenericEvent[client.ObjectKey]
}

const (
	// lookBack is how far the first query goes back.
	lookBack = time.Minute
	// checksPerSecond limits the reconciliations that write no live values. An outage of the database causes one for every resource.
	checksPerSecond = 50
	// retryIntervals is how many intervals the next query waits after a failed one, so that a database that is unavailable for a moment
	// does not open the breaker.
	retryIntervals = 3
)

// NewLiveStatus returns a live status that queries the database every interval once ready returns nil, and opens
// breaker while either fails.
func NewLiveStatus(
	database Database, ready func(context.Context) error, cache client.Reader, breaker *Breaker, clock clock.WithTicker,
	interval time.Duration, writesPerSecond float64,
) *LiveStatus {
	return &LiveStatus{
		database:    database,
		ready:       ready,
		cache:       cache,
		breaker:     breaker,
		clock:       clock,
		interval:    interval,
		writes:      newWriteQueue(clock, writesPerSecond),
		checks:      newChangeQueue(),
		sandboxes:   make(chan event.TypedGenericEvent[client.ObjectKey]),
		testClients: make(chan event.TypedGenericEvent[client.ObjectKey]),
	}
}

// Touch reconciles a sandbox in the next round, because the number of its TestClients changed.
func (l *LiveStatus) Touch(sandbox client.ObjectKey) { l.checks.hold(Change{Key: sandbox}) }

// Admit decides whether a reconciliation writes a status now. If it does not, and there is a difference, the resource is reconciled
// again when the budget allows the write.
func (l *LiveStatus) Admit(c Change, d Difference) bool { return l.writes.admit(c, d) }

// Start runs until the context ends. The manager runs it in the leader only.
func (l *LiveStatus) Start(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() { l.releaseWrites(ctx) })
	group.Go(func() { l.releaseChecks(ctx) })
	l.poll(ctx)
	group.Wait()
	return nil
}

// poll queries the database for changes, round after round.
func (l *LiveStatus) poll(ctx context.Context) {
	log := logf.FromContext(ctx).WithName("live-status")
	// The start reconciles every resource anyway. The first query goes back a little further, for balances that change
	// meanwhile and in case the two clocks differ; the following ones are in the database's time.
	since, unavailable := l.clock.Now().Add(-lookBack), false
	for ctx.Err() == nil {
		next, err := l.query(ctx, since)
		since = next
		l.switchBreaker(ctx, unavailable, err)
		unavailable = logTransition(ctx, log, unavailable, err)
		l.checks.append(l.writes.unchecked())
		l.checks.release()

		pause := l.interval
		if unavailable {
			pause *= retryIntervals
		}
		l.sleep(ctx, pause)
	}
}

// query queues what changed since a time, and returns the time to ask from next.
func (l *LiveStatus) query(ctx context.Context, since time.Time) (time.Time, error) {
	if err := l.ready(ctx); err != nil {
		return since, err
	}
	changes, next, err := l.database.ChangedAccounts(ctx, since)
	if err != nil {
		return since, err
	}
	l.writes.add(ofAccounts(l.unreported(changes)))
	return next, nil
}

// switchBreaker opens the breaker after two failures in a row, and queues all resources so that their status says so. After a
// success it closes the breaker and queues the resources that were blocked.
func (l *LiveStatus) switchBreaker(ctx context.Context, unavailable bool, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil:
		l.checks.prefer(l.breaker.close())
	case unavailable && errors.Is(err, postgres.ErrUnavailable) && l.breaker.open(err):
		l.checks.append(l.all(ctx))
	}
}

// all returns all resources, the sandboxes first.
func (l *LiveStatus) all(ctx context.Context) (all []Change) {
	var sandboxes v1alpha1.SandboxEnvironmentList
	var testClients v1alpha1.TestClientList
	err := errors.Join(
		l.cache.List(ctx, &sandboxes, client.UnsafeDisableDeepCopy),
		l.cache.List(ctx, &testClients, client.UnsafeDisableDeepCopy),
	)
	if err != nil { // only while the cache is being stopped
		return nil
	}
	for i := range sandboxes.Items {
		all = append(all, OfSandbox(&sandboxes.Items[i]))
	}
	for i := range testClients.Items {
		all = append(all, OfTestClient(&testClients.Items[i]))
	}
	return all
}

// ofAccounts returns the resources whose status shows these accounts.
func ofAccounts(accounts []sandboxes.AccountChange) []Change {
	changes := make([]Change, len(accounts))
	for i, account := range accounts {
		changes[i] = ofAccount(account)
	}
	return changes
}

// unreported returns the changes that the last answer did not contain. The database reports a change for some seconds,
// since database transactions that began before it may become visible after it.
func (l *LiveStatus) unreported(changes []sandboxes.AccountChange) []sandboxes.AccountChange {
	reported := make(map[sandboxes.AccountChange]bool, len(changes))
	var unreported []sandboxes.AccountChange
	for _, c := range changes {
		c.ChangedAt = c.ChangedAt.UTC().Round(0) // comparable: the same instant is the same value
		if !reported[c] && !l.reported[c] {
			unreported = append(unreported, c)
		}
		reported[c] = true
	}
	l.reported = reported
	return unreported
}

// logTransition logs when the database becomes unavailable, with the cause, and when it is back, but not every failed round
// between. It returns whether the database is unavailable now.
func logTransition(ctx context.Context, log logr.Logger, unavailable bool, err error) bool {
	switch {
	case ctx.Err() != nil:
	case err != nil && !unavailable:
		log.Error(err, "The database is unavailable: balances in the status stay as they are until it is back")
	case err == nil && unavailable:
		log.Info("The database is back")
	}
	return err != nil
}

// releaseWrites reconciles the resources whose live values are written now, within the budget.
func (l *LiveStatus) releaseWrites(ctx context.Context) {
	for {
		next, err := l.writes.next(ctx)
		if err != nil {
			return
		}
		l.Enqueue(ctx, next)
	}
}

// releaseChecks reconciles the other resources, at a constant rate.
func (l *LiveStatus) releaseChecks(ctx context.Context) {
	pace := newBucket(checksPerSecond, 1, l.clock.Now())
	for {
		next, err := l.checks.next(ctx)
		if err != nil {
			return
		}
		for !pace.take(l.clock.Now()) {
			if l.sleep(ctx, pace.wait(l.clock.Now())); ctx.Err() != nil {
				return
			}
		}
		l.Enqueue(ctx, next)
	}
}

// sleep waits for the duration, or until the context ends.
func (l *LiveStatus) sleep(ctx context.Context, d time.Duration) {
	timer := l.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
	case <-ctx.Done():
	}
}

// Enqueue reconciles a resource. It waits until its controller takes it or the context ends.
func (l *LiveStatus) Enqueue(ctx context.Context, c Change) {
	out := l.sandboxes
	if c.IsTestClient {
		out = l.testClients
	}
	select {
	case out <- event.TypedGenericEvent[client.ObjectKey]{Object: c.Key}:
	case <-ctx.Done():
	}
}
