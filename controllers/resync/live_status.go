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

// LiveStatus polls the database for changes of live values, such as balances, and reconciles the resources whose status
// shows them.
//
// A token bucket limits the writes of live values over all resources, because payments in a hundred sandboxes must not
// flood the API server. [LiveStatus.Admit] decides which status is written now. Changes of other values, such as
// conditions, do not wait for the bucket.
type LiveStatus struct {
	database Database
	ready    func(context.Context) error // nil once the tables are up to date
	cache    client.Reader
	breaker  *Breaker
	clock    clock.WithTicker
	interval time.Duration // polling interval

	reported    map[sandboxes.AccountChange]bool // changes in the last answer of the database
	writes      *writeQueue                      // resources to reconcile with a write of live values
	checks      *changeQueue                     // resources to reconcile without a write of live values
	sandboxes   chan event.TypedGenericEvent[client.ObjectKey]
	testClients chan event.TypedGenericEvent[client.ObjectKey]

	expectations        chan event.TypedGenericEvent[client.ObjectKey]
	changedExpectations map[sandboxes.ChangedExpectation]bool // by the last answer
	awaited             bool                                  // whether there are Expectations
}

const (
	// lookBack is subtracted from the start time, so that the first query also covers earlier changes.
	lookBack = time.Minute
	// checksPerSecond limits the reconciliations that write no live values. An outage of the database causes one for
	// each resource.
	checksPerSecond = 50
	// longIntervals multiplies the polling interval after a failed query, and while nothing changes: an idle installation
	// is to cost next to nothing. Since the breaker opens only after two failures, a very short outage does not open it.
	longIntervals = 3
)

// NewLiveStatus returns a LiveStatus that polls the database at every interval. Before each query, it calls ready.
// While ready or the queries return errors, the breaker is open.
func NewLiveStatus(
	database Database, ready func(context.Context) error, cache client.Reader, breaker *Breaker, clock clock.WithTicker,
	interval time.Duration, writesPerSecond float64,
) *LiveStatus {
	return &LiveStatus{
		database:     database,
		ready:        ready,
		cache:        cache,
		breaker:      breaker,
		clock:        clock,
		interval:     interval,
		writes:       newWriteQueue(clock, writesPerSecond),
		checks:       newChangeQueue(),
		sandboxes:    make(chan event.TypedGenericEvent[client.ObjectKey]),
		testClients:  make(chan event.TypedGenericEvent[client.ObjectKey]),
		expectations: make(chan event.TypedGenericEvent[client.ObjectKey]),
	}
}

// Touch reconciles a sandbox in the next round, because the number of its TestClients changed.
func (l *LiveStatus) Touch(sandbox client.ObjectKey) { l.checks.hold(Change{Key: sandbox}) }

// Admit reports whether a reconciliation may write its status now. If it returns false and d is not [None], the
// resource is reconciled again when the budget allows the write.
func (l *LiveStatus) Admit(c Change, d Difference) bool { return l.writes.admit(c, d) }

// Start runs until the context ends. The manager runs it only in the leader.
func (l *LiveStatus) Start(ctx context.Context) error {
	var group sync.WaitGroup
	group.Go(func() { l.releaseWrites(ctx) })
	group.Go(func() { l.releaseChecks(ctx) })
	l.poll(ctx)
	group.Wait()
	return nil
}

// poll polls the database for changes until ctx ends.
func (l *LiveStatus) poll(ctx context.Context) {
	log := logf.FromContext(ctx).WithName("live-status")
	// The controllers reconcile every resource at the start. The first query covers lookBack before that, because of
	// clock skew and of changes during the start. The following queries use database time.
	since, unavailable := l.clock.Now().Add(-lookBack), false
	for ctx.Err() == nil {
		next, err := l.query(ctx, since)
		since = next
		l.switchBreaker(ctx, unavailable, err)
		unavailable = logTransition(ctx, log, unavailable, err)
		l.checks.append(l.writes.unchecked())
		l.checks.release()

		pause := l.interval
		if unavailable || l.idle() {
			pause *= longIntervals
		}
		l.sleep(ctx, pause)
	}
}

// query queues the resources that changed since a database time. It returns the value of since for the next query.
func (l *LiveStatus) query(ctx context.Context, since time.Time) (time.Time, error) {
	if err := l.ready(ctx); err != nil {
		return since, err
	}
	changes, next, err := l.database.ChangedAccounts(ctx, since)
	if err != nil {
		return since, err
	}
	var expectations []sandboxes.ChangedExpectation
	if l.awaited = l.hasExpectations(ctx); l.awaited {
		if expectations, err = l.database.ChangedExpectations(ctx, since); err != nil {
			return since, err
		}
	}
	l.writes.add(ofAccounts(l.unreported(changes)))
	l.checks.prefer(l.ofExpectations(ctx, expectations))
	return next, nil
}

