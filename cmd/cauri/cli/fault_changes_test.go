package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// Each list of faults is compared with the one before: what is new was set, and what is gone was removed, or its time is over.
func TestChangesOfFaults(t *testing.T) {
	t.Parallel()
	now := listenedAt
	c := faultChanges{now: func() time.Time { return now }}
	set := func(name, at string, seconds, times int64) wire.Fault {
		f := wire.Fault{Name: name, Source: sourceAPI, SetAt: &at, SetBy: new("console"), Effect: name + ": not sent"}
		if seconds > 0 {
			f.SecondsLeft = &seconds
		}
		if times >= 0 {
			f.Times, f.TimesLeft = 1, &times
		}
		return f
	}
	declared := wire.Fault{Name: "declared", Source: "spec"}
	for _, step := range []struct {
		after time.Duration
		list  []wire.Fault
		want  string
	}{
		{0, []wire.Fault{declared}, ""},
		{0, []wire.Fault{set("b", "2", 900, -1), set("a", "1", 0, -1), declared}, "a set, b set"},
		{time.Minute, []wire.Fault{set("b", "2", 840, -1), set("a", "1", 0, -1), declared}, ""},
		{time.Minute, []wire.Fault{set("b", "3", 900, -1), declared}, "b removed, a removed, b set"},
		{15 * time.Minute, []wire.Fault{declared}, "b over"},
		{0, []wire.Fault{set("c", "4", 900, 2)}, "c set"},
		{time.Minute, []wire.Fault{set("c", "4", 840, 1)}, ""},
		{0, []wire.Fault{set("c", "4", 840, 0)}, "c usedUp"},
		{14 * time.Minute, nil, ""},
		{0, []wire.Fault{set("d", "5", 10, -1)}, "d set"},
		{5 * time.Second, nil, "d removed"},
	} {
		now = now.Add(step.after)
		var got []string
		for _, one := range c.update(step.list) {
			got = append(got, one.Name+" "+one.Change)
		}
		if strings.Join(got, ", ") != step.want {
			t.Errorf("told is %q, want %q", got, step.want)
		}
	}
}

// A fault is told with who set it and its end, also one that was set before, and so is its end by a removal, by `first` and by a reset.
func TestTailTellsFaults(t *testing.T) {
	f := newFixture(t)
	f.config.API.Faults = true
	if _, err := f.store.ApplySandbox(t.Context(), f.config); err != nil {
		t.Fatal(err)
	}
	refreshed := until(t, func(ctx context.Context) error { f.directory.Run(ctx, 10*time.Millisecond); return nil })
	defer func() { _ = refreshed() }()
	f.run("faults", "on", "slow", "--msisdn="+manual, "--for=0")
	var out, said lockedBuffer
	p := &program{now: time.Now, poll: 10 * time.Millisecond}
	stop := until(t, func(ctx context.Context) error {
		clock, err := p.readTime(ctx, f.api)
		if err != nil {
			return err
		}
		from := p.newChanges(f.api, allTypes, func() {}, printerTo(&said))
		return tail(ctx, []changes{from}, clock, func(c change) error { printLine(&out, c.time(clock), c.line(clock)); return nil })
	})
	printed := func(text string) {
		t.Helper()
		eventually(t, text, func() bool { return strings.Contains(strings.Join(strings.Fields(out.text()), " "), text) })
	}
	printed("fault slow on, set by the command line, ends when removed: ")
	f.run("faults", "off", "slow").want(t, 0)
	printed("fault slow off, removed")
	f.send(http.MethodPut, "/v1/faults/down", `{"api":{"status":503},"when":{"first":1}}`)
	printed("fault down on, set with the API key, ends when removed: answered 503")
	f.run("pay", "--scenario=success", "--reference=refused", "--timeout=1m")
	printed("fault down off, it has acted once, as often as it may")
	f.send(http.MethodPut, "/v1/faults/drop", `{"webhook":{"drop":true}}`)
	printed("fault drop on")
	f.run("reset").want(t, 0)
	printed("fault drop off, removed")
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// The end of a fault by its time is told without an entry of the stream, although the first question after it fails.
func TestEndsOfFaultsAreTold(t *testing.T) {
	t.Parallel()
	var mutex sync.Mutex
	answers := []string{
		`{"data":[]}`, `{"data":[{"name":"late","source":"api","effect":"late: not sent","setAt":"1","secondsLeft":0}]}`, "", `{"data":[]}`,
	}
	url := serverOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch strings.TrimPrefix(r.URL.Path, "/api/v1") {
		case "/clock":
			fmt.Fprintf(w, `{"mode":"Real","now":%q,"due":{}}`, noon)
		case "/stream":
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, _ = io.WriteString(w, entry("1-0", sandboxapi.Entry{Type: sandboxapi.EntryReady}))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		default:
			mutex.Lock()
			defer mutex.Unlock()
			if answers[0] == "" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = io.WriteString(w, answers[0])
			answers = answers[min(1, len(answers)-1):]
		}
	})
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var told []string
	from := (&program{now: time.Now, poll: time.Millisecond}).newChanges(sandboxapi.New(url, "k", nil), allTypes, func() {}, t.Logf)
	err := tail(ctx, []changes{from}, &sandboxTime{real: time.Now}, func(c change) error {
		if told = append(told, c.Fault.Change); len(told) == 2 {
			stop()
		}
		return nil
	})
	if err != nil || strings.Join(told, " ") != "set over" {
		t.Errorf("told is %v, %v", told, err)
	}
}
