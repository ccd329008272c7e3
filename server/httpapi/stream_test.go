package httpapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpserver"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// listening is an open stream.
type listening struct {
	t      *testing.T
	answer *http.Response
	blocks chan streamBlock // closed when the stream ends
	last   string           // id
}

// streamBlock is one server-sent event.
type streamBlock struct {
	id, event string
	comment   bool
	data      object
}

// listen opens a stream, after the id of an earlier one if that is not empty, and waits until it is ready.
func (f *fixture) listen(query, after string, change ...func(*http.Request)) *listening {
	f.t.Helper()
	l := f.open(query, after, change...)
	l.want("ready")
	return l
}

// open opens a stream.
func (f *fixture) open(query, after string, change ...func(*http.Request)) *listening {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+"/v1/stream"+query, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	for _, each := range change {
		each(r)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		text, _ := io.ReadAll(answer.Body)
		f.t.Fatalf("the stream answered %d %s: %s", answer.StatusCode, answer.Header.Get("Content-Type"), text)
	}
	l := &listening{t: f.t, answer: answer, blocks: make(chan streamBlock, 10_000)}
	f.t.Cleanup(l.close)
	go func() {
		defer close(l.blocks)
		readBlocks(answer.Body, func(b streamBlock) { l.blocks <- b })
	}()
	return l
}

// readBlocks reads server-sent events until the stream ends.
func readBlocks(from io.Reader, use func(streamBlock)) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 1<<20)
	var b streamBlock
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "":
			if b.id != "" || b.event != "" || b.comment {
				use(b)
			}
			b = streamBlock{}
		case name == "":
			b.comment = true
		case name == "id":
			b.id = value
		case name == "event":
			b.event = value
		case name == "data":
			_ = json.Unmarshal([]byte(value), &b.data)
		}
	}
}

// next is the next entry.
func (l *listening) next() streamBlock {
	l.t.Helper()
	for {
		select {
		case b, open := <-l.blocks:
			if !open {
				l.t.Fatal("the stream has ended")
			}
			if b.id != "" {
				l.last = b.id
			}
			if b.comment {
				continue
			}
			if b.event == "" || b.data["type"] != b.event {
				l.t.Fatalf("the entry is %+v", b)
			}
			return b
		case <-time.After(time.Minute):
			l.t.Fatal("nothing was told for a minute")
		}
	}
}

// want reads entries until one is told of a type that fulfills a condition.
func (l *listening) want(event string, so ...func(object) bool) streamBlock {
	l.t.Helper()
	for {
		b := l.next()
		if b.event == event && !slices.ContainsFunc(so, func(f func(object) bool) bool { return !f(b.data) }) {
			return b
		}
	}
}

// all reads entries until each condition was fulfilled by one of a type, and returns these.
func (l *listening) all(wanted map[string]func(object) bool) map[string]object {
	l.t.Helper()
	found := map[string]object{}
	for len(found) < len(wanted) {
		if b := l.next(); wanted[b.event] != nil && wanted[b.event](b.data) {
			found[b.event] = b.data
		}
	}
	return found
}

func (l *listening) close() { _ = l.answer.Body.Close() }

// ends waits for the end of the stream.
func (l *listening) ends() {
	l.t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case _, open := <-l.blocks:
			if !open {
				return
			}
		case <-timeout:
			l.t.Fatal("the stream has not ended for a minute")
		}
	}
}

// of is a condition on a field of an entry, by its path.
func of(path string, want any) func(object) bool {
	return func(data object) bool {
		var value any = data
		for name := range strings.SplitSeq(path, ".") {
			o, _ := value.(object)
			value = o[name]
		}
		return fmt.Sprint(value) == fmt.Sprint(want)
	}
}

