package cli

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/cmd/cauri/sandboxapi"
	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/clocks"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// Times and durations are written in words.go, and nowhere else in the program, so that they look the same everywhere.
func TestTimesAreWrittenInOnePlace(t *testing.T) {
	t.Parallel()
	formats := regexp.MustCompile(`\.Format\(|\.Local\(\)|\.Seconds\(\)|\.Milliseconds\(\)|2006|15:04|"fault |"faults `)
	allowed := map[string]*regexp.Regexp{
		"try.go":     regexp.MustCompile(`%7\.3fs`), // a stopwatch
		"status.go":  regexp.MustCompile(`HasPrefix|Plural`),
		"faults.go":  regexp.MustCompile(`called\(|command\(|Plural`), // names of commands
		"stories.go": regexp.MustCompile(`called\(`),
	}
	err := filepath.WalkDir("..", func(path string, entry os.DirEntry, err error) error {
		name := entry.Name()
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name == "words.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if of := allowed[name]; formats.MatchString(line) && (of == nil || !of.MatchString(line)) {
				t.Errorf("%s:%d: write it with a function of words.go: %s", path, i+1, strings.TrimSpace(line))
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"once": times(1), "2 times": times(2), "1 entry": english.Plural(1, "entry", "entries"), "0 entries": english.Plural(0, "entry", "entries"),
		"23 ms": milliseconds(23), "fault a": faultsNamed([]string{"a"}), "fault a: b": faultsNamed([]string{"a: b"}),
		"": faultsNamed(nil), "faults a; b": faultsNamed([]string{"a", "b"}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTimeOfASandbox(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		clock wire.Clock
		note  string
		after time.Time // a minute later
	}{
		"real": {wire.Clock{Mode: "Real", Now: "2026-11-24T12:00:00.9Z"}, "", begin.Add(time.Minute)},
		"advanced": {
			wire.Clock{Mode: "Real", Now: "2026-11-24T13:00:00Z"}, TimeText(begin.Add(time.Hour)) + ", 1 h ahead of real time.",
			begin.Add(61 * time.Minute),
		},
		"one behind":    {wire.Clock{Mode: "Manual", Now: "2026-11-21T12:00:00Z"}, "3 d behind real time, where it stands.", begin.AddDate(0, 0, -3)},
		"without clock": {wire.Clock{}, "", begin.Add(time.Minute)},
	} {
		now := begin
		at := &sandboxTime{real: func() time.Time { return now }}
		at.set(&c.clock)
		note := at.note()
		begins := c.note == "" || strings.HasPrefix(note, "Times are the sandbox's: ")
		if at.own() != (c.note != "") || !begins || !strings.HasSuffix(note, c.note) {
			t.Errorf("%s: %q, want %q", name, note, c.note)
		}
		if now = begin.Add(time.Minute); !at.now().Equal(c.after) {
			t.Errorf("%s: after a minute it is %s, want %s", name, at.now(), c.after)
		}
	}
}

// After an advance, all lines have the sandbox's time, and it is said once whose time that is.
func TestOneClockAfterAnAdvance(t *testing.T) {
	f := newFixture(t)
	refreshed := until(t, func(ctx context.Context) error { f.directory.Run(ctx, 10*time.Millisecond); return nil })
	defer func() { _ = refreshed() }()
	p := &program{now: time.Now, poll: 10 * time.Millisecond, await: 10 * time.Millisecond}
	f.run("pay", "--scenario=success").want(t, ExitSuccess)
	if r := f.run("events"); strings.Contains(r.progress, "Times are") {
		t.Errorf("a clock that is real is told: %s", r.progress)
	}
	present := time.Now()
	far := time.Date(present.Year(), present.Month()+10, 15, 12, 0, 0, 0, time.Local)
	further := far.AddDate(0, 1, 0)
	day, furtherDay := TimeText(far)[:len(time.DateOnly)], TimeText(further)[:len(time.DateOnly)]
	f.advance(t, far)
	for _, command := range [][]string{
		{"pay", "--scenario=success"}, {"pay", "--msisdn=" + manual, "--wait=false"}, {"events"}, {"payers"}, {"approve", manual},
		{"ledger", "--entries"},
	} {
		r := f.run(command...)
		r.want(t, ExitSuccess, day)
		if strings.Count(r.progress, "Times are the sandbox's: "+day) != 1 || !strings.Contains(r.progress, "ahead of real time") {
			t.Errorf("%v says %q", command, r.progress)
		}
	}
	f.run("status").want(t, ExitSuccess, "Time     "+day, "ahead of real time (Real)", "Times of payments and events are the sandbox's")
	f.send(http.MethodGet, "/v1/events/evt_1", "")
	f.run("requests").want(t, ExitSuccess, "Requests have real time. In the sandbox it is "+day)

	var out lockedBuffer
	began := make(chan string, 1)
	stop := until(t, func(ctx context.Context) error {
		return Tail(ctx, f.api, func(note string) { began <- note }, func(at time.Time, line Line) { printLine(&out, at, line) })
	})
	if note := <-began; !strings.HasPrefix(note, "Times are the sandbox's: "+day) {
		t.Errorf("the beginning says %q", note)
	}
	f.run("pay", "--scenario=success", "--reference=tailed")
	eventually(t, "the lines", func() bool { return strings.Contains(out.text(), "recorded") })
	f.advance(t, further)
	eventually(t, "the clock", func() bool { return strings.Contains(out.text(), "clock") })
	if err := stop(); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(out.text()) {
		if !strings.HasPrefix(line, day) && !strings.HasPrefix(line, furtherDay) {
			t.Errorf("a line has another clock: %s", line)
		}
	}
	again := change{Entry: sandboxapi.Entry{Event: &wire.EventSummary{AttemptCount: 1, CreatedAt: longTime}}}
	at := &sandboxTime{real: p.now}
	if got := again.time(at); !got.Equal(moment(longTime)) {
		t.Errorf("an event that was sent already is told with %s", got)
	}
	if again.again = true; again.time(at).Equal(moment(longTime)) {
		t.Error("an event that is sent again is told with the time of its recording")
	}
}

// advance moves the clock as a worker does that finds nothing due.
func (f *fixture) advance(t *testing.T, to time.Time) {
	t.Helper()
	stored := ledgertest.OpenAs(t, f.db, ledgertest.Worker)
	done := make(chan result, 1)
	go func() { done <- f.run("clock", "advance", "--to="+MachineTime(to)) }()
	for {
		select {
		case r := <-done:
			r.want(t, ExitSuccess)
			return
		case <-time.After(10 * time.Millisecond):
		}
		due, err := stored.ClocksToAdvance(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, sandbox := range due {
			lease, err := stored.LeaseClock(t.Context(), sandbox.Tenant, time.Minute)
			if err == nil {
				_, err = stored.MoveClock(t.Context(), lease, lease.Target, clocks.AdvanceCounts{})
			}
			if err == nil {
				err = stored.EndAdvance(t.Context(), lease, true, clocks.AdvanceCounts{})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
