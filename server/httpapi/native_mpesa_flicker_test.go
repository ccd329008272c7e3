package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// flicker asks the query of a push some times, and returns how often each answer came, and in which order.
func (m *mpesa) flicker(checkout string, times int) (counts map[string]int, order []string) {
	m.f.t.Helper()
	counts = map[string]int{}
	for range times {
		got := m.query(checkout)
		said := fmt.Sprint(got.status, " ", got.header.Get("X-Cauri-Fault"), " ", fieldsOf(got.body, "ResultCode", "errorCode", "errorMessage"))
		counts[said]++
		order = append(order, said)
	}
	return counts, order
}

// Under one fault, the query answers in all of its ways: three while the phone rings, with about the same chances, and one
// wrong answer in four after the outcome. /v1 tells the truth meanwhile, and the same seed draws the same answers.
func TestMPesaFlickers(t *testing.T) {
	const (
		right   = "200  4999 <nil> <nil>"
		silent  = "200 flapping-query <nil> 500.001.1001 "
		busy    = "500 flapping-query <nil> 500.001.1001 The transaction is being processed"
		paid    = "200  0 <nil> <nil>"
		declare = `[{"name":"flapping-query","when":{"operator":"mpesa"},"operator":{"statusFlickers":true}}]`
		asked   = 60
	)
	f, m := withMPesa(t, payments.Manual)
	f.config.Seed = new(int64(7))
	f.config.Clock = sandboxes.ClockConfig{Mode: sandboxes.ManualClock, Start: new(time.Date(2026, 11, 28, 7, 15, 0, 0, time.UTC))}
	begin := func(run string) { // a reset starts the clock and the draws
		f.reset(run)
		m.client("wanjiku", wanjiku, 50_000, func(c *sandboxes.TestClientConfig) { c.Behavior = payments.Manual })
		f.faulty(declare)
		m.bearer = ""
	}
	begin("once")
	checkout := m.pushed(m.push("", wanjiku, 500))
	truth := func() string {
		p := f.page("reference=" + checkout).body["data"].([]any)[0].(object)
		return fieldsOf(p, "status", "faults")
	}
	ringing, first := m.flicker(checkout, asked)
	for _, one := range []string{right, silent, busy} {
		if n := ringing[one]; n < asked/6 || n > asked/2 {
			t.Errorf("while the phone rings, %d of %d answers are %q: %v", n, asked, one, ringing)
		}
	}
	if len(ringing) != 3 || truth() != "PENDING [flapping-query]" {
		t.Errorf("while the phone rings, the answers are %v, and /v1 tells %s", ringing, truth())
	}
	f.approve(wanjiku)
	ended, _ := m.flicker(checkout, asked)
	if n := ended[busy]; n < asked/10 || n > asked/2 || ended[paid] != asked-n {
		t.Errorf("after the outcome, the answers are %v", ended)
	}
	if got := truth(); got != "SUCCESS [flapping-query]" {
		t.Errorf("after the outcome, /v1 tells %s", got)
	}
	f.conserved()
	down, _ := m.flicker(m.pushed(m.push("", "+254110000908", 500)), asked)
	if n := down[busy]; n == 0 || len(down) != 2 {
		t.Errorf("of a payment that ended with SERVICE_UNAVAILABLE the answers are %v", down)
	}

	if got := m.query("ws_CO_281120261015009712000001"); got.status != http.StatusInternalServerError ||
		got.body["errorMessage"] != "The transaction does not Exist" || got.header.Get("X-Cauri-Fault") != "" {
		t.Errorf("an unknown push is answered %d %s", got.status, got.raw)
	}
	// With the seed and the same clock, a further run has the same answers.
	begin("again")
	if again := m.pushed(m.push("", wanjiku, 500)); again != checkout {
		t.Fatalf("the second run has the push %s, want %s", again, checkout)
	}
	_, second := m.flicker(checkout, asked)
	same(t, "the answers of the same seed", first, second)
	f.faulty(`[]`)
	if right, _ := m.flicker(checkout, asked); len(right) != 1 {
		t.Errorf("without the fault the answers are %v", right)
	}
}
