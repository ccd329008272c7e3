package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// script is an API whose streams and lists a test writes.
type script struct {
	t     *testing.T
	mutex sync.Mutex
	now   string
	// connections are what the streams send, one after the other; a text is an entry, one that begins with a digit an answer without a stream.
	connections [][]string
	resumed     []string // the Last-Event-ID of each connection
	lists       map[string]string
	since       []string // created_after of each list that was read
	begin       string   // time from which changes are told; empty: the start
}

// noon is the sandbox time at which a test begins to follow.
const noon = "2026-05-31T12:00:00.000Z"

func (s *script) serve(w http.ResponseWriter, r *http.Request) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch path := strings.TrimPrefix(r.URL.Path, "/api/v1"); {
	case path == "/clock":
		fmt.Fprintf(w, `{"mode":"Real","now":%q,"due":{}}`, s.now)
	case path == "/stream":
		s.stream(w, r)
	case s.lists[path] != "":
		if after := r.URL.Query(); after.Has("limit") {
			s.since = append(s.since, after.Get("created_after"))
		}
		_, _ = io.WriteString(w, s.lists[path])
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"not_found","message":"nothing"}`)
	}
}

func (s *script) stream(w http.ResponseWriter, r *http.Request) {
	s.resumed = append(s.resumed, r.Header.Get("Last-Event-ID"))
	if len(s.connections) == 0 {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":"unauthorized","message":"the end of the test"}`)
		return
	}
	next := s.connections[0]
	s.connections = s.connections[1:]
	if status := 0; len(next) == 1 {
		if n, _ := fmt.Sscanf(next[0], "%d", &status); n == 1 {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":"suspended","message":"wait"}`)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = io.WriteString(w, "retry: 1000\n\n"+strings.Join(next, ""))
}

// follow tells what a stream of the script tells, and what the user is told about the connection, until the script ends.
func (s *script) follow(types ...string) (told, said []string) {
	s.t.Helper()
	s.t.Parallel()
	if s.now == "" {
		s.now = noon
	}
	url := serverOf(s.t, s.serve)
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	from := &stream{api: sandboxapi.New(url, "k", nil), types: types, ready: func() { say("begun") }, say: say, retry: time.Millisecond,
		since: moment(s.begin), faults: faultChanges{now: time.Now}}
	err := from.Follow(s.t.Context(), func(c change) error {
		text := c.Type
		switch {
		case c.Attempt != nil:
			text += fmt.Sprint(" ", c.Event.ID, " ", c.Attempt.Number)
		case c.Event != nil:
			text += " " + c.Event.ID + " " + c.Event.State
		case c.Transaction != nil:
			text += " " + c.Transaction.ID + " " + c.Transaction.Status
		}
		told = append(told, text)
		return nil
	})
	if ExitCode(err) != ExitRefused {
		s.t.Errorf("it ended with %v", err)
	}
	return told, said
}

// entry is one of a stream.
func entry(id string, e sandboxapi.Entry) string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", id, e.Type, text)
}

func ready(id string) string { return entry(id, sandboxapi.Entry{Type: sandboxapi.EntryReady}) }
func reset(id string) string { return entry(id, sandboxapi.Entry{Type: sandboxapi.EntryReset}) }

// paid is a payment of a time: pending, or final at this time.
func paid(id, status, at string) wire.Payment {
	p := wire.Payment{ID: id, Type: "collection", Status: status, CreatedAt: at}
	if status != "PENDING" {
		p.CompletedAt = &at
	}
	return p
}

func transactionEntry(id string, p wire.Payment) string {
	return entry(id, sandboxapi.Entry{Type: typeTransaction, Transaction: &p})
}

func summary(id, state string, attempts int, at string) wire.EventSummary {
	return wire.EventSummary{ID: id, TxID: strings.Replace(id, "evt", "TX", 1), Event: "payment.completed", Status: "SUCCESS", State: state,
		AttemptCount: attempts, CreatedAt: at}
}

func eventEntry(id string, e wire.EventSummary) string {
	return entry(id, sandboxapi.Entry{Type: typeEvent, Event: &e})
}

func attemptEntry(id string, e wire.EventSummary, at string) string {
	return entry(id, sandboxapi.Entry{Type: typeAttempt, Event: &e, Attempt: &wire.DeliveryAttempt{Number: e.AttemptCount, StartedAt: at}})
}