// idle reports whether the last answers contained no change, and no Expectation can be decided.
func (l *LiveStatus) idle() bool { return len(l.reported) == 0 && !l.awaited }

// hasExpectations reports whether the cache has an Expectation. Most installations have none, and need no query.
func (l *LiveStatus) hasExpectations(ctx context.Context) bool {
	var found v1alpha1.ExpectationList
	err := l.cache.List(ctx, &found, client.UnsafeDisableDeepCopy, client.Limit(1))
	return err == nil && len(found.Items) > 0 // there is an error only while the cache is being stopped
}

// ByUID is the index of Expectations by their UID.
const ByUID = "metadata.uid"

// ofExpectations returns the changed Expectations, without the changes that the last answer contained already.
func (l *LiveStatus) ofExpectations(ctx context.Context, changed []sandboxes.ChangedExpectation) (changes []Change) {
	reported := make(map[sandboxes.ChangedExpectation]bool, len(changed))
	for _, c := range changed {
		c.ChangedAt = c.ChangedAt.UTC().Round(0)
		reported[c] = true
		if l.changedExpectations[c] {
			continue
		}
		var found v1alpha1.ExpectationList
		if err := l.cache.List(ctx, &found, client.MatchingFields{ByUID: c.UID}); err != nil { // only while the cache is being stopped
			return nil
		}
		for i := range found.Items { // none if it was deleted
			changes = append(changes, OfExpectation(&found.Items[i]))
		}
	}
	l.changedExpectations = reported
	return changes
}

// switchBreaker opens the breaker after two consecutive failures, and queues all resources so that their status shows
// the outage. After a success, it closes the breaker and queues the blocked resources.
func (l *LiveStatus) switchBreaker(ctx context.Context, unavailable bool, err error) {
	switch {
	case ctx.Err() != nil:
	case err == nil:
		l.checks.prefer(l.breaker.close())
	case unavailable && errors.Is(err, postgres.ErrUnavailable) && l.breaker.open(err):
		l.checks.append(l.all(ctx))
	}
}

// all returns the sandboxes in the cache, then the TestClients.
func (l *LiveStatus) all(ctx context.Context) (all []Change) {
	var sandboxes v1alpha1.SandboxEnvironmentList
	var testClients v1alpha1.TestClientList
	var expectations v1alpha1.ExpectationList
	err := errors.Join(
		l.cache.List(ctx, &sandboxes, client.UnsafeDisableDeepCopy),
		l.cache.List(ctx, &testClients, client.UnsafeDisableDeepCopy),
		l.cache.List(ctx, &expectations, client.UnsafeDisableDeepCopy),
	)
	if err != nil { // only when the cache stops
		return nil
	}
	for i := range sandboxes.Items {
		all = append(all, OfSandbox(&sandboxes.Items[i]))
	}
	for i := range testClients.Items {
		all = append(all, OfTestClient(&testClients.Items[i]))
	}
	for i := range expectations.Items {
		if expectations.Items[i].Status.DecidedAt == nil {
			all = append(all, OfExpectation(&expectations.Items[i]))
		}
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

// unreported returns the changes that the last answer did not contain. The database reports each change for some
// seconds, because a database transaction may commit seconds after the time that it recorded.
func (l *LiveStatus) unreported(changes []sandboxes.AccountChange) []sandboxes.AccountChange {
	reported := make(map[sandboxes.AccountChange]bool, len(changes))
	var unreported []sandboxes.AccountChange
	for _, c := range changes {
		c.ChangedAt = c.ChangedAt.UTC().Round(0) // normalized, because it is part of a map key
		if !reported[c] && !l.reported[c] {
			unreported = append(unreported, c)
		}
		reported[c] = true
	}
	l.reported = reported
	return unreported
}

// logTransition logs the first of consecutive failures, and the next success. It returns whether the database is
// unavailable now.
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

// releaseWrites reconciles the resources of l.writes, when the budget allows the write of their live values.
func (l *LiveStatus) releaseWrites(ctx context.Context) {
	for {
		next, err := l.writes.next(ctx)
		if err != nil {
			return
		}
		l.Enqueue(ctx, next)
	}
}

// releaseChecks reconciles the resources of l.checks, at most checksPerSecond.
func (l *LiveStatus) releaseChecks(ctx context.Context) {
	pace := newBucket(checksPerSecond, 1, l.clock.Now())
	for {
		next, err := l.checks.next(ctx)
		if err != nil {
			return
		}
		for !pace.allow(l.clock.Now()) {
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

// Enqueue adds a resource to the workqueue of its controller. It blocks until the controller receives it or ctx ends.
func (l *LiveStatus) Enqueue(ctx context.Context, c Change) {
	out := l.sandboxes
	if c.IsTestClient {
		out = l.testClients
	}
	if c.IsExpectation {
		out = l.expectations
	}
	select {
	case out <- event.TypedGenericEvent[client.ObjectKey]{Object: c.Key}:
	case <-ctx.Done():
	}
}
