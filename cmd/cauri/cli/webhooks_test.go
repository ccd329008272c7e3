package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func serverOf(t *testing.T, handler http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// lockedBuffer is written and read at the same time.
type lockedBuffer struct {
	mutex   sync.Mutex
	written bytes.Buffer // not embedded: its WriteString would be called without the mutex
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.written.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.written.String()
}

// eventually fails the test unless something becomes true. The limit guards against hanging only.
func eventually(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

// What happens in a sandbox behind the real handlers, before and after a reset.
func TestTailPrintsUntilItIsEnded(t *testing.T) {
	f := newFixture(t)
	refreshed := until(t, func(ctx context.Context) error { f.directory.Run(ctx, 10*time.Millisecond); return nil })
	defer func() { _ = refreshed() }()
	f.run("pay", "--scenario=success", "--reference=before")
	p := &program{now: time.Now, poll: 10 * time.Millisecond}
	var out lockedBuffer
	var said lockedBuffer
	ready := make(chan struct{})
	from := p.newChanges(f.api, allTypes, func() { close(ready) }, printerTo(&said))
	stop := until(t, func(ctx context.Context) error {
		clock, err := p.readTime(ctx, f.api)
		if err != nil {
			return err
		}
		return tail(ctx, []changes{from}, clock, func(c change) error { printLine(&out, c.time(clock), c.line(clock)); return nil })
	})
	eventually(t, "the beginning", func() bool {
		select {
		case <-ready:
			return true
		default:
			return false
		}
	})
	printed := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			eventually(t, text, func() bool { return strings.Contains(out.text(), text) })
		}
	}
	pending := strings.TrimSpace(f.run("pay", "--msisdn="+manual, "--reference=tailed", "--wait=false", "-o", "name").out)
	printed(pending + "   PENDING")
	f.run("approve", manual)
	printed(pending+"   SUCCESS", "payment.completed       evt_"+strings.TrimPrefix(pending, "TX_")+"  SUCCESS, recorded")
	f.run("reset")
	id := strings.TrimSpace(f.run("pay", "--scenario=blocked", "--reference=tailed", "-o", "name").out)
	printed(id+"   ACCOUNT_BLOCKED", "evt_"+strings.TrimPrefix(id, "TX_")+"  ACCOUNT_BLOCKED, recorded")
	if err := stop(); err != nil {
		t.Error(err)
	}
	for line, want := range map[string]int{"before": 0, pending: 2, id: 1, "payment.completed": 2} {
		if got := strings.Count(out.text(), line); got != want {
			t.Errorf("%s is on %d lines, want %d:\n%s", line, got, want, out.text())
		}
	}
}

// The program gets what the sandbox would send it: the stored body, signed in both ways with the sandbox's secret.
func TestForwardingToTheCallersProgram(t *testing.T) {
	f := newFixture(t)
	var header http.Header
	var body []byte
	program := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header.Clone()
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusTeapot)
	})
	id := strings.TrimSpace(f.run("pay", "--scenario=success", "-o", "name").out)
	id = "evt_" + strings.TrimPrefix(id, "TX_")
	var out bytes.Buffer
	forward := &forwarder{api: f.api, url: program + "/hooks", secret: testSecret, out: &out, at: time.Now,
		sender: webhooks.NewSender(egress.Guard{AllowLoopback: true}, "v1.2.3", time.Now)}
	if err := forward.forward(t.Context(), &wire.EventSummary{ID: id}); err != nil {
		t.Fatal(err)
	}
	if err := webhooks.Verify(header, body, testSecret, time.Now()); err != nil {
		t.Error(err)
	}
	if header.Get(webhooks.HeaderDelivery) != id || !strings.Contains(out.String(), "answered 418") {
		t.Errorf("%s was delivered, and printed: %s", header.Get(webhooks.HeaderDelivery), out.String())
	}
	body = nil
	forward.pressed(t.Context(), 'x')
	if body != nil {
		t.Error("each key sends the event again")
	}
	forward.pressed(t.Context(), 'r')
	if err := webhooks.Verify(header, body, testSecret, time.Now()); err != nil {
		t.Errorf("sent again: %v", err)
	}
	body = nil
	if err := forward.forward(t.Context(), &wire.EventSummary{ID: id, Event: payments.CallbackEvent}); err != nil || body != nil {
		t.Errorf("a callback of an operator's own API is forwarded: %s, %v", body, err)
	}
	if after, err := f.api.Event(t.Context(), id); err != nil || after.State != "recorded" || after.AttemptCount != 0 {
		t.Errorf("forwarding changed the event: %+v, %v", after, err)
	}
	if err := forward.forward(t.Context(), &wire.EventSummary{ID: "evt_" + strings.Repeat("0", 26)}); err != nil {
		t.Errorf("an event that a reset removed: %v", err)
	}
}

