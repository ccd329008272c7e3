package worker

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/postgres"
)

// What is taken while the worker is told to stop is given back and not begun; what was begun before is finished and kept.
func TestStoppedDispatcherGivesBackWhatItHasNotBegun(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	w := &Worker{log: slog.New(slog.DiscardHandler), now: time.Now}
	begun, release, inUse := make(chan struct{}), make(chan struct{}), make(chan struct{})
	close(inUse)
	var takes int
	var kept, back []int
	d := &leasedDispatcher[int]{
		worker: w, name: "test", queue: newFairQueue(8, 8, time.Now), inUse: inUse,
		listDue: func(context.Context) ([]queues.DueTenant, error) {
			return []queues.DueTenant{{Tenant: 1, EndpointWorked: true}}, nil
		},
		lease: func(ctx context.Context, _ []queues.SlotGrant) ([]int, map[int64]int, error) {
			if takes++; takes == 1 {
				return []int{1}, map[int64]int{1: 8}, nil
			}
			<-begun
			stop()
			close(release)
			return []int{2, 3}, map[int64]int{1: 2}, ctx.Err() // it is taken although the worker is told to stop
		},
		tenant: func(*int) int64 { return 1 },
		attempt: func(ctx context.Context, row *int) (attemptEnd, func()) {
			close(begun)
			<-release
			if ctx.Err() != nil {
				t.Error("what was begun is broken off")
			}
			return answeredSoon, func() { kept = append(kept, *row) }
		},
		release: func(ctx context.Context, rows []int) error {
			back = append(back, rows...)
			return ctx.Err()
		},
	}
	d.run(ctx)
	if diff := cmp.Diff([][]int{{1}, {2, 3}}, [][]int{kept, back}); diff != "" {
		t.Errorf("kept and given back (-want +got):\n%s", diff)
	}
	if d.queue.tenants[1].running != 0 {
		t.Errorf("%d slots stay taken", d.queue.tenants[1].running)
	}
}

func TestRetryWrite(t *testing.T) {
	t.Parallel()
	unavailable, refused := postgres.ErrUnavailable, errors.New("refused")
	for name, c := range map[string]struct {
		retryRefused bool
		errors       []error // of one try after the other
		want         error
		tries        int
	}{
		"at once":                     {false, []error{nil}, nil, 1},
		"the database is unavailable": {false, []error{unavailable, unavailable, unavailable, unavailable, nil}, nil, 5},
		"refused":                     {false, []error{refused}, refused, 1},
		"refused, and retried":        {true, []error{refused, nil}, nil, 2},
		"refused for good":            {true, []error{refused, refused, refused}, refused, 3},
		"unavailable for longer than the retries": {false, []error{unavailable, unavailable, nil}, unavailable, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := &clock{at: time.Unix(1_780_228_800, 0)}
			w := &Worker{now: clock.now}
			tries := 0
			err := w.retryWrite(t.Context(), c.retryRefused, func(context.Context) error {
				if name == "unavailable for longer than the retries" {
					clock.at = clock.at.Add(writeRetryFor * 2 / 3)
				}
				tries++
				return c.errors[tries-1]
			})
			if !errors.Is(err, c.want) || tries != c.tries {
				t.Errorf("%v after %d tries, want %v after %d", err, tries, c.want, c.tries)
			}
		})
	}
}

// A database that froze makes one poll take seconds. What is due does not wait for a multiple of them afterwards.
func TestSlowPollDelaysTheNextOneByLittle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ took, pause time.Duration }{
		"quick":            {5 * time.Millisecond, pollPause - 5*time.Millisecond},
		"many sandboxes":   {100 * time.Millisecond, 300 * time.Millisecond}, // a quarter of the time
		"a frozen machine": {4 * time.Second, 500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := &clock{at: time.Unix(1_780_228_800, 0)}
			w := &Worker{log: slog.New(slog.DiscardHandler), now: clock.now}
			d := &leasedDispatcher[int]{worker: w, queue: newFairQueue(8, 8, clock.now), listDue: func(context.Context) ([]queues.DueTenant, error) {
				clock.at = clock.at.Add(c.took)
				return nil, nil
			}}
			if err := d.poll(t.Context()); err != nil {
				t.Fatal(err)
			}
			if pause := d.nextPoll.Sub(clock.at); pause != c.pause {
				t.Errorf("the next poll is %s after one that took %s, want %s", pause, c.took, c.pause)
			}
		})
	}
}
