package store

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// desk is a backlog of numbers whose bookings a test lets go on one by one.
type desk struct {
	*backlog[int]
	t       *testing.T
	begun   chan []int // the requests of each booking, when it begins
	proceed chan error // what it comes to
	refuses []int      // that many does not book
	alone   atomic.Int64
}

var rwf = floatKey{1, "RWF"}

func newDesk(t *testing.T, connections int, patience time.Duration, now func() time.Time) *desk {
	d := &desk{t: t, begun: make(chan []int, 100), proceed: make(chan error, 100)}
	d.backlog = &backlog[int]{
		atOnce: 1,
		turns:  newTurns(connections, patience, now),
		one: func(ctx context.Context, at floatKey, request int, hasTurn bool) error {
			if !hasTurn {
				d.alone.Add(1)
				return nil
			}
			d.begun <- []int{request}
			return <-d.proceed
		},
		many: func(ctx context.Context, at floatKey, requests []int) ([]bool, error) {
			d.begun <- requests
			if err := <-d.proceed; err != nil {
				return nil, err
			}
			booked := make([]bool, len(requests))
			for i, request := range requests {
				booked[i] = !slices.Contains(d.refuses, request)
			}
			return booked, nil
		},
	}
	return d
}

// ask begins to book a request and returns when it waits or is being booked.
func (d *desk) ask(ctx context.Context, request int) <-chan error {
	done, before := make(chan error, 1), d.queued()
	idle := d.queued() < 0
	go func() { done <- d.book(ctx, rwf, request) }()
	if !idle {
		d.until(func() bool { return d.queued() > before || len(done) > 0 })
	}
	return done
}

// queued is how many wait, -1 while nobody is booked.
func (d *desk) queued() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.lanes[rwf]; l != nil {
		return len(l.queue)
	}
	return -1
}

func (d *desk) until(reached func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(time.Minute); !reached(); {
		if time.Now().After(deadline) {
			d.t.Fatal("it does not come to that")
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func (d *desk) begins(want ...int) {
	d.t.Helper()
	if got := <-d.begun; !slices.Equal(got, want) {
		d.t.Fatalf("%v is booked, want %v", got, want)
	}
}

func (d *desk) empty() {
	d.t.Helper()
	d.until(func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.turns.mu.Lock()
		defer d.turns.mu.Unlock()
		return len(d.lanes) == 0 && len(d.turns.lines) == 0 && d.turns.waiting == 0 && len(d.turns.next) == 0
	})
}

func TestBacklogBooksTogetherWhatWaitsTogether(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4, 0, time.Now)
	first := d.ask(t.Context(), 1)
	d.begins(1) // alone and at once
	var waiting []<-chan error
	for i := 2; i <= maxBatch+3; i++ {
		waiting = append(waiting, d.ask(t.Context(), i))
	}
	d.proceed <- nil
	if err := <-first; err != nil {
		t.Error(err)
	}
	var batch []int
	for i := range maxBatch {
		batch = append(batch, 2+i)
	}
	d.begins(batch...)
	d.proceed <- nil
	d.begins(maxBatch+2, maxBatch+3)
	d.proceed <- nil
	for _, done := range waiting {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	d.empty()
}

func TestBacklogTellsEachWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	cases := map[string]struct {
		refuses []int
		err     error
		want    error // of all three
		alone   int64
	}{
		"all booked":        {},
		"one left out":      {refuses: []int{3}, alone: 1},
		"the leader's too":  {refuses: []int{2, 4}, alone: 2},
		"nothing is booked": {err: broken, alone: 3},
		"nobody knows":      {err: context.DeadlineExceeded, want: context.DeadlineExceeded},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, 4, 0, time.Now)
			d.refuses = c.refuses
			first := d.ask(t.Context(), 1)
			d.begins(1)
			waiting := []<-chan error{d.ask(t.Context(), 2), d.ask(t.Context(), 3), d.ask(t.Context(), 4)}
			d.proceed <- nil
			<-first
			d.begins(2, 3, 4)
			d.proceed <- c.err
			for _, done := range waiting {
				if err := <-done; !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			}
			if got := d.alone.Load(); got != c.alone {
				t.Errorf("%d were tried alone, want %d", got, c.alone)
			}
			d.empty()
		})
	}
}

func TestBacklogLosesNobodyWhoGivesUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t, 4, 0, time.Now)
	first := d.ask(t.Context(), 1)
	d.begins(1)
	ctx, cancel := context.WithCancel(t.Context())
	left, stays := d.ask(ctx, 2), d.ask(t.Context(), 3)
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	d.proceed <- nil
	<-first
	d.begins(3)
	ctx, cancel = context.WithCancel(t.Context())
	leader, taken := d.ask(t.Context(), 4), d.ask(ctx, 5)
	d.proceed <- nil
	<-stays
	d.begins(4, 5)
	cancel() // its booking is under way
	if err := <-taken; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	d.proceed <- nil
	if err := <-leader; err != nil {
		t.Error(err)
	}
	d.empty()
}

// Whoever is told to lead and leaves at that moment passes the lead on: nobody waits for ever behind it.
func TestBacklogGoesOnWhoeverLeaves(t *testing.T) {
	t.Parallel()
	var booked atomic.Int64
	b := &backlog[int]{atOnce: 1, turns: newTurns(2, 0, time.Now),
		one: func(context.Context, floatKey, int, bool) error { booked.Add(1); return nil },
		many: func(_ context.Context, _ floatKey, requests []int) ([]bool, error) {
			booked.Add(int64(len(requests)))
			all := make([]bool, len(requests))
			for i := range all {
				all[i] = true
			}
			return all, nil
		},
	}
	var patient, told sync.WaitGroup
	var answered atomic.Int64
	for i := range 2000 {
		told.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%50)*time.Microsecond)
			defer cancel()
			_ = b.book(ctx, rwf, i)
		})
		patient.Go(func() {
			if err := b.book(t.Context(), rwf, i); err == nil {
				answered.Add(1)
			}
		})
	}
	patient.Wait()
	told.Wait()
	if answered.Load() != 2000 || booked.Load() < 2000 {
		t.Errorf("%d were answered and %d booked", answered.Load(), booked.Load())
	}
	if len(b.lanes) != 0 || b.turns.waiting != 0 || b.turns.free != 2 {
		t.Errorf("left: %d lanes, %d waiting, %d free", len(b.lanes), b.turns.waiting, b.turns.free)
	}
}
