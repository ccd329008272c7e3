package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/webhooks"
)

func serverOf(t *testing.T, handler http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// told is what a poll tells.
func told(t *testing.T, f *polling) (all []string) {
	t.Helper()
	err := f.poll(t.Context(), func(c change) error {
		if c.Transaction != nil {
			all = append(all, c.Kind+" "+c.Transaction.Reference+" "+c.Transaction.Status)
		} else {
			all = append(all, c.Kind+" "+c.Event.State)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestChangesAreToldOnce(t *testing.T) {
	f := newFixture(t)
	f.run("pay", "--scenario=success", "--reference=before")
	p := &program{poll: time.Millisecond}
	follow := p.newChanges(f.api).(*polling)
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{"what was there before", func() {}, nil},
		{"nothing", func() {}, nil},
		{"one that is final", func() { f.run("pay", "--scenario=success", "--reference=a") }, []string{"transaction a SUCCESS", "event recorded"}},
		{"one that waits", func() { f.run("pay", "--msisdn="+manual, "--reference=b", "--wait=false") }, []string{"transaction b PENDING"}},
		{"its answer", func() { f.run("approve", manual) }, []string{"transaction b SUCCESS", "event recorded"}},
		{"two, oldest first", func() {
			f.run("pay", "--scenario=success", "--reference=c")
			f.run("pay", "--scenario=blocked", "--reference=d")
		}, []string{"transaction c SUCCESS", "transaction d ACCOUNT_BLOCKED", "event recorded", "event recorded"}},
		{"a reset", func() { f.run("reset") }, nil},
		{"after it", func() { f.run("pay", "--scenario=success", "--reference=a") }, []string{"transaction a SUCCESS", "event recorded"}},
	}
	for _, step := range steps {
		step.do()
		if got := told(t, follow); !slices.Equal(got, step.want) {
			t.Errorf("%s: told %q, want %q", step.name, got, step.want)
		}
	}
}

// Changes of what is no longer among the newest are told too.
func TestChangesOfOldTransactions(t *testing.T) {
	f := newFixture(t)
	follow := (&program{poll: time.Millisecond}).newChanges(f.api).(*polling)
	told(t, follow)
	f.run("pay", "--msisdn="+manual, "--reference=old", "--wait=false")
	told(t, follow)
	f.run("approve", manual)
	for _, one := range follow.known {
		one.seen = false // as if a hundred others had come
	}
	var got []string
	err := follow.readOpen(t.Context(), func(c change) error { got = append(got, c.Kind); return nil })
	if want := []string{"transaction", "event"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("told %q, %v, want %q", got, err, want)
	}
}

// lockedBuffer is written and read at the same time.
type lockedBuffer struct {
	mutex sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) text() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.String()
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

func TestTailPrintsUntilItIsEnded(t *testing.T) {
	f := newFixture(t)
	p := &program{now: time.Now, poll: time.Millisecond}
	follow := p.newChanges(f.api)
	told(t, follow.(*polling)) // it has begun
	var out lockedBuffer
	stop := until(t, func(ctx context.Context) error {
		return p.tail(ctx, []changes{follow}, &out, []string{kindTransaction}, formatJSON)
	})
	f.run("pay", "--scenario=success", "--reference=tailed")
	eventually(t, "a line", func() bool { return strings.Contains(out.text(), "\n") })
	if err := stop(); err != nil {
		t.Error(err)
	}
	var line change
	if err := json.Unmarshal([]byte(out.text()), &line); err != nil || line.Kind != kindTransaction || line.Transaction.Reference != "tailed" {
		t.Errorf("it printed %q, %v", out.text(), err)
	}
}

// A change that could not be asked for is told later; an error of the user's ends the command.
func TestChangesSurviveAnOutage(t *testing.T) {
	f := newFixture(t)
	at, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	var mutex sync.Mutex
	broken := 0
	proxy := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		if broken > 0 {
			broken--
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.URL.Scheme, r.URL.Host, r.RequestURI = at.Scheme, at.Host, ""
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = answer.Body.Close() }()
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	})
	p := &program{now: time.Now, poll: time.Millisecond}
	follow := p.newChanges(sandboxapi.New(proxy+at.Path, testKey, nil)).(*polling)
	told(t, follow)
	mutex.Lock()
	broken = 3
	mutex.Unlock()
	f.run("pay", "--scenario=success", "--reference=late")
	enough := errors.New("enough")
	got := ""
	err = follow.Follow(t.Context(), func(c change) error { got = c.Transaction.Reference; return enough })
	if !errors.Is(err, enough) || got != "late" {
		t.Errorf("told %q, %v", got, err)
	}
	err = p.newChanges(sandboxapi.New(f.url, "wrong", nil)).Follow(t.Context(), func(change) error { return nil })
	if ExitCode(err) != ExitRefused {
		t.Errorf("a wrong key: %v", err)
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
	forward := &forwarder{api: f.api, url: program + "/hooks", secret: testSecret, out: &out, now: time.Now,
		sender: webhooks.NewSender(egress.Guard{AllowLoopback: true}, "v1.2.3", time.Now)}
	if err := forward.forward(t.Context(), id); err != nil {
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
	if after, err := f.api.Event(t.Context(), id); err != nil || after.State != "recorded" || after.AttemptCount != 0 {
		t.Errorf("forwarding changed the event: %+v, %v", after, err)
	}
	if err := forward.forward(t.Context(), "evt_"+strings.Repeat("0", 26)); err != nil {
		t.Errorf("an event that a reset removed: %v", err)
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
	const bare = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	for name, c := range map[string]struct {
		input, secret string
		args          []string
		code          int
		want          string
	}{
		"right":                 {request, listenSecret, nil, ExitSuccess, "ok       webhook-signature"},
		"with a request line":   {"POST /hooks HTTP/1.1\r\n" + request, listenSecret, nil, ExitSuccess, "ok       X-Service-Signature"},
		"a line break":          {request + "\n", listenSecret, nil, ExitNegative, "a line break at its end"},
		"a blank":               {request, listenSecret + " ", nil, ExitNegative, "spaces or a line break around it"},
		"no prefix":             {request, bare, nil, ExitNegative, "lacks whsec_"},
		"a prefix too much":     {head(bare) + "\r\n" + listenedEvent, listenSecret, nil, ExitNegative, "which is not a part of it"},
		"another secret":        {request, "whsec_dGVzdA==", nil, ExitNegative, "that of another sandbox"},
		"no signature":          {"webhook-id: evt_1\r\n\r\n" + listenedEvent, listenSecret, nil, ExitNegative, "does a proxy remove it?"},
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
	run(t, Options{}, append(sandbox, "clock", "advance", "--by=61m")...).want(t, ExitSuccess, "2026-11-22T11:01:00Z")
	want := []string{`POST {"by":"1h1m0s","wait":"30s"}`, `POST {"to":"2026-11-22T11:01:00Z","wait":"30s"}`}
	if !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	run(t, Options{}, append(sandbox, "clock", "show")...).want(t, ExitSuccess, "Manual", "being advanced to 2026-11-22T11:01:00Z")
}