// Without a webhook URL, a program gets the events of before with --since, and an event again that is resent, as often as it is.
func TestResendReachesTheForwarder(t *testing.T) {
	f := newFixture(t)
	pay := func() string {
		t.Helper()
		return "evt_" + strings.TrimPrefix(strings.TrimSpace(f.run("pay", "--scenario=success", "-o", "name").out), "TX_")
	}
	first, second := pay(), pay()
	f.run("resend", first).want(t, ExitRefused, "no_webhook", "listen --forward-to")
	var got lockedBuffer
	shop := serverOf(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(&got, r.Header.Get(webhooks.HeaderDelivery)+" ")
	})
	listen := func(flags ...string) (stop func() error, said *lockedBuffer) {
		t.Helper()
		p := &program{now: time.Now, poll: 10 * time.Millisecond, await: 10 * time.Millisecond}
		cmd := p.listenCommand()
		said = &lockedBuffer{}
		cmd.SetOut(io.Discard)
		cmd.SetErr(said)
		cmd.SetArgs(append(flags, "--url="+f.url, "--api-key="+testKey, "--secret="+testSecret, "--forward-to="+shop))
		stop = until(t, cmd.ExecuteContext)
		eventually(t, "the beginning", func() bool { return strings.Contains(said.text(), "go to "+shop) })
		return stop, said
	}
	gets := func(want ...string) {
		t.Helper()
		eventually(t, strings.Join(want, " "), func() bool { return len(strings.Fields(got.text())) >= len(want) })
		if text := strings.TrimSpace(got.text()); text != strings.Join(want, " ") {
			t.Errorf("the program got %s, want %s", text, want)
		}
	}
	stop, _ := listen()
	f.run("resend", first).want(t, ExitSuccess, "The sandbox has no webhook URL", "listen")
	gets(first)
	third := pay()
	f.run("resend", third).want(t, ExitSuccess)
	gets(first, third, third)
	if err := stop(); err != nil {
		t.Error(err)
	}
	stop, _ = listen("--since=1h")
	gets(first, third, third, first, second, third)
	if err := stop(); err != nil {
		t.Error(err)
	}
	for since, want := range map[string]string{"yesterday": "such as 10m", "9999-01-01T00:00:00Z": "write a time before it", "-1h": "write a time before it"} {
		f.run("listen", "--since="+since, "--secret="+testSecret, "--forward-to="+shop).want(t, ExitUsage, want)
	}
	run(t, Options{}, "listen", "--since=1h", "--address=127.0.0.1:0", "--secret="+testSecret).want(t, ExitUsage, "--since needs a sandbox")
}

