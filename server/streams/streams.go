// Package streams sends the changes of sandboxes to the clients that follow them in this process. One reader of each
// sandbox serves all of its streams.
//
// What a stream promises to its client:
//
//   - Nothing is missed. The first entry is `ready`. Each later change is sent at least once, so a client that reads
//     its lists after `ready` knows everything. A stream that resumes may repeat entries.
//   - Order. The changes of one transaction, event, balance or clock are sent in their order.
//   - An entry shows a row in its state when the reader reads it, not in its state after the change. So two changes
//     may be sent as one, and a client may miss a state that did not last.
//   - Resuming. A client that sends the id of its last entry gets what follows it, for some minutes, see below.
//   - `reset` means that the changes since the last entry are not known, because the client came back too late, or that
//     the sandbox was reset. `ready` follows, and the client reads its lists again after it.
//
// How long a client can resume depends on two times. Changes are noted only until the mark of a followed sandbox ends
// ([ledger.Ledger.WatchChanges]). Readers check the mark once a minute. If at most six minutes are left, they renew the
// mark for ten minutes. So at least five minutes are left when the last stream of a sandbox ends. The SQL function
// follow_sandbox treats a mark with less than a minute left as ended. So a client has four minutes, which the API's
// description names. If other streams follow the sandbox meanwhile, the mark does not end. Then the worker sets the
// limit: it removes changes after ten minutes.
package streams

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
)

// Source reads changes. [ledger.Ledger] implements it.
type Source interface {
	WatchChanges(ctx context.Context, tenant int64) (ledger.Position, error)
	ChangesAfter(ctx context.Context, tenant int64, after ledger.Position, limit int) (ledger.Changes, error)
}

// Entry is one change, or says that the stream is ready.
type Entry struct {
	At   ledger.Position
	Type string
	// MSISDN is the number of the transaction or the SIM; empty: the change is about neither.
	MSISDN string
	Ready  bool   // the entry says that the stream is ready
	Text   []byte // the bytes that a stream sends; read-only

	begun, ended uint64 // numbers of the reading's begin and end, see reader.count
}

func (e *Entry) size() int { return len(e.Text) + entrySize }

// Options are the settings of [Streams].
type Options struct {
	Source   Source
	Encode   func(tenant int64, c *ledger.Change) (Entry, error)
	Ready    func(at ledger.Position) Entry // makes the first entry: the stream misses nothing after this position
	Process  int                            // maximum number of open streams of the process
	Sandbox  int                            // maximum number of open streams of one sandbox
	Draining <-chan struct{}                // is closed when the process is told to stop; nil: never
}

// Streams holds the streams of a process and their readers. It is safe for concurrent use.
type Streams struct {
	Options

	holders *holders
	mu      sync.Mutex
	readers map[int64]*reader
	// following is the number of streams that have a reader.
	following int
}

// New returns the streams of a process, none of them open.
func New(o Options) *Streams {
	return &Streams{Options: o, holders: newHolders(), readers: map[int64]*reader{}}
}

// share returns how many bytes of entries one reader may keep, see maxRecent.
func (s *Streams) share() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return min(maxRecent, maxRecentOfAll/max(1, len(s.readers)))
}

// most returns how many bytes of entries a stream may take at once. A stream whose client does not read holds them in
// memory.
func (s *Streams) most() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(minTaken, min(pageBytes, maxTakenOfAll/max(1, s.following)))
}

// ErrDraining is returned by [Stream.Next] when the process is told to stop.
var ErrDraining = errors.New("the process is told to stop")

// Stream sends the changes of one tenant to one client. The caller must close it.
type Stream struct {
	streams  *Streams
	reader   *reader
	resumes  bool            // the stream begins at a given position, not at the present
	begun    bool            // the ready entry was taken
	position ledger.Position // all entries up to this position were taken
	seen     uint64          // number of the end of the last reading taken from; earlier readings may have older states
}

// Follow begins a stream of a tenant's changes after the position from. If from is nil, it begins at the present.
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

// Close ends a stream. The last stream of a sandbox ends the sandbox's reader too.
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

// forget removes a reader from the table, so that the next stream of its tenant starts a new one. s.mu is locked.
func (s *Streams) forget(r *reader) {
	if s.readers[r.tenant] == r {
		delete(s.readers, r.tenant)
	}
}

// Marked waits until the sandbox is marked as followed. It returns the error that prevents the mark, or ctx's error.
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

// Next waits for the next entries. The first entry of a stream is its ready entry; the changes after its position
// follow. Next returns nil and no error when it receives from wake, ctx's error when ctx ends, and [ErrDraining] when
// the process is told to stop.
//
// It returns [ledger.ErrChangesLost] if the changes after the stream's position are not known, and
// [postgres.ErrConfigChanged] if the sandbox was reset or deleted: the caller then closes the stream. After
// [postgres.ErrUnavailable] the caller may call Next again.
func (st *Stream) Next(ctx context.Context, wake <-chan time.Time) ([]Entry, error) {
	for {
		entries, changed, err := st.nextEntries()
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

// nextEntries returns the entries that the reader keeps after the stream's position. If it returns no entries and no error,
// the reader closes the channel changed when it may have new entries. A nil channel means that the stream has to call
// readAgain.
func (st *Stream) nextEntries() (entries []Entry, changed <-chan struct{}, err error) {
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
		if entries = st.readFrom(&r.recent, most); entries == nil {
			changed = r.changed
		}
		return entries, changed, nil
	}
	if st.begun && st.position.Compare(r.recent.next) > 0 {
		return nil, r.changed, nil // the stream has read further than the reader
	}
	for i := len(r.again) - 1; i >= 0 && entries == nil; i-- {
		if r.again[i].covers(st.position, st.seen) {
			entries = st.readFrom(&r.again[i], most)
		}
	}
	return entries, nil, nil
}

// readFrom returns the entries of a page after the stream's position, nil if there are none, and moves the position. At
// a stream's first call it puts the ready entry before them.
func (st *Stream) readFrom(p *page, most int) (entries []Entry) {
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

// readAgain reads the page after the stream's position from the database, since the reader no longer keeps it, unless
// another stream has read it in the meantime.
func (st *Stream) readAgain(ctx context.Context) ([]Entry, error) {
	if entries, changed, err := st.nextEntries(); entries != nil || changed != nil || err != nil {
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
	return st.readFrom(&p, most), nil
}

// Position returns the position up to which all entries were taken. It returns false before the stream is ready.
func (st *Stream) Position() (ledger.Position, bool) { return st.position, st.begun }