func TestStreamTellsWhatChanges(t *testing.T) {
	f := newFixture(t)
	f.client("alice", alice, 50_000)
	l := f.listen("", "")
	if got := l.answer.Header; got.Get("Cache-Control") != "no-store" || got.Get("X-Accel-Buffering") != "no" {
		t.Errorf("the headers are %v", got)
	}
	created := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"}))
	id := created.body["id"]
	told := l.all(map[string]func(object) bool{
		"transaction": of("transaction.id", id), "event": of("event.txId", id), "balance": of("balance.balance", 1985),
	})
	if diff := cmp.Diff(f.call("GET", fmt.Sprintf("/v1/payments/%s", id), nil).body, told["transaction"]["transaction"]); diff != "" {
		t.Errorf("the transaction is told as (-read +told):\n%s", diff)
	}
	listed := f.call("GET", "/v1/events", nil).body["data"].([]any)[0]
	if diff := cmp.Diff(listed, told["event"]["event"]); diff != "" {
		t.Errorf("the event is told as (-listed +told):\n%s", diff)
	}
	if diff := cmp.Diff(any(object{"currency": "RWF", "balance": 1985.0}), told["balance"]["balance"]); diff != "" {
		t.Errorf("the balance is told as (-want +told):\n%s", diff)
	}
	f.call("POST", "/v1/clock/advance", object{"by": "1h", "wait": "0s"})
	l.want("clock", of("clock.mode", "Real"))
}

// A stream that goes on misses nothing of what happened meanwhile, and is told again at most what it was told.
func TestStreamGoesOn(t *testing.T) {
	f := newFixture(t)
	first := f.listen("?types=transaction", "")
	made := map[any]bool{}
	pay := func(n int) {
		for range n {
			made[f.call("POST", "/v1/payments", payment(fmt.Sprint("r", len(made)), object{"scenario": "success"})).body["id"]] = true
		}
	}
	pay(3)
	told := map[any]bool{}
	tell := func(l *listening, n int) {
		t.Helper()
		for len(told) < n {
			told[l.want("transaction").data["transaction"].(object)["id"]] = true
		}
	}
	tell(first, 2)
	first.close()
	pay(5)
	second := f.listen("?types=transaction", first.last)
	tell(second, len(made))
	pay(1)
	tell(second, len(made))
	if diff := cmp.Diff(made, told); diff != "" {
		t.Errorf("-made +told:\n%s", diff)
	}
}

func TestStreamRefusesWhatCannotBeMeant(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct{ query, after, want string }{
		"an unknown type": {"?types=transaction,payment", "", "must be some of transaction, event, attempt, clock, balance, faults, with commas between them"},
		"an empty type":   {"?types=", "", "must be some of transaction, event, attempt, clock, balance, faults, with commas between them"},
		"a wrong id":      {"", "yesterday", "must be the id of an entry of this stream, like 748812-17; leave the header out to begin from now"},
		"half an id":      {"", "748812", "must be the id of an entry of this stream, like 748812-17; leave the header out to begin from now"},
	} {
		got := f.call("GET", "/v1/stream"+c.query, nil, func(r *http.Request) { r.Header.Set("Last-Event-ID", c.after) })
		if got.status != http.StatusBadRequest || got.body["error"] != "invalid_params" || !strings.Contains(got.raw, c.want) {
			t.Errorf("%s is answered %d: %s", name, got.status, got.raw)
		}
	}
}

// An id of which nothing is known any more is answered by one reset: it is too old, of before a reset, or of another database.
func TestStreamBeginsAnew(t *testing.T) {
	f := newFixture(t)
	f.allow()
	l := f.listen("", "")
	id := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"]
	l.want("transaction", of("transaction.id", id))
	before := l.last
	for _, after := range []string{"1-1", "999999999999-1"} {
		again := f.open("", after)
		if b := again.next(); b.event != "reset" || b.id != "" {
			t.Errorf("after %s comes %+v", after, b)
		}
		if b := again.next(); b.event != "ready" || b.id == "" {
			t.Errorf("after the reset comes %+v", b)
		}
		again.close()
	}

	if got := f.call("POST", "/v1/reset", nil); got.status != http.StatusOK {
		t.Fatalf("the reset was answered %d: %s", got.status, got.raw)
	}
	l.want("reset")
	l.want("ready")
	id = f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"]
	l.want("transaction", of("transaction.id", id))
	again := f.open("", before)
	if b := again.next(); b.event != "reset" {
		t.Errorf("after an id of before the reset comes %+v", b)
	}
	again.want("ready")
	goesOn := f.open("", l.last)
	if b := goesOn.next(); b.event != "ready" || b.id != l.last {
		t.Errorf("after an id of after the reset comes %+v", b)
	}

	// Nobody listened for a while.
	for _, open := range []*listening{l, again, goesOn} {
		open.close()
	}
	f.exec("update organizations set followed_until = now() - interval '1 second'")
	ledgertest.Eventually(t, func() bool { // the server has noticed that all streams are closed
		late := f.open("", l.last)
		defer late.close()
		return late.next().event == "reset"
	})
}

