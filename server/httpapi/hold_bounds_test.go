package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// Beyond a bound answers go out at once, as they do when the process is told to stop. One sandbox cannot take what is for all.
func TestHeldAnswersAreBounded(t *testing.T) {
	f := newFixture(t)
	f.config.LatencyPercent = 1000 // of 25 s at least
	f.sandbox(f.config, key)
	other := f.config
	other.UID, other.Name = "22222222-2222-2222-2222-222222222222", "other"
	f.sandbox(other, otherKey)
	f.exec("update organizations set webhook_url = 'http://127.0.0.1:1/'")
	registry := prometheus.NewRegistry()
	f = f.serve(func(o *fronts.Options) {
		o.Held, o.Metrics = httpfront.HeldBounds{Process: 3, Sandbox: 2}, telemetry.NewAPI(registry)
	})
	f.call("GET", "/v1/payments", nil) // loads the configuration
	const checkoutKey = key
	held := func(key, reference string, want string) func() {
		t.Helper()
		conn := f.dial()
		if _, err := conn.Write([]byte(strings.Replace(request(reference, "timeout"), "Bearer "+checkoutKey, "Bearer "+key, 1))); err != nil {
			t.Fatal(err)
		}
		f.counts(registry, "cauri_api_held_answers", want)
		return func() { _ = conn.Close() }
	}
	atOnce := func(key, reference string) {
		t.Helper()
		got := f.call("POST", "/v1/payments", payment(reference, object{"operator": "mtn", "country": "RW", "scenario": "timeout"}), withKey(key))
		if got.status != http.StatusCreated || got.body["status"] != "TIMEOUT" || got.header.Get("Location") == "" {
			t.Errorf("%s is answered %d: %s", reference, got.status, got.raw)
		}
	}
	leave := held(key, "r1", "1")
	held(key, "r2", "2")
	atOnce(key, "r3")
	held(otherKey, "o1", "3")
	atOnce(otherKey, "o2")
	atOnce(key, "r4")
	leave()
	f.counts(registry, "cauri_api_held_answers", "2")
	held(otherKey, "o3", "3")
	atOnce(otherKey, "o4")
	atOnce(key, "r5") // its own bound is not reached, the process's is
	want := `
# HELP cauri_api_answers_not_held_total Answers sent at once instead of held, because the limit of held answers was reached, of the process or of the sandbox.
# TYPE cauri_api_answers_not_held_total counter
cauri_api_answers_not_held_total{bound="process"} 2
cauri_api_answers_not_held_total{bound="sandbox"} 3
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "cauri_api_answers_not_held_total"); err != nil {
		t.Error(err)
	}
	if n := read[int](
		f,
		"select count(*) from events e join transactions t using (tenant, id) where e.due_at > t.created_at + interval '20 s'",
	); n != f.transactions() {
		t.Errorf("%d events of %d are due when their answers would have been", n, f.transactions())
	}
}

// counts waits until a metric without labels has a value.
func (f *fixture) counts(registry *prometheus.Registry, name, want string) {
	f.t.Helper()
	soon(f.t, name+" is "+want, func() bool {
		kind := "# TYPE " + name + " gauge\n"
		return testutil.GatherAndCompare(
			registry,
			strings.NewReader("# HELP "+name+" Answers held now to simulate an operator's latency.\n"+kind+name+" "+want+"\n"),
			name,
		) == nil
	})
}
