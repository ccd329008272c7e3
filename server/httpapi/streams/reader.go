package streams

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// busyPeriod and idlePeriod are how often a reader reads: soon after it found something, and else.
	busyPeriod = 100 * time.Millisecond
	idlePeriod = 250 * time.Millisecond
	busyTime   = 2 * time.Second
	// renewal is how often the mark of a watched sandbox is renewed, which holds for ten minutes.
	renewal = time.Minute
	// readTimeout bounds one reading.
	readTimeout = 10 * time.Second
	// pageSize is how many changes are read at once.
	pageSize = 1000
	// maxRecent bounds what a reader keeps for its streams, in bytes.
	maxRecent = 2 << 20
)

// reader reads the changes of a tenant for all streams of it.
type reader struct {
	streams   *Streams
	tenant    int64
	cancel    context.CancelFunc
	followers int // under the lock of streams

	mu       sync.Mutex
	changed  chan struct{} // closed when something below changes, and replaced
	marked   bool          // the sandbox is marked as watched
	ready    bool          // whoever has not seen the mark is done
	failure  error         // why the sandbox is not marked yet; nil: that is not known
	ended    error
	position ledger.Position // up to which it has read
	first    uint64          // number of the first of the recent entries
	recent   []Entry
	bytes    int // of recent
}

// update changes the state under its lock, and wakes the streams.
func (r *reader) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// run reads until nobody listens any more, or until the changes are not known.
func (r *reader) run(ctx context.Context) {
	err := r.read(ctx)
	r.streams.mu.Lock()
	r.streams.forget(r)
	r.streams.mu.Unlock()
	r.update(func() { r.ended, r.failure = err, err })
}

func (r *reader) read(ctx context.Context) error {
	from, err := r.mark(ctx)
	if err != nil {
		return err
	}
	renewed, busy := time.Now(), time.Now()
	position := from
	for {
		page, err := r.page(ctx, position)
		switch {
		case err == nil:
			position = page.Next
			r.publish(&page, page.Below >= from.Xact)
		case !errors.Is(err, postgres.ErrUnavailable):
			return err
		}
		if len(page.Changes) > 0 {
			busy = time.Now()
		}
		if time.Since(renewed) > renewal {
			if _, err := r.watch(ctx); err == nil {
				renewed = time.Now()
			} else if !errors.Is(err, postgres.ErrUnavailable) {
				return err
			}
		}
		if page.More {
			continue
		}
		period := idlePeriod
		if time.Since(busy) < busyTime {
			period = busyPeriod
		}
		if !pause(ctx, period) {
			return ctx.Err()
		}
	}
}

// mark marks the sandbox as watched, and returns the position from which on all changes are noted.
func (r *reader) mark(ctx context.Context) (ledger.Position, error) {
	for {
		from, err := r.watch(ctx)
		if err == nil {
			r.update(func() { r.marked, r.failure, r.position = true, nil, from })
			return from, nil
		}
		if !errors.Is(err, postgres.ErrUnavailable) {
			return from, err
		}
		r.update(func() { r.failure = err })
		if !pause(ctx, idlePeriod) {
			return from, ctx.Err()
		}
	}
}

func (r *reader) watch(ctx context.Context) (ledger.Position, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return r.streams.Source.WatchChanges(ctx, r.tenant)
}

func (r *reader) page(ctx context.Context, after ledger.Position) (ledger.Changes, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	return r.streams.Source.ChangesAfter(ctx, r.tenant, after, pageSize)
}

// publish gives a page to the streams.
func (r *reader) publish(page *ledger.Changes, ready bool) {
	entries := r.streams.encode(r.tenant, page)
	if r.ready && len(entries) == 0 { // only this goroutine writes it
		r.mu.Lock()
		r.position = page.Next
		r.mu.Unlock()
		return
	}
	r.update(func() {
		r.ready, r.position = r.ready || ready, page.Next
		for _, entry := range entries {
			r.bytes += len(entry.Text)
		}
		r.recent = append(r.recent, entries...)
		gone := 0
		for ; r.bytes > maxRecent; gone++ {
			r.bytes -= len(r.recent[gone].Text)
		}
		r.recent, r.first = append([]Entry(nil), r.recent[gone:]...), r.first+uint64(gone)
	})
}

// encode makes the entries of changes.
func (s *Streams) encode(tenant int64, page *ledger.Changes) []Entry {
	entries := make([]Entry, 0, len(page.Changes))
	for i := range page.Changes {
		entry, err := s.Encode(tenant, &page.Changes[i])
		if err != nil {
			slog.Error("a change cannot be told", "error", err) // an operator's answer that is no JSON was never stored
			continue
		}
		entries = append(entries, entry)
	}
	return entries
}

// readyAt is the entry that says that a stream is ready.
func readyAt(at ledger.Position) Entry {
	text, _ := wire.StreamEntry{Type: wire.StreamReady}.AppendEvent(nil, &at) // plain data
	return Entry{At: at, Type: wire.StreamReady, Text: text}
}

// pause waits, and reports false if ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
