package streams_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/streams"
)

// source is a sandbox whose changes a test makes.
type source struct {
	mu      sync.Mutex
	from    int64 // from which on changes are noted
	below   int64 // no transaction before it runs
	changes []ledger.Change
	err     error // of each reading
	reads   int   // that were made
	state   int   // of everything that has changed, as it is read
}

func (s *source) WatchChanges(context.Context, int64) (ledger.Position, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ledger.Position{Xact: s.from}, s.err
}

func (s *source) ChangesAfter(_ context.Context, _ int64, after ledger.Position, limit int) (ledger.Changes, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if s.err != nil {
		return ledger.Changes{}, s.err
	}
	if after.Xact < s.from {
		return ledger.Changes{}, ledger.ErrChangesLost
	}
	page := ledger.Changes{Below: s.below, Next: ledger.Position{Xact: s.below}}
	for _, c := range s.changes {
		if c.At.Compare(after) <= 0 || c.At.Xact >= s.below {
			continue
		}
		c.Transaction = &payments.Transaction{Details: payments.Details{Reference: c.Transaction.Reference}, Amount: int64(s.state)}
		if page.Changes = append(page.Changes, c); len(page.Changes) == limit {
			page.More, page.Next = true, c.At
			break
		}
	}
	return page, nil
}

// change makes n changes, and ends their transactions.
func (s *source) change(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		t := &payments.Transaction{Details: payments.Details{Reference: fmt.Sprint(len(s.changes))}}
		s.changes = append(s.changes, ledger.Change{At: ledger.Position{Xact: s.below, Seq: int64(len(s.changes) + 1)}, Transaction: t})
		s.below++
	}
}

func (s *source) made() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.changes)
}

func (s *source) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// open makes the streams of a source. What is told of a change is its reference, with as many bytes as are asked for.
func open(s *source, size int, limits ...int) *streams.Streams {
	o := streams.Options{Source: s, Process: 10, Sandbox: 5, Encode: func(_ int64, c *ledger.Change) (streams.Entry, error) {
		text := fmt.Appendf(nil, "%s %d%*s", c.Transaction.Reference, c.Transaction.Amount, size, "")
		return streams.Entry{At: c.At, Type: "transaction", Text: text}, nil
	},
		Ready: func(at ledger.Position) streams.Entry { return streams.Entry{At: at, Type: "ready"} }}
	if len(limits) == 2 {
		o.Sandbox, o.Process = limits[0], limits[1]
	}
	return streams.New(o)
}

