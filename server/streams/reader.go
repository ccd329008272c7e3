package streams

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sort"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/postgres"
)

const (
	// busyPeriod and idlePeriod are how often a reader reads: soon after it found something, and else.
	busyPeriod = 100 * time.Millisecond
	idlePeriod = 250 * time.Millisecond
	busyTime   = 2 * time.Second
	// renewal is how often the mark of a followed sandbox is renewed, which holds for ten minutes.
	renewal = time.Minute
	// readTimeout bounds one reading.
	readTimeout = 10 * time.Second
	// pageSize is how many changes are read at once. pageBytes bounds what is told of them, in bytes.
	pageSize  = 64
	pageBytes = 256 << 10
	// maxRecent bounds what a reader keeps of what it read, in bytes, and what it keeps of what its streams read by
	// themselves. maxRecentOfAll bounds each of both for all readers together.
	maxRecent      = 2 << 20
	maxRecentOfAll = 16 << 20
	// maxTakenOfAll is how many bytes all streams together may take to send them, of which each has its part, minTaken at
	// least.
	maxTakenOfAll = 8 << 20
	minTaken      = 16 << 10
	// entrySize is about how many bytes an entry takes beside its text.
	entrySize = 80
)

// reader reads the changes of a tenant for all streams of it.
type reader struct {
	streams   *Streams
	tenant    int64
	cancel    context.CancelFunc
	followers int // under the lock of streams

	mu       sync.Mutex
	changed  chan struct{} // closed when something below changes, and replaced
	marked   bool          // the sandbox is marked as followed
	ready    bool          // whoever has not seen the mark is done
	failure  error         // why the sandbox is not marked yet; nil: that is not known
	ended    error
	recent   page   // what it read last; next is up to where it has read
	again    []page // what its streams read by themselves, the latest last
	readings uint64 // how many readings of changes have begun or ended

	readingAgain chan struct{} // has an element while one of its streams reads by itself
}

// page is all that changed between two positions.
type page struct {
	from, next ledger.Position // behind the one, and up to the other
	entries    []Entry
	bytes      int // of entries
}

func (p *page) add(entries []Entry) {
	p.entries = append(p.entries, entries...)
	for i := range entries {
		p.bytes += entries[i].size()
	}
}

// trim drops the first entries until there are at most so many bytes.
func (p *page) trim(most int) {
	gone := 0
	for ; p.bytes > most; gone++ {
		p.bytes -= p.entries[gone].size()
	}
	if gone > 0 {
		p.from = p.entries[gone-1].At
		p.entries = slices.Clone(p.entries[gone:])
	}
}

// covers reports whether the page has what comes behind a position, and that was read after all that had been read
// before.
func (p *page) covers(at ledger.Position, seen uint64) bool {
	if at.Compare(p.from) < 0 || at.Compare(p.next) > 0 {
		return false
	}
	following := p.entries[p.behind(at):]
	return len(following) == 0 || following[0].begun >= seen
}

// behind is the index of the first entry behind a position.
func (p *page) behind(at ledger.Position) int {
	return sort.Search(len(p.entries), func(i int) bool { return p.entries[i].At.Compare(at) > 0 })
}

// after returns the entries behind a position, as many as are to be taken at once, and the position up to which that is
// all. Entries of one place are not separated.
func (p *page) after(at ledger.Position, most int) (entries []Entry, next ledger.Position) {
	first := p.behind(at)
	for n, size := first, 0; n < len(p.entries); n++ {
		if size += p.entries[n].size(); size > most && n > first && p.entries[n].At != p.entries[n-1].At {
			return p.entries[first:n:n], p.entries[n-1].At
		}
	}
	return p.entries[first:len(p.entries):len(p.entries)], p.next
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
		found, entries, err := r.readPage(ctx, position)
		switch {
		case err == nil:
			position = found.Next
			r.publish(entries, position, found.Below >= from.Xact)
		case !errors.Is(err, postgres.ErrUnavailable):
			return err
		}
		if len(found.Changes) > 0 {
			busy = time.Now()
		}
		if time.Since(renewed) > renewal {
			if _, err := r.watch(ctx); err == nil {
				renewed = time.Now()
			} else if !errors.Is(err, postgres.ErrUnavailable) {
				return err
			}
		}
		if found.More {
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

// mark marks the sandbox as followed, and returns the position from which on all changes are noted.
func (r *reader) mark(ctx context.Context) (ledger.Position, error) {
	for {
		from, err := r.watch(ctx)
		if err == nil {
			r.update(func() { r.marked, r.failure, r.recent = true, nil, page{from: from, next: from} })
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

// readPage reads the next changes behind a position, at most pageSize, and makes their entries. It leaves out those
// beyond pageBytes.
func (r *reader) readPage(ctx context.Context, after ledger.Position) (ledger.Changes, []Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	begun := r.count()
	found, err := r.streams.Source.ChangesAfter(ctx, r.tenant, after, pageSize)
	if err != nil {
		return found, nil, err
	}
	ended := r.count()
	entries, bytes := make([]Entry, 0, len(found.Changes)), 0
	for i := range found.Changes {
		if bytes >= pageBytes && found.Changes[i].At != found.Changes[i-1].At {
			found.Next, found.More = found.Changes[i-1].At, true
			break
		}
		entry, err := r.streams.Encode(r.tenant, &found.Changes[i])
		if err != nil {
			slog.Error("a change cannot be told", "error", err) // an operator's answer that is no JSON was never stored
			continue
		}
		entry.begun, entry.ended = begun, ended
		entries, bytes = append(entries, entry), bytes+entry.size()
	}
	return found, entries, nil
}

// count numbers the beginnings and the ends of readings.
func (r *reader) count() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readings++
	return r.readings
}

// publish gives what was read up to a position to the streams.
func (r *reader) publish(entries []Entry, next ledger.Position, ready bool) {
	most := r.streams.share()
	if r.ready && len(entries) == 0 { // only this goroutine writes it
		r.mu.Lock()
		defer r.mu.Unlock()
		r.recent.next = next
		r.trim(most)
		return
	}
	r.update(func() {
		r.ready, r.recent.next = r.ready || ready, next
		r.recent.add(entries)
		r.trim(most)
	})
}

// trim drops what is more than may be kept, in bytes.
func (r *reader) trim(most int) {
	r.recent.trim(most)
	bytes := 0
	for i := len(r.again) - 1; i >= 0; i-- {
		if bytes += r.again[i].bytes; bytes > most {
			r.again = slices.Clone(r.again[i+1:])
			return
		}
	}
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
