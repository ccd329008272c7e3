// Package streams tells the changes of sandboxes to all who listen in this process. One reader of each sandbox serves all of its streams.
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

// Entry is what is told of a change.
type Entry struct {
	At   ledger.Position
	Type string
	Text []byte // as it is sent; nobody may change it
}

// Options are the settings of [Streams].
type Options struct {
	Source   Source
	Encode   func(tenant int64, c *ledger.Change) (Entry, error)
	Process  int             // most streams at one time
	Sandbox  int             // of these, of one sandbox
	Draining <-chan struct{} // closed when the process is told to stop; nil: it never is
}

// Streams are those of a process. It is safe for concurrent use.
type Streams struct {
	Options

	mu      sync.Mutex
	open    int
	of      map[string]int // by the sandbox's organization
	readers map[int64]*reader
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

// ErrDraining ends the streams of a process that is told to stop.
var ErrDraining = errors.New("the process is told to stop")

// Stream is one that is told the changes of a tenant. It has to be closed.
type Stream struct {
	streams  *Streams
	reader   *reader
	from     *ledger.Position // that it goes on from; nil: from now on
	told     bool             // that it is ready
	joined   bool
	position ledger.Position // up to which it was told
	target   ledger.Position // up to which it has to read by itself
	place    uint64          // number of the reader's entry that is next then
}

// Follow begins a stream of a tenant, which goes on from a position, nil for the present.
func (s *Streams) Follow(tenant int64, from *ledger.Position) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.readers[tenant]
	if r == nil {
		ctx, cancel := context.WithCancel(context.Background())
		r = &reader{streams: s, tenant: tenant, cancel: cancel, changed: make(chan struct{})}
		s.readers[tenant] = r
		go r.run(ctx)
	}
	r.followers++
	return &Stream{streams: s, reader: r, from: from}
}

// Close ends a stream.
func (st *Stream) Close() {
	s, r := st.streams, st.reader
	s.mu.Lock()
	defer s.mu.Unlock()
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

// Marked waits until the sandbox is marked as watched, and returns the error that prevents it.
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

// Next waits for what is to be told next. The first entry says that the stream is ready: what changes after its position is told. It
// returns nothing when wake has something to receive, ctx's error when that ends, and [ErrDraining] when the process is told to stop.
//
// It returns [ledger.ErrChangesLost] if changes are not known, and [postgres.ErrConfigChanged] if the sandbox was reset or deleted: the
// stream is of no more use then. After an [postgres.ErrUnavailable] it can be tried again.
func (st *Stream) Next(ctx context.Context, wake <-chan time.Time) ([]Entry, error) {
	for {
		entries, changed, err := st.take(ctx)
		if entries != nil || err != nil {
			return entries, err
		}
		select {
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

// take takes what can be told now. If there is nothing, changed is closed when there may be.
func (st *Stream) take(ctx context.Context) (entries []Entry, changed <-chan struct{}, err error) {
	r := st.reader
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.ended != nil:
		return nil, nil, r.ended
	case !r.ready:
		return nil, r.changed, nil
	case !st.joined:
		st.joined, st.position = true, r.position
		if st.from != nil {
			st.position = *st.from
		}
		st.join()
	case st.place < r.first:
		st.join() // it is too slow for what the reader keeps, and reads by itself again
	}
	if !st.told && st.from == nil {
		st.told = true
		return []Entry{readyAt(st.position)}, nil, nil
	}
	if !st.told || st.position.Compare(st.target) < 0 {
		r.mu.Unlock()
		defer r.mu.Lock()
		return st.read(ctx)
	}
	for _, entry := range r.recent[st.place-r.first:] {
		if entry.At.Compare(st.position) > 0 {
			entries = append(entries, entry)
		}
	}
	st.place = r.first + uint64(len(r.recent))
	if r.position.Compare(st.position) > 0 {
		st.position = r.position
	}
	return entries, r.changed, nil
}

// join goes on with what the reader will read, behind what the stream reads by itself until there.
func (st *Stream) join() {
	st.place, st.target = st.reader.first+uint64(len(st.reader.recent)), st.reader.position
}

// read reads changes that the reader has read before. Whether those after the first position are known is certain once some were read.
func (st *Stream) read(ctx context.Context) ([]Entry, <-chan struct{}, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	page, err := st.streams.Source.ChangesAfter(ctx, st.reader.tenant, st.position, pageSize)
	if err != nil {
		return nil, nil, err
	}
	var entries []Entry
	if !st.told {
		st.told = true
		entries = append(entries, readyAt(st.position))
	}
	st.position = page.Next
	more := make(chan struct{})
	close(more)
	return append(entries, st.streams.encode(st.reader.tenant, &page)...), more, nil
}

// Position is the one up to which everything was told; false before the stream is ready.
func (st *Stream) Position() (ledger.Position, bool) { return st.position, st.told }
