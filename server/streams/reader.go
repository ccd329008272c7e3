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
	// busyPeriod and idlePeriod are polling intervals: a reader polls every busyPeriod for busyTime after it found a
	// change, and every idlePeriod otherwise.
	busyPeriod = 100 * time.Millisecond
	idlePeriod = 250 * time.Millisecond
	busyTime   = 2 * time.Second
	// renewal is how often a reader renews the mark of a followed sandbox. The mark holds for at most ten minutes.
	renewal = time.Minute
	// readTimeout bounds one query for changes, and one for the mark.
	readTimeout = 10 * time.Second
	// pageSize is the most changes that one query reads. pageBytes bounds the entries of a page, in bytes. A page ends
	// after the entry that reaches this bound, and after the other entries of its position.
	pageSize  = 64
	pageBytes = 256 << 10
	// maxRecent bounds the entries in r.recent, in bytes. It also bounds the pages in r.again, which streams read with
	// readAgain. maxRecentOfAll bounds each of the two over all readers.
	maxRecent      = 2 << 20
	maxRecentOfAll = 16 << 20
	// maxTakenOfAll bounds the bytes that all streams together hold to send them. Each stream has an equal share, at
	// least minTaken.
	maxTakenOfAll = 8 << 20
	minTaken      = 16 << 10
	// entrySize is the approximate memory of an entry without its text, in bytes.
	entrySize = 96
)

// reader reads the changes of a tenant for all streams of this tenant.
type reader struct {
	streams   *Streams
	tenant    int64
	cancel    context.CancelFunc
	followers int // number of streams; guarded by streams.mu

	mu       sync.Mutex
	changed  chan struct{} // is closed and replaced when a field below changes
	marked   bool          // the sandbox is marked as followed
	ready    bool          // all database transactions that began before the mark have ended
	failure  error         // why the sandbox is not marked yet; nil: no attempt has failed
	ended    error         // why the reader ended; nil: it runs
	recent   page          // the reader's latest entries; the reader has read up to recent.next
	again    []page        // pages that streams read with readAgain, the latest last
	readings uint64        // the number of begins and ends of readings so far

	readingAgain chan struct{} // holds one element while a stream is in readAgain
}

// page has all entries between two positions.
type page struct {
	from, next ledger.Position // the entries are after from, and up to next
	entries    []Entry
	bytes      int // size of entries
}

func (p *page) add(entries []Entry) {
	p.entries = append(p.entries, entries...)
	for i := range entries {
		p.bytes += entries[i].size()
	}
}

// trim drops the first entries until the size of the page is at most limit bytes.
func (p *page) trim(limit int) {
	gone := 0
	for ; p.bytes > limit; gone++ {
		p.bytes -= p.entries[gone].size()
	}
	if gone > 0 {
		p.from = p.entries[gone-1].At
		p.entries = slices.Clone(p.entries[gone:])
	}
}

// covers reports whether the page has all entries after a position up to its own end, and whether they were read at the
// reading count seen or later. An earlier reading may have an older state.
func (p *page) covers(at ledger.Position, seen uint64) bool {
	if at.Compare(p.from) < 0 || at.Compare(p.next) > 0 {
		return false
	}
	following := p.entries[p.behind(at):]
	return len(following) == 0 || following[0].begun >= seen
}

// behind returns the index of the first entry after a position.
func (p *page) behind(at ledger.Position) int {
	return sort.Search(len(p.entries), func(i int) bool { return p.entries[i].At.Compare(at) > 0 })
}

// after returns the entries that follow a position. None is missing up to the returned position next. Their size is at
// most limit bytes, but they have at least all entries of one position.
func (p *page) after(at ledger.Position, limit int) (entries []Entry, next ledger.Position) {
	first := p.behind(at)
	for n, size := first, 0; n < len(p.entries); n++ {
		if size += p.entries[n].size(); size > limit && n > first && p.entries[n].At != p.entries[n-1].At {
			return p.entries[first:n:n], p.entries[n-1].At
		}
	}
	return p.entries[first:len(p.entries):len(p.entries)], p.next
}

// update calls change with r.mu locked, and wakes the streams.
func (r *reader) update(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	close(r.changed)
	r.changed = make(chan struct{})
}

// run reads until the last stream is closed, or until a permanent error: [ledger.ErrChangesLost],
// [postgres.ErrConfigChanged].
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

// mark marks the sandbox as followed, and returns the position after which all changes are noted. It tries again while
// the database is unavailable.
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

// readPage reads the changes after a position, at most pageSize, and makes entries of them. If the entries reach
// pageBytes, it leaves the other changes for the next page.
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
			slog.Error("a change cannot be told", "error", err) // unexpected: every stored answer of an operator is valid JSON
			continue
		}
		entry.begun, entry.ended = begun, ended
		entries, bytes = append(entries, entry), bytes+entry.size()
	}
	return found, entries, nil
}

// count returns a number that rises with each begin and each end of a reading.
func (r *reader) count() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readings++
	return r.readings
}

// publish gives the streams the entries that were read up to the position next. If ready is true, the streams can miss
// nothing after the reader's first position.
func (r *reader) publish(entries []Entry, next ledger.Position, ready bool) {
	most := r.streams.share()
	if r.ready && len(entries) == 0 { // only this goroutine writes r.ready
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

// trim drops the oldest entries of r.recent, and the oldest pages of r.again, so that each has at most limit bytes.
func (r *reader) trim(limit int) {
	r.recent.trim(limit)
	bytes := 0
	for i := len(r.again) - 1; i >= 0; i-- {
		if bytes += r.again[i].bytes; bytes > limit {
			r.again = slices.Clone(r.again[i+1:])
			return
		}
	}
}

// pause waits for d. It returns false if ctx ends first.
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
