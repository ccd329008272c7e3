package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
	"github.com/cauri-dev/cauri/server/worker"
)

// seededFaults are faults of every kind that is drawn.
const seededFaults = `[
	{"name":"unavailable","when":{"percent":15},"api":{"status":503}},
	{"name":"lost-answer","when":{"percent":15},"api":{"dropConnection":"AfterCommit"}},
	{"name":"lost","when":{"percent":20},"webhook":{"drop":true}},
	{"name":"twice","when":{"percent":20},"webhook":{"duplicate":2,"spacing":"1s"}},
	{"name":"late","when":{"percent":30},"webhook":{"delay":"90s"}}]`

// seeded is a sandbox with a seed and a clock that stands, with so many replicas of the api and of the worker.
func seeded(t *testing.T, replicas int) (*fixture, []*fixture) {
	f := newFixture(t)
	var came sync.Map // how often each event came
	receiver := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, reference, _ := bytes.Cut(body, []byte(`"reference":"`))
		sum := fnv.New32()
		_, _ = sum.Write(bytes.Split(reference, []byte(`"`))[0])
		times, _ := came.LoadOrStore(r.Header.Get(webhooks.HeaderDelivery), new(atomic.Int32))
		if times.(*atomic.Int32).Add(1) <= 2 && sum.Sum32()%8 == 0 {
			answer.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(receiver.Close)
	start := time.Date(2026, time.November, 22, 10, 0, 0, 0, time.UTC)
	seed := int64(7)
	f.config.Clock, f.config.Seed = sandboxes.ClockConfig{Mode: sandboxes.ManualClock, Start: &start}, &seed
	f.config.Webhook = &sandboxes.WebhookConfig{URL: receiver.URL, Retry: sandboxes.DefaultRetryPolicy}
	f.config.LatencyPercent, f.config.TestNumbers, f.config.Faults = 100, payments.StandardTestNumbers, []byte(seededFaults)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 20_000}
	// A reset begins at the clock's start and with the draws of the seed.
	f.reset("seeded")
	f.client("alice", alice, 40_000)
	f.client("ignores", "+250788000002", 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Ignore })
	apis := make([]*fixture, replicas)
	for i := range apis {
		apis[i] = f.serve(func(o *fronts.Options) { o.Draw = func(n int64) int64 { return time.Now().UnixNano() % n } })
		apis[i].follow()
		f.runWorker()
	}
	return f, apis
}

// runWorker runs a worker until the test ends, or until it is stopped.
func (f *fixture) runWorker() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	running := worker.New(worker.Options{
		Database: ledgertest.OpenAs(f.t, f.db, ledgertest.Worker),
		Sender:   webhooks.NewSender(egress.Guard{AllowLoopback: true}, "test", time.Now),
		Log:      slog.New(slog.DiscardHandler), Chance: func() float64 { return float64(time.Now().UnixNano()%1000) / 1000 },
		Operators: worker.NewOperatorAccess(egress.Guard{AllowLoopback: true}, time.Now),
	})
	var ended sync.WaitGroup
	ended.Go(func() { running.Run(ctx) })
	stop = func() { cancel(); ended.Wait() }
	f.t.Cleanup(stop)
	return stop
}

// seededRequests makes 200 requests, one after another, and repeats one that got no answer, as a careful client does. It returns what they
// were answered with.
func seededRequests(apis []*fixture) (answers []string) {
	numbers := []string{alice, alice, "+250788000002", "+250788999999", "+250790000903", "+250790000911", "+250790000906"}
	parent := ""
	for i := range 200 {
		reference := fmt.Sprint("order-", i)
		amount := 10 * (1 + i*i%97)
		method, body := "/v1/payments", payment(reference, object{"amount": amount, "msisdn": numbers[i%len(numbers)]})
		switch {
		case i%5 == 1:
			body["scenario"] = string(payments.Scenarios[i/5%len(payments.Scenarios)])
		case i%5 == 3:
			method, body = "/v1/disbursements", disbursement(reference, object{"amount": amount})
		case i%5 == 4 && parent != "":
			method, body = "/v1/payments/"+parent+"/refund", object{"reference": reference, "amount": 1}
		}
		for range 4 {
			got := apis[i%len(apis)].try("POST", method, body)
			answers = append(answers, fmt.Sprint(i, " ", got.dropped, " ", got.status, " ", got.body["status"], got.body["error"]))
			if got.dropped || got.status >= 500 {
				continue
			}
			if id, _ := got.body["id"].(string); id != "" && got.body["type"] == "collection" && got.body["status"] == "SUCCESS" {
				parent = id
			}
			break
		}
	}
	return answers
}

// story is everything that was recorded, in the order of the recording, without the ids.
func (f *fixture) story() []string {
	f.t.Helper()
	return read[[]string](f, `
		select array_agg(concat_ws(' ', t.type, t.reference, t.status, t.amount, t.commission, t.net_amount, t.latency_ms, t.provider_tx_id,
			date_trunc('milliseconds', t.created_at at time zone 'utc'), date_trunc('milliseconds', t.completed_at at time zone 'utc'),
			t.merchant_balance_after, (select array_agg(f order by f) from unnest(t.faults) f)::text, e.state, e.attempts, a.attempts) order by t.id)
		from transactions t join organizations o using (tenant) join events e on e.tenant = t.tenant and e.id = t.id
		left join lateral (select string_agg(concat_ws(' ', d.attempt, date_trunc('milliseconds', d.started_at at time zone 'utc'),
			d.response_status, d.error, d.faults::text), ', ' order by d.attempt) as attempts
			from delivery_attempts d where d.tenant = t.tenant and d.event_id = t.id) a on true
		where o.name = 'checkout'`)
}

// TestASeedRepeatsEverything makes the same requests twice, with other numbers of replicas: everything but ids is the same.
func TestASeedRepeatsEverything(t *testing.T) {
	t.Parallel()
	type run struct{ answers, story []string }
	runs := make([]run, 2)
	t.Run("runs", func(t *testing.T) {
		for i := range runs {
			t.Run(fmt.Sprint(i+1, " replicas"), func(t *testing.T) {
				f, apis := seeded(t, i+1)
				runs[i].answers = seededRequests(apis)
				for range 60 { // an advance goes on after its answer
					if got := apis[0].call("POST", "/v1/clock/advance", object{"to": "2026-11-22T14:00:00Z", "wait": "60s"}); got.status == http.StatusOK {
						break
					}
				}
				soon(t, "all is over", func() bool {
					return read[int](f, "select count(*) from events where state = 'queued'")+
						read[int](f, "select count(*) from transactions where status = 'PENDING'") == 0
				})
				runs[i].story = f.story()
				f.conserved()
			})
		}
	})
	if diff := cmp.Diff(runs[0].answers, runs[1].answers); diff != "" {
		t.Errorf("answers (-first +second):\n%s", diff)
	}
	if diff := cmp.Diff(runs[0].story, runs[1].story); diff != "" {
		t.Errorf("what was recorded (-first +second):\n%s", diff)
	}
	if all := strings.Join(runs[0].story, "\n"); len(runs[0].story) < 150 || !strings.Contains(all, "twice") || !strings.Contains(all, "late") {
		t.Errorf("the story is too short to compare: %s", all)
	}
}