// first is what a stream is told first, or next.
func first(t *testing.T, st *streams.Stream) []streams.Entry {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	entries, err := st.Next(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// told reads a stream until it was told n changes, some of them before.
func told(t *testing.T, st *streams.Stream, n int, before ...string) (references []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for references = before; len(references) < n; {
		entries, err := st.Next(ctx, nil)
		if err != nil {
			t.Fatalf("after %d changes: %v", len(references), err)
		}
		references = append(references, referencesOf(entries)...)
	}
	return references
}

func referencesOf(entries []streams.Entry) (references []string) {
	for _, e := range entries {
		reference, _, _ := strings.Cut(string(e.Text), " ")
		references = append(references, reference)
	}
	return references
}

// ready reads the first entry of a stream, and what comes with it.
func ready(t *testing.T, st *streams.Stream) (at ledger.Position, references []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	entries, err := st.Next(ctx, nil)
	if err != nil || entries[0].Type != "ready" {
		t.Fatalf("the stream begins with %v, %v", entries, err)
	}
	return entries[0].At, referencesOf(entries[1:])
}

func numbers(from, to int) (all []string) {
	for n := from; n < to; n++ {
		all = append(all, fmt.Sprint(n))
	}
	return all
}

// A stream is ready when no transaction runs any more that has not seen the mark.
func TestStreamIsReadyWhenAllHaveSeenTheMark(t *testing.T) {
	t.Parallel()
	s := &source{from: 20, below: 10}
	st := open(s, 0).Follow(1, nil)
	defer st.Close()
	wake := make(chan time.Time, 1)
	wake <- time.Time{}
	if entries, err := st.Next(t.Context(), wake); entries != nil || err != nil {
		t.Errorf("it is told %v, %v", entries, err)
	}
	s.mu.Lock()
	s.below = 20
	s.mu.Unlock()
	if at, _ := ready(t, st); at.Xact != 20 {
		t.Errorf("it is ready at %v", at)
	}
}

// A stream that reads slower than what its reader keeps is told everything all the same, once.
func TestSlowStreamIsToldEverything(t *testing.T) {
	t.Parallel()
	s := &source{from: 5, below: 5}
	all := open(s, 10_000) // of 3000 changes the reader keeps some 200
	fast, slow := all.Follow(1, nil), all.Follow(1, nil)
	defer fast.Close()
	defer slow.Close()
	ready(t, fast)
	ready(t, slow)
	for range 3 {
		s.change(1000)
		told(t, fast, 1000)
	}
	if got := told(t, slow, 3000); !slices.Equal(got, numbers(0, 3000)) {
		t.Errorf("%d were told, which are not all in their order", len(got))
	}
	s.change(1)
	if got := told(t, slow, 1); !slices.Equal(got, []string{"3000"}) {
		t.Errorf("then %q was told", got)
	}
}

// However many streams go on from old positions and do not read, only so many bytes are kept for them, and they share what is read.
func TestSlowStreamsKeepLittle(t *testing.T) {
	t.Parallel()
	const sandboxes, each, changes, size = 10, 100, 600, 4000
	s := &source{from: 5, below: 5}
	s.change(changes)
	all := open(s, size)
	var taken int
	var last []*streams.Stream
	for tenant := range int64(sandboxes) {
		for i := range int64(each) {
			st := all.Follow(tenant, &ledger.Position{Xact: 5 + i})
			defer st.Close()
			entries := first(t, st)
			for _, e := range entries {
				taken += len(e.Text)
			}
			if i == each-1 {
				last = append(last, st)
				told(t, st, changes-each+1, referencesOf(entries[1:])...)
			}
		}
	}
	if kept := all.Kept(); taken+kept > 80<<20 {
		t.Errorf("%d bytes are kept for streams that do not read, and %d are shared by them", taken, kept)
	}
	if one := taken / sandboxes / each; one > 128<<10 {
		t.Errorf("a stream took %d bytes", one)
	}
	s.change(1)
	for _, st := range last {
		if got := told(t, st, 1); !slices.Equal(got, []string{fmt.Sprint(changes)}) {
			t.Errorf("then %q was told", got)
		}
	}
}

// Streams that go on from one position are told what one reading found.
func TestStreamsShareWhatIsReadAgain(t *testing.T) {
	t.Parallel()
	s := &source{from: 5, below: 5}
	s.change(1500)
	all := open(s, 4000)
	live := all.Follow(1, nil)
	defer live.Close()
	ready(t, live)
	s.mu.Lock()
	s.reads = 0
	s.mu.Unlock()
	for range 50 {
		st := all.Follow(1, &ledger.Position{Xact: 5})
		defer st.Close()
		_, told := ready(t, st)
		if len(told) == 0 || told[0] != "0" {
			t.Fatalf("%q is told", told)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads > 25 { // the reader reads too
		t.Errorf("the changes were read %d times for 50 streams", s.reads)
	}
}

// What was read before something was told may be older than that, so it is not told after it.
func TestStreamTellsNoOldStateAfterANewerOne(t *testing.T) {
	t.Parallel()
	s := &source{from: 5, below: 5, state: 1}
	all := open(s, 10_000)
	live := all.Follow(1, nil)
	defer live.Close()
	ready(t, live)
	s.change(1000)
	told(t, live, 1000) // the last 200 are kept
	s.mu.Lock()
	s.state = 2
	s.mu.Unlock()
	st := all.Follow(1, &ledger.Position{Xact: 5})
	defer st.Close()
	for n, state := 0, int64(0); n < 1000; {
		for _, e := range first(t, st) {
			var got int64
			if e.Type == "ready" {
				continue
			}
			if _, err := fmt.Sscanf(string(e.Text), "%d %d", new(int), &got); err != nil || got < state {
				t.Fatalf("change %d is told in the state %d after the state %d: %v", n, got, state, err)
			}
			n, state = n+1, got
		}
	}
}

func TestStreamGoesOnFromAPosition(t *testing.T) {
	t.Parallel()
	s := &source{from: 5, below: 5}
	s.change(10)
	all := open(s, 0)
	for name, c := range map[string]struct {
		from  ledger.Position
		first int // change that is told
	}{
		"behind a change": {ledger.Position{Xact: 7, Seq: 3}, 3},
		"between two":     {ledger.Position{Xact: 9}, 4},
		"from the end":    {ledger.Position{Xact: 15}, 10},
	} {
		st := all.Follow(1, &c.from)
		at, first := ready(t, st)
		if at != c.from {
			t.Errorf("%s: it is ready at %v", name, at)
		}
		s.change(1)
		made := s.made()
		if got := told(t, st, made-c.first, first...); !slices.Equal(got, numbers(c.first, made)) {
			t.Errorf("%s: %q was told", name, got)
		}
		st.Close()
	}
	lost := all.Follow(1, &ledger.Position{Xact: 4})
	defer lost.Close()
	if entries, err := lost.Next(t.Context(), nil); !errors.Is(err, ledger.ErrChangesLost) {
		t.Errorf("behind what is not known: %v, %v", entries, err)
	}
}

// A reader outlives the absence of the database, and ends when changes are lost.
func TestReaderWhoseDatabaseFails(t *testing.T) {
	t.Parallel()
	s := &source{from: 5, below: 5, err: postgres.ErrUnavailable}
	all := open(s, 0)
	st := all.Follow(1, nil)
	defer st.Close()
	if err := st.Marked(t.Context()); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("who opens a stream is told: %v", err)
	}
	s.fail(nil)
	ready(t, st)
	s.fail(postgres.ErrUnavailable)
	s.change(1)
	s.fail(nil)
	told(t, st, 1)
	s.fail(ledger.ErrChangesLost)
	if entries, err := st.Next(t.Context(), nil); !errors.Is(err, ledger.ErrChangesLost) {
		t.Errorf("it is told %v, %v", entries, err)
	}
	s.fail(nil)
	again := all.Follow(1, nil) // by another reader
	defer again.Close()
	ready(t, again)
}

func TestStreamsAreCounted(t *testing.T) {
	t.Parallel()
	all := open(&source{}, 0, 2, 3)
	first, _ := all.Acquire("a", streams.Session{})
	_, reached := all.Acquire("a", streams.Session{})
	if reached != nil {
		t.Fatalf("the second stream: %+v", reached)
	}
	if _, reached := all.Acquire("a", streams.Session{}); reached == nil || reached.Process || reached.Streams != 2 {
		t.Errorf("the third stream of a sandbox: %+v", reached)
	}
	if _, reached := all.Acquire("b", streams.Session{}); reached != nil {
		t.Errorf("the third stream: %+v", reached)
	}
	if _, reached := all.Acquire("c", streams.Session{}); reached == nil || !reached.Process || reached.Streams != 3 {
		t.Errorf("the fourth stream: %+v", reached)
	}
	first()
	if _, reached := all.Acquire("a", streams.Session{}); reached != nil {
		t.Errorf("a stream after another has ended: %+v", reached)
	}
}

// Those who are trusted less leave some streams to those who are trusted more, of the sandbox and of the process, and a
// session has its own limit.
func TestEachLevelKeepsStreams(t *testing.T) {
	t.Parallel()
	all := open(&source{}, 0, 20, 30)
	taken := func(organization string, by streams.Session, tries int) (n int, last *streams.Limit) {
		for range tries {
			release, refused := all.Acquire(organization, by)
			if last = refused; refused != nil {
				continue
			}
			t.Cleanup(release)
			n++
		}
		return n, last
	}
	if n, last := taken("a", streams.Session{ID: "one", Level: streams.Handset, Most: 4}, 5); n != 4 || last == nil || !last.Session {
		t.Errorf("one phone has %d streams, and then %+v", n, last)
	}
	for i, of := range []struct {
		organization string
		level        streams.Level
		want         int
	}{
		{"a", streams.Handset, 6}, {"a", streams.Viewer, 4}, {"a", streams.Full, 3}, {"a", streams.Key, 3},
		{"b", streams.Handset, 5}, {"b", streams.Viewer, 2}, {"b", streams.Full, 1}, {"b", streams.Key, 2},
	} {
		by := streams.Session{ID: fmt.Sprint(i), Level: of.level, Most: 100}
		if n, last := taken(of.organization, by, 50); n != of.want || last.Session {
			t.Errorf("level %d of %s has %d streams, want %d, and then %+v", of.level, of.organization, n, of.want, last)
		}
	}
}
