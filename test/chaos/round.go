package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// enough is the number of successes of each kind, for each sandbox, that shows that the system works.
const enough = 3

// load is what the clients do, except during an audit.
type load struct {
	*fixture
	quiet sync.RWMutex // clients hold it for reading while they work, an audit holds it for writing
	stop  context.CancelFunc
	group sync.WaitGroup

	mu       sync.Mutex
	problems []string
}

// begin starts all clients.
func (w *fixture) begin(ctx context.Context) *load {
	ctx, stop := context.WithCancel(ctx)
	l := &load{fixture: w, stop: stop}
	for _, s := range w.shops {
		for _, shopper := range s.shoppers {
			l.repeat(ctx, shopper.Shop)
		}
	}
	l.repeat(ctx, w.applier.apply)
	return l
}

// repeat repeats an action until the load stops or a problem appears. It never interrupts an action.
func (l *load) repeat(ctx context.Context, do func(ctx context.Context, n int) error) {
	once := func(n int) error {
		l.quiet.RLock()
		defer l.quiet.RUnlock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), wholeWithin)
		defer cancel()
		return do(within, n)
	}
	l.group.Go(func() {
		for n := 0; ; n++ {
			err := once(n)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				l.problem(err.Error())
				return
			}
			system.Rest(ctx, pace)
		}
	})
}

// end stops the load and waits until all clients have stopped. The caller holds quiet.
func (l *load) end() {
	l.stop()
	l.quiet.Unlock()
	l.group.Wait()
}

func (l *load) problem(problems ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, problems...)
}

// wrong returns the problems so far.
func (l *load) wrong() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.problems
}

// outages are the outages that clients see, by kind.
type outages struct{ Answers, Settlement, Delivery, Ready outage }

// outages are the worst outages of all sandboxes.
func (w *fixture) outages(from, to time.Time) (found outages) {
	for _, s := range w.shops {
		found.Answers = worst(found.Answers, s.answers.outage(from, to))
		found.Settlement = worst(found.Settlement, s.settlements.outage(from, to))
		found.Delivery = worst(found.Delivery, s.deliveries.outage(from, to))
	}
	found.Ready = w.applier.ready.outage(from, to)
	return found
}

// outcome is the result of a round.
type outcome struct {
	Fault   fault
	Detail  string
	Before  outages // before the fault
	During  outages // from the fault to full recovery
	Refused answered
	Took    time.Duration
}

// round injects one fault under load, waits for the recovery, stops the load, and audits. It adds problems to the load.
func (l *load) round(ctx context.Context, f fault, draw *rand.Rand) (o outcome, err error) {
	o.Fault = f
	begun := time.Now()
	defer func() { o.Took = time.Since(begun) }()
	if err := l.works(ctx, begun); err != nil {
		return o, err
	}
	system.Rest(ctx, time.Duration(draw.IntN(500))*time.Millisecond) // a random moment of the load
	for _, s := range l.shops {
		s.refused()
	}
	l.struck = time.Now()
	o.Before = l.outages(begun, l.struck)
	if o.Detail, err = f.strike(ctx, l.fixture, draw); err != nil {
		return o, fmt.Errorf("%s: %w", f, err)
	}
	if err := l.running(ctx); err != nil {
		return o, err
	}
	if err := l.works(ctx, time.Now()); err != nil {
		return o, err
	}
	o.During = l.outages(l.struck, time.Now())
	for _, s := range l.shops {
		seen := s.refused()
		o.Refused.Nothing += seen.Nothing
		o.Refused.Unavailable += seen.Unavailable
		o.Refused.Internal += seen.Internal
	}
	l.quiet.Lock()
	problems, err := l.audit(ctx)
	if f.target == "worker" || f.target == "Postgres" {
		l.losses = append(l.losses, loss{l.struck.Add(-5 * time.Second), time.Now()}) // a busy machine records late
	}
	problems = append(problems, l.auditRepetitions()...)
	l.forget()
	l.quiet.Unlock()
	l.problem(problems...)
	return o, err
}

// works waits until each series has enough successes after a moment.
func (l *load) works(ctx context.Context, from time.Time) error {
	all := l.series()
	return system.Until(ctx, wholeWithin, "everything works", func(context.Context) error {
		if len(l.wrong()) > 0 {
			return nil // a client has stopped
		}
		for _, what := range slices.Sorted(maps.Keys(all)) { // in order, so that what is missing changes with progress alone
			if n := all[what].since(from); n < enough {
				return fmt.Errorf("%d %s", n, what)
			}
		}
		return nil
	})
}

// series are all recorded series, by kind.
func (w *fixture) series() map[string]*series {
	all := map[string]*series{"resources that became ready": w.applier.ready}
	for _, s := range w.shops {
		name := s.resource.Name
		all["answers of "+name], all["settlements of "+name], all["deliveries of "+name] = s.answers, s.settlements, s.deliveries
	}
	return all
}

// forget removes the records of the round.
func (w *fixture) forget() {
	for _, s := range w.series() {
		s.forget()
	}
}