// A stream shows no other sandbox's changes.
func TestStreamsAreApart(t *testing.T) {
	f := newFixture(t)
	mine, others := f.listen("", ""), f.listen("", "", withKey(otherKey))
	mineID := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})).body["id"]
	otherID := f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"}), withKey(otherKey)).body["id"]
	f.call("POST", "/v1/payments", payment("r2", object{"scenario": "blocked"}))
	f.call("POST", "/v1/payments", payment("r2", object{"scenario": "blocked"}), withKey(otherKey))
	for _, c := range []struct {
		l           *listening
		own, others any
	}{{mine, mineID, otherID}, {others, otherID, mineID}} {
		seen := false
		for {
			b := c.l.next()
			text, _ := json.Marshal(b.data)
			if strings.Contains(string(text), c.others.(string)) {
				t.Fatalf("a stream is told of another sandbox: %s", text)
			}
			seen = seen || of("transaction.id", c.own)(b.data)
			if b.event == "transaction" && of("transaction.reference", "r2")(b.data) {
				break
			}
		}
		if !seen {
			t.Error("the own payment was not told")
		}
	}
}

func TestStreamEndsWithItsKey(t *testing.T) {
	f := newFixture(t)
	rotated := f.listen("", "")
	f.sandbox(f.config, "cauri_sk_test_new")
	f.exec("update api_keys set expires_at = now() where hash = sha256(convert_to($1, 'UTF8'))", key)
	f.exec("update config_version set version = version + 1")
	f.exec("update organizations set version = (select version from config_version)")
	f.call("GET", "/v1/payments", nil, withKey("cauri_sk_test_new"))
	rotated.ends()

	suspended := f.listen("", "", withKey(otherKey))
	other := f.config
	other.UID, other.Name, other.Suspended = "22222222-2222-2222-2222-222222222222", "other", true
	f.sandbox(other, otherKey)
	f.call("GET", "/v1/payments", nil, withKey("cauri_sk_test_nobodys")) // which reads the configuration
	suspended.ends()
}

func TestStreamsEndWhenTheProcessStops(t *testing.T) {
	f := newFixture(t)
	l := f.listen("", "")
	close(f.release)
	l.ends()
}

func TestStreamsAreLimited(t *testing.T) {
	f := newFixture(t)
	var open []*listening
	for range 100 {
		open = append(open, f.open("", ""))
	}
	got := f.call("GET", "/v1/stream", nil)
	if got.status != http.StatusTooManyRequests || got.body["error"] != "too_many_streams" || got.header.Get("Retry-After") == "" {
		t.Fatalf("the next one is answered %d: %s", got.status, got.raw)
	}
	f.listen("", "", withKey(otherKey)) // another sandbox has its own
	for _, l := range open {
		l.close()
	}
	ledgertest.Eventually(t, func() bool {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/v1/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
}

// One who does not read what was told is cut off: nothing is kept for him.
func TestStreamThatNobodyReadsIsCutOff(t *testing.T) {
	f := newFixture(t)
	registry := prometheus.NewRegistry()
	f.serve(func(o *fronts.Options) {
		o.Metrics = telemetry.NewAPI(registry)
		o.StreamWrite = 2 * time.Second // a slow machine writes the first entry within it
		f.url = listen(t, fronts.New(*o), httpserver.Default)
	})
	f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"}))
	conn := f.dial()
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, "GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+key+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	ledgertest.Eventually(t, func() bool { return valueOf(t, registry, "cauri_api_stream_entries_total") > 0 })
	ledgertest.Eventually(t, func() bool { // more than the sockets hold
		f.exec(`insert into transactions select (jsonb_populate_record(t, jsonb_build_object(
				'id', gen_random_uuid(), 'reference', gen_random_uuid(), 'description', repeat('x', 5000)))).*
			from transactions t, generate_series(1, 500) where reference = 'r1'`)
		return valueOf(t, registry, "cauri_api_streams_cut_off_total") == 1
	})
	ledgertest.Eventually(t, func() bool { return valueOf(t, registry, "cauri_api_streams") == 0 })
}

// valueOf is the value of a metric without labels.
func valueOf(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			return family.Metric[0].GetGauge().GetValue() + family.Metric[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}
