// Package streams tells the changes of sandboxes to the clients that follow them in this process. One reader of each
// sandbox serves all of its streams.
//
// What a stream promises to its client:
//
//   - Nothing is missed. The first entry is `ready`. Each change after it is told at least once, so a client that reads
//     its lists after `ready` knows everything. A stream that resumes may repeat entries.
//   - Order. The changes of one thing are told in their order: of one transaction, event or balance, and of the clock.
//   - An entry has the thing as it is when the reader reads it, not as the change left it. So two changes may be told
//     as one, and a client may not see a state that did not last.
//   - Resuming. A client that sends the id of its last entry gets what follows it, for some minutes, see below.
//   - `reset` means that the changes since the last entry are not known, because the client came back too late, or that
//     the sandbox was reset. `ready` follows, and the client reads its lists again after it.
//
// How long a client can resume depends on two times. The mark of a followed sandbox ([ledger.Ledger.WatchChanges]),
// without which nothing is noted, is extended to ten minutes when at most five are left of it. Readers see to that once
// a minute, so at least four minutes are left when the last stream of a sandbox ends: the API's description names
// these. Of the four, the last is not certain: the function follow_sandbox treats a mark with less than a minute left as
// ended, and the stream tells `reset`. If other streams follow the sandbox meanwhile, the mark does not end, and the
// worker's purge is the limit, which keeps changes for ten minutes.
package streams

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
)

// Source is where changes are read, see [ledger.Ledger].
type Source interface {
	WatchChanges(ctx context.Context, tenant int64) (ledger.Position, error)
	ChangesAfter(ctx context.Context, tenant int64, after ledger.Position, limit int) (ledger.Changes, error)
}

// Entry is what a stream says of a change.
type Entry struct {
	At    ledger.Position
	Type  string
	Ready bool   // it says that the stream is ready
	Text  []byte // as it is sent; nobody may change it

	begun, ended uint64 // when it was read, see [reader.count]
}

func (e *Entry) size() int { return len(e.Text) + entrySize }

// Options are the settings of [Streams].
type Options struct {
	Source   Source
	Encode   func(tenant int64, c *ledger.Change) (Entry, error)
	Ready    func(at ledger.Position) Entry // the first entry of a stream: nothing after this position is missed
	Process  int                            // most streams at one time
	Sandbox  int                            // of these, of one sandbox
	Draining <-chan struct{}                // closed when the process is told to stop; nil: it never is
}

// Streams are those of a process. It is safe for concurrent use.
type Streams struct {
	Options

	mu      sync.Mutex
	open    int
	of      map[string]int // by the sandbox's organization
	readers map[int64]*reader
	// following is how many streams have a reader.
	following int
}

// New makes the streams of a process.
func New(o Options) *Streams {
	return &Streams{Options: o, of: map[string]int{}, readers: map[int64]*reader{}}
}

// Limit is a limit that is reached.
type Limit struct {
	Process bool // that of the process; else that of the sandbox
	Streams int
}

// Take counts a stream of an organization until release is called, or returns the limit that is reached.
func (s *Streams) Take(organization string) (release func(), reached *Limit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[organization] >= s.Sandbox:
		return nil, &Limit{Streams: s.Sandbox}
	case s.open >= s.Process:
		return nil, &Limit{Process: true, Streams: s.Process}
	}
	s.open++
	s.of[organization]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		if s.of[organization]--; s.of[organization] == 0 {
			delete(s.of, organization)
		}
	}, nil
}

// share is how many bytes a reader may keep, see maxRecent.
func (s *Streams) share() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(maxRecent, maxRecentOfAll/max(1, len(s.readers)))
}

// most is how many bytes a stream may take at once: whoever does not read keeps them.
func (s *Streams) most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(minTaken, min(pageBytes, maxTakenOfAll/max(1, s.following)))
}

// ErrDraining ends the streams of a process that is told to stop.
var ErrDraining = errors.New("the process is told to stop")

// Stream is that of the changes of one tenant. It has to be closed.
type Stream struct {
	streams  *Streams
	reader   *reader
	resumes  bool            // from its position on
	begun    bool            // the entry that says that it is ready was taken
	position ledger.Position // up to which entries were taken
	seen     uint64          // when the last reading ended whose entries were taken: what was read before may be older
}