// A program that does not acknowledge gets the same explanation as a webhook URL, once for each answer.
func TestForwardingExplainsWhatTheProgramAnswers(t *testing.T) {
	f := newFixture(t)
	answer := http.StatusUnauthorized
	program := serverOf(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(answer) })
	id := "evt_" + strings.TrimPrefix(strings.TrimSpace(f.run("pay", "--scenario=success", "-o", "name").out), "TX_")
	var said lockedBuffer
	s := &sandbox{target: &target{}}
	forward := &forwarder{api: f.api, url: program, secret: testSecret, out: io.Discard, at: time.Now,
		sender: webhooks.NewSender(egress.Guard{AllowLoopback: true}, "v1.2.3", time.Now)}
	forward.advice = func(failure error) { forward.advise(s, failure, printerTo(&said)) }
	send := func() {
		t.Helper()
		if err := forward.forward(t.Context(), &wire.EventSummary{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	send()
	send()
	for _, want := range []string{"answers 401. It does not accept the signature. Most often it holds another secret", "cauri verify request.txt",
		"cauri listen --print-secret"} {
		if got := strings.Count(said.text(), want); got != 1 {
			t.Errorf("%q is said %d times:\n%s", want, got, said.text())
		}
	}
	answer = http.StatusNotFound
	send()
	if !strings.Contains(said.text(), "takes no POST at this path") {
		t.Errorf("404 is not explained:\n%s", said.text())
	}
	answer = http.StatusOK
	send()
	answer = http.StatusNotFound
	send()
	if got := strings.Count(said.text(), "takes no POST at this path"); got != 2 {
		t.Errorf("404 is explained %d times, want it again after a success", got)
	}
	forward.url = "http://127.0.0.1:1"
	send()
	if !strings.Contains(said.text(), "Nothing listens at 127.0.0.1:1") {
		t.Errorf("no answer is not explained:\n%s", said.text())
	}
}

func TestForwardingToAHostAndAPort(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"localhost:9302": "http://localhost:9302", "127.0.0.1:9302/hooks": "http://127.0.0.1:9302/hooks", "[::1]:80": "http://[::1]:80",
		"https://shop.example/hooks": "https://shop.example/hooks",
	} {
		if got, err := programURL("forward-to", text); got != want || err != nil {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}

// Without a URL and an address, the events of the sandbox are shown as they are sent.
func TestListeningWithoutAURLShowsTheEvents(t *testing.T) {
	f := newFixture(t)
	p := &program{now: time.Now, poll: 10 * time.Millisecond, await: 10 * time.Millisecond}
	cmd := p.listenCommand()
	var out, said lockedBuffer
	cmd.SetOut(&out)
	cmd.SetErr(&said)
	cmd.SetArgs([]string{"--url=" + f.url, "--api-key=" + testKey, "--full"})
	stop := until(t, cmd.ExecuteContext)
	eventually(t, "the beginning", func() bool { return strings.Contains(said.text(), "as they are sent") })
	id := eventPrefix + strings.TrimPrefix(strings.TrimSpace(f.run("pay", "--scenario=success", "-o", "name").out), "TX_")
	eventually(t, "the event", func() bool {
		return strings.Contains(out.text(), id+"  SUCCESS, recorded") && strings.Contains(out.text(), `"event":"payment.completed"`)
	})
	if err := stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(out.text(), "PENDING") || !strings.Contains(said.text(), "--forward-to=localhost:3000/webhooks") {
		t.Errorf("printed %s and said %s", out.text(), said.text())
	}
}

func TestTheSecretOfForwardedEventsIsNamed(t *testing.T) {
	t.Parallel()
	s := &sandbox{target: &target{envFile: "dev.env"}}
	if got := secretLine(s, testSecret, true); !strings.HasSuffix(got, "CAURI_WEBHOOK_SECRET="+testSecret) {
		t.Errorf("on a terminal: %s", got)
	}
	if got := secretLine(s, testSecret, false); strings.Contains(got, testSecret) || !strings.Contains(got, "listen --env-file=dev.env --print-secret") {
		t.Errorf("elsewhere: %s", got)
	}
}

func TestVerifyNamesTheStepAndTheMistake(t *testing.T) {
	t.Parallel()
	at := listenedAt
	head := func(secret string) string {
		return "X-Service-Signature: " + webhooks.Signature(secret, []byte(listenedEvent)) + "\r\nwebhook-id: evt_1\r\nwebhook-timestamp: 1780228800\r\n" +
			"webhook-signature: " + webhooks.StandardSignature(secret, "evt_1", at, []byte(listenedEvent)) + "\r\n"
	}
	request := head(listenSecret) + "\r\n" + listenedEvent
	rotated := strings.Replace(strings.Replace(request, "X-Service-Signature: ", "X-Service-Signature: sha256=00", 1), "webhook-signature: ",
		"webhook-signature: v1,AA== v1,AA== ", 1)
	const bare = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	for name, c := range map[string]struct {
		input, secret string
		args          []string
		code          int
		want          string
	}{
		"right":                 {request, listenSecret, nil, ExitSuccess, "ok       webhook-signature"},
		"of an unknown age":     {request, listenSecret, nil, ExitSuccess, "ok       webhook-timestamp, whose age is not checked"},
		"of an older secret":    {rotated, listenSecret, nil, ExitSuccess, "skipped  X-Service-Signature: newer secrets signed it"},
		"with a request line":   {"POST /hooks HTTP/1.1\r\n" + request, listenSecret, nil, ExitSuccess, "ok       X-Service-Signature"},
		"a line break":          {request + "\n", listenSecret, nil, ExitNegative, "a line break at its end"},
		"a blank":               {request, listenSecret + " ", nil, ExitNegative, "spaces or a line break around it"},
		"no prefix":             {request, bare, nil, ExitNegative, "lacks whsec_"},
		"a prefix too much":     {head(bare) + "\r\n" + listenedEvent, listenSecret, nil, ExitNegative, "which is not a part of it"},
		"another secret":        {request, "whsec_dGVzdA==", nil, ExitNegative, "that of another sandbox"},
		"no signature":          {"webhook-id: evt_1\r\n\r\n" + listenedEvent, listenSecret, nil, ExitNegative, "does a proxy remove it?"},
		"an API key":            {request, testKey, nil, ExitNegative, "is the API key of a sandbox"},
		"too old":               {request, listenSecret, []string{"--received-at=2026-05-31T13:00:00Z"}, ExitNegative, "sent at 2026-05-31T12:00:00Z"},
		"in time":               {request, listenSecret, []string{"--received-at=2026-05-31T12:04:00Z"}, ExitSuccess, "ok       webhook-timestamp"},
		"a time of no calendar": {request, listenSecret, []string{"--received-at=noon"}, ExitUsage, "2026-05-31T12:00:00Z"},
		"no headers":            {listenedEvent, listenSecret, nil, ExitUsage, "one `Name: value` a line"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runFrom(t, Options{}, c.input, append([]string{"verify", "--secret=" + c.secret}, c.args...)...).want(t, c.code, c.want)
		})
	}
	folder := t.TempDir()
	headers, body := filepath.Join(folder, "headers"), filepath.Join(folder, "body")
	for path, text := range map[string]string{headers: head(listenSecret), body: listenedEvent} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, Options{}, "verify", body, "--headers="+headers, "--secret="+listenSecret).want(t, ExitSuccess, "ok")
	run(t, Options{}, "verify", body, "--headers="+headers).want(t, ExitUsage, "CAURI_WEBHOOK_SECRET")
}

// What a program parsed and wrote again is recognized, and the stored bytes of an event are compared with those that a receiver has.
func TestVerifyComparesWithTheStoredBytes(t *testing.T) {
	f := newFixture(t)
	id := eventPrefix + strings.TrimPrefix(strings.TrimSpace(f.run("pay", "--scenario=success", "-o", "name").out), "TX_")
	e, err := f.api.Event(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var parsed map[string]any
	if err := json.Unmarshal([]byte(e.Body), &parsed); err != nil {
		t.Fatal(err)
	}
	again, err := json.MarshalIndent(parsed, "", "  ") // in the order of the alphabet
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(strings.ReplaceAll(e.Body, "+", `\u002b`)), "", "  "); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	headers := filepath.Join(folder, "headers")
	head := "X-Service-Signature: " + webhooks.Signature(testSecret, []byte(e.Body)) + "\r\nwebhook-id: " + id +
		"\r\nwebhook-timestamp: 1780228800\r\nwebhook-signature: " + webhooks.StandardSignature(testSecret, id, listenedAt, []byte(e.Body)) + "\r\n"
	env := filepath.Join(folder, "env")
	for path, text := range map[string]string{
		headers: head, env: "CAURI_URI=" + f.url + "\nCAURI_API_KEY=" + testKey + "\nCAURI_WEBHOOK_SECRET=" + testSecret + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const written = "the same JSON, parsed and written again"
	for name, c := range map[string]struct {
		body  string
		event bool
		code  int
		want  string
	}{
		"indented":                      {indented.String(), false, ExitNegative, written},
		"without the blank":             {strings.Replace(e.Body, ", ", ",", 1), false, ExitNegative, written},
		"without it, and the stored":    {strings.Replace(e.Body, ", ", ",", 1), true, ExitNegative, written},
		"written again, and the stored": {string(again), true, ExitNegative, written},
		"the stored":                    {e.Body, true, ExitSuccess, "bytes of " + id},
		"the stored one, without":       {e.Body, false, ExitSuccess, "ok       webhook-signature"},
		"a changed letter":              {strings.Replace(e.Body, "payment", "Payment", 1), true, ExitNegative, `byte 11 and those behind it. Stored is "payment`},
		"a shorter one":                 {e.Body[:len(e.Body)-1], true, ExitNegative, "the body has nothing more"},
	} {
		args := []string{"verify", "--env-file=" + env, "--headers=" + headers}
		if c.event {
			args = append(args, id)
		}
		t.Run(name, func(t *testing.T) { runFrom(t, Options{}, c.body, args...).want(t, c.code, c.want) })
	}
	runFrom(t, Options{}, e.Body, "verify", id, "--env-file="+env, "--headers="+headers, "--secret=whsec_dGVzdA==").
		want(t, ExitNegative, "another sandbox")
}

// An advance that takes longer than a request waits is joined until it ends.
func TestAdvancingTheClock(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	var asked []string
	api := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+string(body))
		switch {
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, `{"mode":"Manual","now":"2026-11-22T10:30:00Z","target":"2026-11-22T11:01:00Z","nextDueAt":null,"due":{"transactions":2,"events":1}}`)
		case len(asked) == 1:
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"now":"2026-11-22T10:30:00Z","target":"2026-11-22T11:01:00Z"}`)
		default:
			_, _ = io.WriteString(w, `{"now":"2026-11-22T11:01:00Z","settled":1,"expired":2,"delivered":3,"failedAttempts":4}`)
		}
	})
	sandbox := []string{"--url=" + api, "--api-key=k"}
	run(t, Options{}, append(sandbox, "clock", "advance", "61m")...).want(t, ExitSuccess, clockTime("2026-11-22T11:01:00Z"))
	want := []string{`POST {"by":"1h1m0s","wait":"30s"}`, `POST {"to":"2026-11-22T11:01:00Z","wait":"30s"}`}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	for _, show := range [][]string{{"clock"}, {"clock", "show"}} {
		run(t, Options{}, append(sandbox, show...)...).want(t, ExitSuccess, "Manual", "being advanced to "+clockTime("2026-11-22T11:01:00Z"))
	}
	run(t, Options{}, append(sandbox, "clock", "advance", "2026-11-22T11:01:00Z", "-o=json")...).want(t, ExitSuccess)
	if last := asked[len(asked)-1]; last != `POST {"to":"2026-11-22T11:01:00Z","wait":"30s"}` {
		t.Errorf("asked %s", last)
	}
	for args, want := range map[string]string{
		"":                "say how far: 61m, or one of --by=61m, --to=2026-12-01T00:00:00Z and --next",
		"61m --next":      "say how far",
		"61":              `"61": write how far ahead, such as 61m or 24h, or a time like 2026-12-01T00:00:00Z`,
		"1d":              "such as 61m or 24h",
		"-- -61m":         "write how far ahead",
		"0s":              "write how far ahead",
		"2026-12-01":      "or a time like 2026-12-01T00:00:00Z",
		"61m 61m":         "one argument too many",
		"--by=-61m":       "a sandbox's time never goes back",
		"--to=2026-12-01": "--to=2026-12-01: write a time",
	} {
		run(t, Options{}, slices.Concat(sandbox, []string{"clock", "advance"}, strings.Fields(args))...).want(t, ExitUsage, want)
	}
	plugin := &target{plugin: true, arguments: []argument{{name: "TIME", form: likelyTime}}}
	for arg, name := range map[string]string{"61m": "", "1h30m": "", "2026-12-01T00:00:00Z": "", "checkout": "", "1d": ""} {
		if arg == "checkout" {
			name = arg
		}
		if got, _ := plugin.split([]string{arg}); got != name {
			t.Errorf("the plugin takes %q for the sandbox %q", arg, got)
		}
	}
}

// Whoever waits for a payment of a sandbox whose clock stands is told so before the time is over, and how to go on.
func TestPayingWhileTheClockStands(t *testing.T) {
	t.Parallel()
	api := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/clock") {
			_, _ = io.WriteString(w, `{"mode":"Manual","now":"2026-11-22T10:30:00Z","target":null,"nextDueAt":null,"due":{"transactions":0,"events":0}}`)
			return
		}
		_, _ = io.WriteString(w, `{"id":"TX_1","type":"collection","status":"PENDING","createdAt":"2026-11-22T10:30:00Z"}`)
	})
	r := run(t, Options{}, "pay", "--url="+api, "--api-key=k", "--msisdn=+250788000001", "--currency=RWF", "--operator=mtn", "--country=RW",
		"--application=shop", "--timeout=50ms")
	r.want(t, ExitUnavailable, "Waiting: the sandbox's clock stands", "still PENDING after 50 ms: the sandbox's clock stands",
		"`cauri clock advance --next`")
}
