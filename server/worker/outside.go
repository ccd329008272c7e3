package worker

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/store"
)

const (
	// surveyPause is how long it is from one survey to the next, at least: what is due is noticed within it.
	surveyPause = 50 * time.Millisecond
	// surveyShare bounds the part of the time that surveys take where there are very many sandboxes.
	surveyShare = 4
	// surveyRestMost bounds the rest after one that took long: nothing is due for longer than a second because a database froze.
	surveyRestMost = 500 * time.Millisecond
	// gather is the time between two statements of one kind at least, so that they work on many rows and not on one each.
	gather = 12 * time.Millisecond
	// takeTimeout bounds a survey, and the taking of what is due.
	takeTimeout = 5 * time.Second
)

// outside is the sweep of what needs somebody outside of the database. It finds the sandboxes that have something due, takes rows
// of them under a lease, of each tenant its share, and works on them side by side. It takes only as many as it can begin at once.
// What was begun is finished, also when its context ends meanwhile.
type outside[T any] struct {
	worker *Worker
	name   string
	queue  *fairQueue

	survey   func(context.Context) ([]store.Lane, error)
	take     func(context.Context, []store.Share) (taken []T, found map[int64]int, err error)
	tenant   func(*T) int64
	try      func(context.Context, *T) (end attemptEnd, keep func()) // keep writes down what came of it
	giveBack func(context.Context, []T) error

	nextSurvey time.Time
	lastTake   time.Time
	onTheirWay sync.WaitGroup
}

func (o *outside[T]) run(ctx context.Context) {
	defer o.onTheirWay.Wait()
	o.worker.sweep(ctx, o.name, func(ctx context.Context) (more bool, err error) {
		if !o.wait(ctx) {
			return false, nil
		}
		return true, o.step(ctx)
	})
}

// wait waits for the time of the next survey, or for a slot while a tenant may have more due. It returns false when ctx ends first.
func (o *outside[T]) wait(ctx context.Context) bool {
	timer := time.NewTimer(o.nextSurvey.Sub(o.worker.now()))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-o.queue.freed:
			if o.queue.waiting() {
				rest(ctx, gather-o.worker.now().Sub(o.lastTake))
				return true
			}
		}
	}
}

func (o *outside[T]) step(ctx context.Context) error {
	if err := o.look(ctx); err != nil {
		return err
	}
	shares := o.queue.shares()
	if len(shares) == 0 {
		return nil
	}
	taken, found, err := o.takeFrom(ctx, shares)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return o.giveUp(ctx, taken)
	}
	for i := range taken {
		o.begin(ctx, &taken[i])
	}
	if len(taken) > 0 || len(found) > 0 {
		o.queue.wake() // slots that some tenants did not need are for those that have more
	}
	return nil
}

// look makes a survey if it is time for one.
func (o *outside[T]) look(ctx context.Context) error {
	began := o.worker.now()
	if began.Before(o.nextSurvey) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	found, err := o.survey(ctx)
	if err != nil {
		return err
	}
	o.queue.setDue(found)
	took := o.worker.now().Sub(began)
	o.nextSurvey = began.Add(max(surveyPause, took+min((surveyShare-1)*took, surveyRestMost)))
	return nil
}

// takeFrom takes rows. It does so also when ctx ends meanwhile, so that what was taken is known and can be given back.
func (o *outside[T]) takeFrom(ctx context.Context, shares []store.Share) ([]T, map[int64]int, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
	defer cancel()
	o.lastTake = o.worker.now()
	taken, found, err := o.takeTogether(ctx, shares)
	of := map[int64]int{}
	for i := range taken {
		of[o.tenant(&taken[i])]++
	}
	o.queue.leased(shares, found, of)
	return taken, found, err
}

// takeTogether takes rows of several tenants at once, or of one after the other where that fails: what is wrong with one tenant is not
// the others' loss.
func (o *outside[T]) takeTogether(ctx context.Context, shares []store.Share) (taken []T, found map[int64]int, err error) {
	err = o.worker.contained(ctx, func() (err error) {
		taken, found, err = o.take(ctx, shares)
		return err
	})
	switch {
	case err == nil:
		due := make([]store.Lane, len(shares))
		for i, share := range shares {
			due[i] = share.Lane
		}
		o.worker.takeIn(ctx, o.name, due)
		return taken, found, nil
	case errors.Is(err, store.ErrUnavailable):
		return nil, nil, err
	case len(shares) == 1:
		o.worker.leaveOut(ctx, o.name, shares[0].Lane, err)
		return nil, nil, nil
	}
	found = map[int64]int{}
	for alone := range slices.Chunk(shares, 1) {
		some, foundThere, err := o.takeTogether(ctx, alone)
		if err != nil {
			break // what was taken before is the worker's; the next survey finds the rest
		}
		taken = append(taken, some...)
		maps.Copy(found, foundThere)
	}
	return taken, found, nil
}

// begin works on a row. Its slot is taken until what came of it is written down, so that no more is taken than can be.
func (o *outside[T]) begin(ctx context.Context, row *T) {
	ctx = context.WithoutCancel(ctx)
	tenant := o.tenant(row)
	ended := o.queue.started(tenant)
	o.onTheirWay.Go(func() {
		defer o.queue.recorded(tenant)
		end, keep := notSent, func() {}
		_ = o.worker.contained(ctx, func() error { end, keep = o.try(ctx, row); return nil }) // it is due again when its lease ends
		ended(end)
		_ = o.worker.contained(ctx, func() error { keep(); return nil })
	})
}

// giveUp gives back what was taken and is not begun any more.
func (o *outside[T]) giveUp(ctx context.Context, taken []T) error {
	if len(taken) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeTimeout)
	defer cancel()
	for i := range taken {
		o.queue.unused(o.tenant(&taken[i]))
	}
	if err := o.giveBack(ctx, taken); err != nil {
		o.worker.log.WarnContext(ctx, "what was taken could not be given back; it is due again when its lease ends",
			"sweep", o.name, "rows", len(taken), "error", err)
	}
	return nil
}
