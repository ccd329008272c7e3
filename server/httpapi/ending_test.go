package httpapi_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/ledger/ledgertest"
)

// What is open when a sandbox ends, ends with it: streams are closed, an advance and a held answer are answered, and nothing is left that
// works for them. It is not parallel to other tests: it looks at the whole process.
func TestWhatIsOpenEndsWithItsSandbox(t *testing.T) {
	for _, c := range []struct {
		how   string
		end   func(context.Context, *fixture) error
		error string // that an advance is answered with
	}{
		{"deleted", func(ctx context.Context, w *fixture) error { return w.store.DeleteSandbox(ctx, w.config.UID) }, "unauthorized"},
		{"retained", func(ctx context.Context, w *fixture) error { return w.store.RetainSandbox(ctx, w.config.UID) }, "unauthorized"},
		{"suspended", func(_ context.Context, w *fixture) error {
			w.suspend(true)
			w.follow()
			return nil
		}, "suspended"},
	} {
		t.Run(c.how, func(t *testing.T) {
			w := newFixtureAlone(t)
			w.config.LatencyPercent = 100
			w.sandbox(w.config, key)
			began := w.call("POST", "/v1/clock/advance", object{"by": "1h", "wait": "0s"})
			first := w.listen("", "")
			streams := []*listening{first, w.listen("?types=balance", ""), w.open("", first.last), w.open("", "1-1")}
			advance, held := make(chan response, 1), make(chan response, 1)
			go func() {
				advance <- w.call("POST", "/v1/clock/advance", object{"to": began.body["target"], "wait": "60s"})
			}()
			go func() { held <- w.call("POST", "/v1/payments", payment("r1", object{"scenario": "success"})) }()
			soon(t, "an answer is held", func() bool { return running("exchange.(*Exchange).hold(") == 1 })
			soon(t, "an advance waits", func() bool { return running("service.(*Service).awaitAdvance(") == 1 })
			if err := c.end(t.Context(), w); err != nil {
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
			ledgertest.Eventually(t, func() bool { return running("server/streams.") == 0 && running("exchange.(*Exchange).") == 0 })
			if got := w.call("GET", "/v1/stream", nil); got.body["error"] != c.error {
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
