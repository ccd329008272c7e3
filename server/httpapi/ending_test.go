package httpapi_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
)

// What is open when a sandbox ends, ends with it: streams are closed, an advance and a held answer are answered, and nothing is left that
// works for them. It is not parallel to other tests: it looks at the whole process.
func TestWhatIsOpenEndsWithItsSandbox(t *testing.T) {
	for _, c := range []struct {
		how   string
		end   func(context.Context, *fixture) error
		error string // that an advance is answered with
	}{
		{"deleted", func(ctx context.Context, f *fixture) error { return f.store.DeleteSandbox(ctx, f.config.UID) }, "unauthorized"},
		{"retained", func(ctx context.Context, f *fixture) error { return f.store.RetainSandbox(ctx, f.config.UID) }, "unauthorized"},
		{"suspended", func(_ context.Context, f *fixture) error {
			f.suspend(true)
			f.follow()
			return nil
		}, "suspended"},
	} {
		t.Run(c.how, func(t *testing.T) {
			f := newFixtureAlone(t)
			f.config.LatencyPercent = 100
			f.sandbox(f.config, key)
			began := f.call("POST", "/v1/clock/advance", object{"by": "1h", "wait": "0s"})
			first := f.listen("", "")
			streams := []*listening{first, f.listen("?types=balance", ""), f.open("", first.last), f.open("", "1-1")}
			advance, held := make(chan response, 1), make(chan response, 1)
			go func() {
				advance <- f.call("POST", "/v1/clock/advance", object{"to": began.body["target"], "wait": "60s"})
			}()
			go func() { held <- f.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})) }()
			soon(t, "both answers are held", func() bool { return running("httpfront.(*Pipeline).hold(") == 2 })
			soon(t, "an advance waits", func() bool { return running("service.(*Service).awaitAdvance(") == 1 })
			if err := c.end(t.Context(), f); err != nil {
				t.Fatal(err)
			}
			for _, l := range streams {
				l.ends()
			}
			if got := <-advance; got.body["error"] != c.error {
				t.Errorf("the advance was answered %d %s, want %s", got.status, got.raw, c.error)
			}
			if got := <-held; got.status != http.StatusCreated || got.body["status"] != "SUCCESS" {
				t.Errorf("the payment was answered %d %s", got.status, got.raw)
			}
			ledgertest.Eventually(t, func() bool { return running("server/streams.") == 0 && running("httpfront.(*Pipeline).") == 0 })
			if got := f.call("GET", "/v1/stream", nil); got.body["error"] != c.error {
				t.Errorf("another stream is answered %d %s, want %s", got.status, got.raw, c.error)
			}
		})
	}
}

// running counts the goroutines in which a function is called.
func running(function string) (n int) {
	stacks := make([]byte, 4<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, function) {
			n++
		}
	}
	return n
}
