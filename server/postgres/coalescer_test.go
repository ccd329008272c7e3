package postgres

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// coalescerTest is a coalescer of numbers whose batches a test lets go on one by one.
type coalescerTest struct {
	*Coalescer[int]
	t       *testing.T
	begun   chan []int // the requests of each batch, when it begins
	proceed chan error // what it comes to
	refuses []int      // that Many does not do
	alone   atomic.Int64
}

var rwf = QueueKey{1, "RWF"}

func newCoalescerTest(t *testing.T, connections int, maxQueueWait time.Duration, now func() time.Time) *coalescerTest {
	d := &coalescerTest{t: t, begun: make(chan []int, 100), proceed: make(chan error, 100)}
	d.Coalescer = &Coalescer[int]{
		AtOnce:    1,
		Admission: NewAdmission(connections, maxQueueWait, now),
		One: func(ctx context.Context, at QueueKey, request int, admitted bool) error {
			if !admitted {
				d.alone.Add(1)
				return nil
			}
			d.begun <- []int{request}
			return <-d.proceed
		},
		Many: func(ctx context.Context, at QueueKey, requests []int) ([]bool, error) {
			d.begun <- requests
			if err := <-d.proceed; err != nil {
				return nil, err
			}
			done := make([]bool, len(requests))
			for i, request := range requests {
				done[i] = !slices.Contains(d.refuses, request)
			}
			return done, nil
		},
	}
	return d
}

// ask begins a request and returns when it waits or is being done.
func (d *coalescerTest) ask(ctx context.Context, request int) <-chan error {
	done, before := make(chan error, 1), d.queued()
	idle := d.queued() < 0
	go func() { done <- d.Do(ctx, rwf, request) }()
	if !idle {
		d.until(func() bool { return d.queued() > before || len(done) > 0 })
	}
	return done
}

// queued is how many wait, -1 while nothing is done.
func (d *coalescerTest) queued() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if q := d.queues[rwf]; q != nil {
		return len(q.waiters)
	}
	return -1
}

func (d *coalescerTest) until(reached func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(time.Minute); !reached(); {
		if time.Now().After(deadline) {
			d.t.Fatal("it does not come to that")
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func (d *coalescerTest) begins(want ...int) {
	d.t.Helper()
	if got := <-d.begun; !slices.Equal(got, want) {
		d.t.Fatalf("%v is done, want %v", got, want)
	}
}

func (d *coalescerTest) empty() {
	d.t.Helper()
	d.until(func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.Admission.mu.Lock()
		defer d.Admission.mu.Unlock()
		return len(d.queues) == 0 && len(d.Admission.queues) == 0 && d.Admission.waiting == 0 && len(d.Admission.next) == 0
	})
}

func TestCoalescerDoesTogetherWhatWaitsTogether(t *testing.T) {
	t.Parallel()
	d := newCoalescerTest(t, 4, 0, time.Now)
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

// Of two batches that run at one time, none takes what the other could do. So no batch is as long as the queue.
func TestCoalescerSharesWhatWaitsAmongTheLeaders(t *testing.T) {
	t.Parallel()
	d := newCoalescerTest(t, 8, 0, time.Now) // of which a tenant gets some
	d.AtOnce = 4
	var asked []<-chan error
	for i := 1; i <= d.AtOnce; i++ {
		done := make(chan error, 1)
		go func() { done <- d.Do(t.Context(), rwf, i) }()
		asked = append(asked, done)
		d.begins(i)
	}
	for i := 5; i <= 12; i++ {
		asked = append(asked, d.ask(t.Context(), i))
	}
	for _, batch := range [][]int{{5, 6, 7, 8, 9}, {10, 11}, {12}} {
		d.proceed <- nil
		d.begins(batch...)
	}
	for range d.AtOnce {
		d.proceed <- nil
	}
	for _, done := range asked {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	d.empty()
}

func TestCoalescerGivesEachItsResult(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	cases := map[string]struct {
		refuses []int
		err     error
		want    error // of all three
		alone   int64
	}{
		"all done":         {},
		"one left out":     {refuses: []int{3}, alone: 1},
		"the leader's too": {refuses: []int{2, 4}, alone: 2},
		"nothing is done":  {err: broken, alone: 3},
		"nobody knows":     {err: context.DeadlineExceeded, want: context.DeadlineExceeded},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := newCoalescerTest(t, 4, 0, time.Now)
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

func TestCoalescerLosesNobodyWhoGivesUp(t *testing.T) {
	t.Parallel()
	d := newCoalescerTest(t, 4, 0, time.Now)
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
	cancel() // its batch is under way
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
func TestCoalescerGoesOnWhoeverLeaves(t *testing.T) {
	t.Parallel()
	var done atomic.Int64
	c := &Coalescer[int]{AtOnce: 1, Admission: NewAdmission(2, 0, time.Now),
		One: func(context.Context, QueueKey, int, bool) error { done.Add(1); return nil },
		Many: func(_ context.Context, _ QueueKey, requests []int) ([]bool, error) {
			done.Add(int64(len(requests)))
			all := make([]bool, len(requests))
			for i := range all {
				all[i] = true
			}
			return all, nil
		},
	}
	var waiting, told sync.WaitGroup
	var answered atomic.Int64
	for i := range 2000 {
		told.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%50)*time.Microsecond)
			defer cancel()
			_ = c.Do(ctx, rwf, i)
		})
		waiting.Go(func() {
			if err := c.Do(t.Context(), rwf, i); err == nil {
				answered.Add(1)
			}
		})
	}
	waiting.Wait()
	told.Wait()
	if answered.Load() != 2000 || done.Load() < 2000 {
		t.Errorf("%d were answered and %d done", answered.Load(), done.Load())
	}
	if len(c.queues) != 0 || c.Admission.waiting != 0 || c.Admission.free != 2 {
		t.Errorf("left: %d queues, %d waiting, %d free", len(c.queues), c.Admission.waiting, c.Admission.free)
	}
}