// Follow begins a stream of a tenant, which goes on from a position, nil for the present.
func (s *Streams) Follow(tenant int64, from *ledger.Position) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.readers[tenant]
	if r == nil {
		ctx, cancel := context.WithCancel(context.Background())
		r = &reader{
			streams: s, tenant: tenant, cancel: cancel, changed: make(chan struct{}),
			readingAgain: make(chan struct{}, 1),
		}
		s.readers[tenant] = r
		go r.run(ctx)
	}
	r.followers++
	s.following++
	st := &Stream{streams: s, reader: r, resumes: from != nil}
	if st.resumes {
		st.position = *from
	}
	return st
}

// Close ends a stream.
func (st *Stream) Close() {
	s, r := st.streams, st.reader
	s.mu.Lock()
	defer s.mu.Unlock()
	s.following--
	if r.followers--; r.followers == 0 {
		s.forget(r)
		r.cancel()
	}
}

// forget lets the next stream have another reader.
func (s *Streams) forget(r *reader) {
	if s.readers[r.tenant] == r {
		delete(s.readers, r.tenant)
	}
}

// Marked waits until the sandbox is marked as followed, and returns the error that prevents it.
func (st *Stream) Marked(ctx context.Context) error {
	r := st.reader
	for {
		r.mu.Lock()
		marked, err, changed := r.marked, r.failure, r.changed
		r.mu.Unlock()
		if marked || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Next waits for the next entries. The first entry says that the stream is ready: what changes after its position
// follows. It returns nothing when wake has something to receive, ctx's error when that ends, and
// [ErrDraining] when the process is told to stop.
//
// It returns [ledger.ErrChangesLost] if changes are not known, and [postgres.ErrConfigChanged] if the sandbox was reset
// or deleted: the stream is of no more use then. After an [postgres.ErrUnavailable] it can be tried again.
func (st *Stream) Next(ctx context.Context, wake <-chan time.Time) ([]Entry, error) {
	for {
		entries, changed, err := st.take()
		if entries != nil || err != nil {
			return entries, err
		}
		var mayRead chan<- struct{}
		if changed == nil {
			mayRead = st.reader.readingAgain
		}
		select {
		case mayRead <- struct{}{}:
			entries, err := st.readAgain(ctx)
			<-st.reader.readingAgain
			if entries != nil || err != nil {
				return entries, err
			}
		case <-changed:
		case <-wake:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-st.streams.Draining:
			return nil, ErrDraining
		}
	}
}

// take takes the entries that are there. If there is nothing, changed is closed when there may be; it is nil if the
// stream has to read by itself.
func (st *Stream) take() (entries []Entry, changed <-chan struct{}, err error) {
	most := st.streams.most()
	r := st.reader
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended != nil:
		return nil, nil, r.ended
	case !r.ready:
		return nil, r.changed, nil
	case !st.begun && !st.resumes:
		st.begun, st.position = true, r.recent.next
		return []Entry{st.streams.Ready(st.position)}, nil, nil
	}
	if r.recent.covers(st.position, st.seen) {
		if entries = st.takeFrom(&r.recent, most); entries == nil {
			changed = r.changed
		}
		return entries, changed, nil
	}
	if st.begun && st.position.Compare(r.recent.next) > 0 {
		return nil, r.changed, nil // it has read further than the reader
	}
	for i := len(r.again) - 1; i >= 0 && entries == nil; i-- {
		if r.again[i].covers(st.position, st.seen) {
			entries = st.takeFrom(&r.again[i], most)
		}
	}
	return entries, nil, nil
}

// takeFrom takes what a page has for the stream, nil for nothing. What is behind the first position of a stream is
// known if a page covers it.
func (st *Stream) takeFrom(p *page, most int) (entries []Entry) {
	from := st.position
	found, next := p.after(from, most)
	st.position = next
	if len(found) > 0 {
		st.seen = found[len(found)-1].ended
	}
	if !st.begun {
		st.begun = true
		entries = append(entries, st.streams.Ready(from))
	}
	return append(entries, found...)
}

// readAgain reads what the reader does not keep, unless another stream has done so meanwhile.
func (st *Stream) readAgain(ctx context.Context) ([]Entry, error) {
	if entries, changed, err := st.take(); entries != nil || changed != nil || err != nil {
		return entries, err
	}
	r := st.reader
	found, entries, err := r.readPage(ctx, st.position)
	if err != nil {
		return nil, err
	}
	p := page{from: st.position, next: found.Next}
	p.add(entries)
	share, most := st.streams.share(), st.streams.most()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(entries) > 0 {
		r.again = append(r.again, p)
		r.trim(share)
	}
	return st.takeFrom(&p, most), nil
}

// Position is the one up to which all entries were taken; false before the stream is ready.
func (st *Stream) Position() (ledger.Position, bool) { return st.position, st.begun }
