package controllers

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/store"
)

// liveStatus has resources reconciled whose live balance changed in the database, so that their status follows.
//
// Every reconciliation that it asks for writes at most one status. It asks for so many a second at most, over all
// resources, and for the one that has waited longest first: payments in ten thousand sandboxes must not drown the API
// server in writes. Changes of a spec do not pass through here and never wait for it.
type liveStatus struct {
	database Database
	cache    client.Reader
	outage   *outage // that it finds, for all
	clock    clock.WithTicker
	every    time.Duration // between two questions to the database
	budget   *rate.Limiter

	told        map[store.AccountChange]bool // what the last answer named
	changed     *changeQueue
	sandboxes   chan event.TypedGenericEvent[client.ObjectKey]
	testClients chan event.TypedGenericEvent[client.ObjectKey]
}

// lookBack is how far the first question goes back.
const lookBack = time.Minute

func newLiveStatus(database Database, cache client.Reader, clock clock.WithTicker, every time.Duration, writesPerSecond float64) *liveStatus {
	return &liveStatus{
		database:    database,
		cache:       cache,
		outage:      newOutage(),
		clock:       clock,
		every:       every,
		budget:      rate.NewLimiter(rate.Limit(writesPerSecond), 1),
		changed:     newChangeQueue(),
		sandboxes:   make(chan event.TypedGenericEvent[client.ObjectKey]),
		testClients: make(chan event.TypedGenericEvent[client.ObjectKey]),
	}
}

// touch has a sandbox looked at again with the next round, because the number of its TestClients changed.
func (l *liveStatus) touch(sandbox client.ObjectKey) { l.changed.hold(change{key: sandbox}) }

// Start runs until the context ends. The manager runs it in the leader only.
func (l *liveStatus) Start(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.release(ctx)
	}()
	l.poll(ctx)
	<-done
	return nil
}

// poll asks the database for changes, round after round.
func (l *liveStatus) poll(ctx context.Context) {
	log := logf.FromContext(ctx).WithName("live-status")
	ticker := l.clock.NewTicker(l.every)
	defer ticker.Stop()
	// The start reconciles every resource anyway. The first question goes back a little further, for balances that change
	// meanwhile and in case the two clocks differ; the following ones are in the database's time.
	since, away := l.clock.Now().Add(-lookBack), false
	for {
		changes, next, err := l.database.ChangedAccounts(ctx, since)
		if err == nil {
			since = next
			l.changed.add(l.news(changes))
		}
		l.follow(ctx, away, err)
		away = tellOnce(ctx, log, away, err)
		l.changed.release()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// follow has all resources say that the database is away when it was so twice in a row, and those that had to wait for it looked
// at again when it is back. While it is away this is the only one who asks.
func (l *liveStatus) follow(ctx context.Context, away bool, err error) {
	switch {
	case interrupted(ctx):
	case err == nil:
		l.changed.prefer(l.outage.end())
	case away && errors.Is(err, store.ErrUnavailable) && l.outage.begin(err):
		l.changed.append(l.all(ctx))
	}
}

// all names every resource, the sandboxes first.
func (l *liveStatus) all(ctx context.Context) (all []change) {
	var sandboxes v1alpha1.SandboxEnvironmentList
	var testClients v1alpha1.TestClientList
	err := errors.Join(l.cache.List(ctx, &sandboxes, client.UnsafeDisableDeepCopy), l.cache.List(ctx, &testClients, client.UnsafeDisableDeepCopy))
	if err != nil { // only while the cache is being stopped
		return nil
	}
	for i := range sandboxes.Items {
		all = append(all, change{key: client.ObjectKeyFromObject(&sandboxes.Items[i])})
	}
	for i := range testClients.Items {
		all = append(all, changeOfTestClient(&testClients.Items[i]))
	}
	return all
}

// news are the changes that the last answer did not name already: the database goes on naming a change for some seconds, in
// case others that began before it become visible after it.
func (l *liveStatus) news(changes []store.AccountChange) []store.AccountChange {
	told := make(map[store.AccountChange]bool, len(changes))
	var news []store.AccountChange
	for _, c := range changes {
		c.ChangedAt = c.ChangedAt.UTC().Round(0) // comparable: the same instant is the same value
		if !told[c] && !l.told[c] {
			news = append(news, c)
		}
		told[c] = true
	}
	l.told = told
	return news
}

// tellOnce logs that the database went away, with the cause, and that it came back, but not every failed round between.
func tellOnce(ctx context.Context, log logr.Logger, away bool, err error) bool {
	switch {
	case interrupted(ctx):
	case err != nil && !away:
		log.Error(err, "The database is away: balances in the status stand still until it is back")
	case err == nil && away:
		log.Info("The database is back")
	}
	return err != nil
}

// release hands out what changed, within the budget.
func (l *liveStatus) release(ctx context.Context) {
	for {
		next, err := l.changed.next(ctx)
		if err != nil {
			return
		}
		if l.budget.Wait(ctx) != nil {
			return
		}
		l.hand(ctx, next)
	}
}

// hand has a resource reconciled.
func (l *liveStatus) hand(ctx context.Context, c change) {
	out := l.sandboxes
	if c.isTestClient {
		out = l.testClients
	}
	select {
	case out <- event.TypedGenericEvent[client.ObjectKey]{Object: c.key}:
	case <-ctx.Done():
	}
}

// changeOf is the resource that a change of an account shows in.
func changeOf(account store.AccountChange) change {
	if account.TestClient != "" {
		return change{key: client.ObjectKey{Namespace: account.Namespace, Name: account.TestClient}, isTestClient: true}
	}
	return change{key: client.ObjectKey{Namespace: account.Namespace, Name: account.Sandbox}}
}
