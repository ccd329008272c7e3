package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// Eight callers advance a clock while payments arrive, and one of two workers is killed: nothing is lost or done twice, and nothing happens
// before its cause. With CAURI_TEST_WHOLE=1 a hundred payments arrive in a second, for a minute.
func TestWorkerKilledDuringAdvances(t *testing.T) {
	const callers, waiting = 8, 20
	count, pause := 100, time.Duration(0)
	if os.Getenv("CAURI_TEST_WHOLE") == "1" {
		count, pause = 6000, 10*time.Millisecond
	}
	w := newFixture(t)
	m := w.merchant("moved", w.api("api"), system.Acknowledge)
	m.Client.AnswerWithin = 2 * time.Minute
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1_000_000_000)
	w.must(err)
	silent, err := m.AddPayer(t.Context(), 2, payments.Ignore, 1_000_000_000)
	w.must(err)
	for n := range waiting {
		w.pay(m, system.NewPayment(fmt.Sprintf("waiting-%d", n), silent.MSISDN, ""))
	}
	workers := []*system.Worker{w.worker("worker-0"), w.worker("worker-1")}

	var busy sync.WaitGroup
	busy.Go(func() {
		for n := range count {
			if _, err := m.Client.Insist(t.Context(), "/payments", system.NewPayment(fmt.Sprintf("arriving-%d", n), payer.MSISDN, "")); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(pause)
		}
	})
	for range callers {
		busy.Go(func() {
			if err := w.advance(t.Context(), m, "20m"); err != nil {
				t.Error(err)
			}
		})
	}
	w.reaches(2, "advances were begun", "select coalesce(max(fence), 0) from clocks where tenant = $1", m.Tenant)
	workers[0].Kill()
	busy.Wait()
	w.must(w.advance(t.Context(), m, "2h"))
	w.drained(m)
	timedOut, err := w.Count(t.Context(), `select count(*) from transactions where tenant = $1
		and status = 'TIMEOUT' and completed_at >= expires_at and reference like 'waiting-%'`, m.Tenant)
	w.must(err)
	paid, err := w.Count(t.Context(), `select count(*) from transactions where tenant = $1 and status = 'SUCCESS'
		and merchant_delta > 0`, m.Tenant)
	w.must(err)
	if timedOut != waiting || paid != int64(count) {
		t.Errorf("%d payments timed out and %d were paid, want %d and %d", timedOut, paid, waiting, count)
	}
	early, err := w.Count(t.Context(), `select count(*) from transactions t join events e using (tenant, id)
		left join delivery_attempts a on a.tenant = t.tenant and a.event_id = t.id
		where t.tenant = $1 and (t.completed_at < t.created_at or e.created_at < t.completed_at or a.started_at < e.created_at)`, m.Tenant)
	w.must(err)
	if early > 0 {
		t.Errorf("%d events or attempts were before what they follow from", early)
	}
}

// advance repeats a call until the clock was advanced: other callers may be faster, and the machine busy.
func (w *fixture) advance(ctx context.Context, m *system.Merchant, by string) error {
	for ctx.Err() == nil {
		answer, err := m.Client.Post(ctx, "/clock/advance", map[string]any{"by": by, "wait": "60s"})
		var told struct{ Error string }
		switch {
		case err != nil:
			return err
		case answer.Status == http.StatusOK, answer.Status == http.StatusAccepted:
			return nil
		case answer.Status == http.StatusServiceUnavailable: // on a busy machine
		case json.Unmarshal(answer.Body, &told) != nil || told.Error != "clock_busy":
			return fmt.Errorf("an advance was answered with %d %s", answer.Status, answer.Body)
		}
		time.Sleep(20 * time.Millisecond)
	}
	return ctx.Err()
}