func listOf[T any](of ...T) string {
	text, err := json.Marshal(map[string]any{"data": of, "nextCursor": nil, "hasMore": false})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func wantAll(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A connection that is lost is continued where it ended, and what comes twice is told once.
func TestStreamGoesOnWhereItEnded(t *testing.T) {
	queued, delivered := summary("evt_1", "queued", 0, noon), summary("evt_1", "delivered", 2, noon)
	first := summary("evt_1", "queued", 1, noon)
	s := &script{t: t, connections: [][]string{
		{ready("1-0"), transactionEntry("1-1", paid("TX_1", "PENDING", noon)), transactionEntry("1-2", paid("TX_1", "SUCCESS", noon)), "data: {\"ty"},
		{"503"},
		{": heartbeat\nid: 1-3\n\n"},
		{ready("1-4"), transactionEntry("1-5", paid("TX_1", "SUCCESS", noon)), eventEntry("2-0", queued), eventEntry("2-1", first),
			attemptEntry("2-2", first, noon)},
		{ready("2-3"), attemptEntry("2-4", first, noon), eventEntry("3-0", delivered), attemptEntry("3-1", delivered, noon),
			"event: new\ndata: {\"type\":\"new\"}\n\n", entry("3-3", sandboxapi.Entry{Type: typeEvent, Event: new(summary("evt_1", "queued", 2, noon)), Resent: true})},
	}}
	told, said := s.follow(allTypes...)
	wantAll(t, "told", told, []string{"transaction TX_1 PENDING", "transaction TX_1 SUCCESS", "event evt_1 queued", "attempt evt_1 1",
		"attempt evt_1 2", "event evt_1 queued"})
	wantAll(t, "resumed at", s.resumed, []string{"", "1-2", "1-2", "1-3", "2-2", "3-3"})
	if len(said) != 6 || said[0] != "begun" || !strings.Contains(said[1], "lost") || !strings.Contains(said[2], "Connected again") {
		t.Errorf("said %q", said)
	}
}

// What changed while the connection was away for too long is read from the lists, and told once.
func TestStreamMissesNothing(t *testing.T) {
	missed := summary("evt_2", "delivered", 2, "2026-05-31T12:10:00.000Z")
	detail, err := json.Marshal(wire.EventDetail{EventSummary: missed, Attempts: []wire.DeliveryAttempt{
		{Number: 1, StartedAt: "2026-05-31T12:10:01.000Z"}, {Number: 2, StartedAt: "2026-05-31T12:10:02.000Z"}}})
	if err != nil {
		t.Fatal(err)
	}
	waited := summary("evt_1", "failed", 2, noon)
	waitedDetail, err := json.Marshal(wire.EventDetail{EventSummary: waited, Attempts: []wire.DeliveryAttempt{
		{Number: 1, StartedAt: noon}, {Number: 2, StartedAt: "2026-05-31T12:10:02.000Z"}}})
	if err != nil {
		t.Fatal(err)
	}
	old, err := json.Marshal(paid("TX_2", "SUCCESS", "2026-05-31T12:10:00.000Z"))
	if err != nil {
		t.Fatal(err)
	}
	queued := summary("evt_1", "queued", 1, noon)
	s := &script{t: t, connections: [][]string{
		{ready("1-0"), transactionEntry("1-1", paid("TX_1", "SUCCESS", noon)), eventEntry("1-2", queued), attemptEntry("1-3", queued, noon)},
		{reset("5-0"), ready("5-1"), eventEntry("5-2", missed)},
	}, lists: map[string]string{
		"/payments":      listOf(paid("TX_3", "PENDING", "2026-05-31T12:11:00.000Z"), paid("TX_1", "SUCCESS", noon)),
		"/events":        listOf(missed),
		"/payments/TX_2": string(old), // it was pending for long: it is older than the list
		"/events/evt_2":  string(detail),
		"/events/evt_1":  string(waitedDetail),
	}}
	told, _ := s.follow(allTypes...)
	wantAll(t, "told", told, []string{"transaction TX_1 SUCCESS", "event evt_1 queued", "attempt evt_1 1",
		"transaction TX_3 PENDING", "transaction TX_2 SUCCESS", "event evt_2 delivered", "attempt evt_2 1", "attempt evt_2 2", "attempt evt_1 2"})
	wantAll(t, "read from", s.since, []string{"2026-05-31T11:59:59.999Z", "2026-05-31T11:59:59.999Z"})
}

// listen asks for events only.
func TestStreamOfEventsOnly(t *testing.T) {
	s := &script{t: t, connections: [][]string{{ready("1-0"), reset("2-0"), ready("2-1")}}, lists: map[string]string{
		"/events": listOf(summary("evt_2", "recorded", 0, noon), summary("evt_1", "queued", 3, noon)),
	}}
	told, _ := s.follow(typeEvent)
	wantAll(t, "told", told, []string{"event evt_1 queued", "event evt_2 recorded"})
}

// With a time, what happened since then is told first, the oldest first, and once.
func TestStreamSinceATime(t *testing.T) {
	const since, before = "2026-05-31T11:00:00.000Z", "2026-05-31T10:59:59.999Z"
	s := &script{t: t, begin: since, connections: [][]string{{ready("1-0"), eventEntry("1-1", summary("evt_2", "delivered", 1, noon)),
		eventEntry("1-2", summary("evt_0", "failed", 1, before)),
		entry("1-3", sandboxapi.Entry{Type: typeEvent, Event: new(summary("evt_0", "failed", 1, before)), Resent: true}),
	}}, lists: map[string]string{"/events": listOf(summary("evt_2", "queued", 0, noon), summary("evt_1", "recorded", 0, since))}}
	told, said := s.follow(typeEvent)
	wantAll(t, "told", told, []string{"event evt_1 recorded", "event evt_2 queued", "event evt_0 failed"})
	wantAll(t, "read from", s.since, []string{"2026-05-31T10:59:59.999Z"})
	if said[0] != "begun" {
		t.Errorf("said %q", said)
	}
}

// A reset may put the clock back: what is there afterwards is new, however old it looks.
func TestStreamAfterAResetOfTheClock(t *testing.T) {
	const before = "2026-05-30T12:00:00.000Z"
	s := &script{t: t, lists: map[string]string{
		"/payments": listOf(paid("TX_1", "SUCCESS", before)), "/events": listOf(summary("evt_1", "recorded", 0, before)),
	}}
	s.connections = [][]string{{transactionEntry("1-1", paid("TX_0", "SUCCESS", "2026-05-31T13:00:00.000Z")), reset("2-0"), ready("2-1")}}
	told, _ := s.follow(allTypes...)
	wantAll(t, "told", told, []string{"transaction TX_0 SUCCESS", "transaction TX_1 SUCCESS", "event evt_1 recorded"})
	wantAll(t, "read from", s.since, []string{"", ""})
}

// What was there before is not told again when something of it changes. What happens to it now is.
func TestStreamOfWhatIsOlder(t *testing.T) {
	const before, later = "2026-05-31T11:59:59.999Z", "2026-05-31T12:00:01.000Z"
	old := summary("evt_1", "queued", 4, before)
	s := &script{t: t, connections: [][]string{{ready("1-0"), transactionEntry("1-1", paid("TX_1", "SUCCESS", before)), eventEntry("1-2", old),
		attemptEntry("1-3", old, later), transactionEntry("1-4", paid("TX_2", "SUCCESS", later))}}}
	told, _ := s.follow(allTypes...)
	wantAll(t, "told", told, []string{"attempt evt_1 4", "transaction TX_2 SUCCESS"})
}

func TestServicesThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	stream := serverOf(t, func(w http.ResponseWriter, r *http.Request) { // whose stream is none
		fmt.Fprintf(w, `{"capabilities":["stream"],"now":%q}`, noon)
	})
	run(t, Options{}, "tail", "--url="+stream, "--api-key=k").want(t, ExitRefused, "is another service at this address?")
	run(t, Options{}, "tail", "--url=http://127.0.0.1:1", "--api-key=k").want(t, ExitUnavailable, "cannot be reached")
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	t.Parallel()
	var m seenProgress
	for i := range 3 * remembered {
		m.set(fmt.Sprint(i), progress{state: eventQueued, attempts: i})
	}
	m.set(fmt.Sprint(3*remembered-1), progress{state: "delivered"})
	if m.of("0").state != "" || m.of(fmt.Sprint(2*remembered)).attempts != 2*remembered || len(m.in("delivered")) != 1 {
		t.Errorf("%d and %d are remembered", len(m.recent), len(m.older))
	}
}

// toldBy are changes that a function tells.
type toldBy func(ctx context.Context, tell func(change) error) error

func (f toldBy) Follow(ctx context.Context, tell func(change) error) error { return f(ctx, tell) }

func TestTailEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	waits := toldBy(func(ctx context.Context, _ func(change) error) error { <-ctx.Done(); return ctx.Err() })
	fails := toldBy(func(_ context.Context, tell func(change) error) error { return tell(change{}) })
	if err := tail(t.Context(), []changes{waits, fails}, nil, func(change) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if err := tail(ctx, []changes{waits, waits}, nil, nil); err != nil {
		t.Errorf("Ctrl-C: %v", err)
	}
}
