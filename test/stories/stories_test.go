package stories

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	told "github.com/cauri-dev/cauri/server/stories"
)

var stories = map[string]func(*merchant){
	"double-tap":                doubleTap,
	"duplicate-confirmation":    duplicateConfirmation,
	"flapping-query":            flappingQuery,
	"late-callback-at-midnight": lateCallbackAtMidnight,
	"lost-callback":             lostCallback,
	"lost-webhook":              lostWebhook,
	"maintenance-at-noon":       maintenanceAtNoon,
	"mtn-in-doubt":              mtnInDoubt,
	"network-drop-after-pin":    networkDropAfterPIN,
	"salary-day":                salaryDay,
	"silent-operator":           silentOperator,
	"twice-at-once":             twiceAtOnce,
}

// Each story is played as its file says, and in another market.
func TestStories(t *testing.T) {
	s := install(t)
	for i, story := range told.All() {
		play := stories[story.Name]
		if play == nil {
			t.Errorf("nobody plays %s", story.Name)
			continue
		}
		markets := []told.Market{story.Market()}
		if other, there := elsewhere(i, &story); there {
			markets = append(markets, other)
		}
		for _, market := range markets {
			t.Run(story.Name+" in "+string(market.Country), func(t *testing.T) {
				t.Parallel()
				m := s.merchant(t, &story, market)
				play(m)
				m.isMet()
			})
		}
		if wrong := wrongShops[story.Name]; wrong != nil {
			t.Run(story.Name+" with a wrong shop", func(t *testing.T) {
				t.Parallel()
				m := s.merchantIn(t, &story, story.Market(), wrongShop)
				wrong(m)
				m.Logf("the lines of the Expectation: %+v", m.hasFailed())
			})
		}
	}
}

// elsewhere returns another market for a story; false if there is none.
func elsewhere(i int, story *told.Story) (market told.Market, there bool) {
	others := []told.Market{
		{Operator: payments.Orange, Country: payments.CoteDIvoire}, {Operator: payments.MTN, Country: payments.Benin},
		{Operator: payments.Moov, Country: payments.Togo}, {Operator: payments.MPesa, Country: "KE"},
		{Operator: payments.Orange, Country: "SN"},
	}
	for _, market := range []told.Market{others[i%len(others)], others[1]} { // the second for a story of MTN's own API
		if _, _, err := story.Resources(market); err == nil {
			return market, true
		}
	}
	return told.Market{}, false
}

// The second tap is answered while the first still waits, and both have one payment. The event that comes twice is one.
func doubleTap(m *merchant) {
	var taps sync.WaitGroup
	var tapped [2]payment
	for i := range tapped {
		taps.Go(func() {
			if got, err := m.send(http.MethodPost, "/payments", m.order(1, m.number("901"))); err != nil || got.status >= 300 {
				m.Errorf("tap %d: %d %s, %v", i, got.status, got.body, err)
			}
		})
	}
	taps.Wait()
	for i := range tapped {
		m.must(http.MethodPost, "/payments", m.order(1, m.number("901")), &tapped[i])
	}
	if all := m.payments(); len(all) != 1 || all[0].ID != tapped[0].ID || tapped[0].ID != tapped[1].ID {
		m.Errorf("the payments are %+v, and the answers %+v", all, tapped)
	}
	m.until(func() string {
		if len(m.deliveries()) < 2 {
			return "the event did not come twice"
		}
		return ""
	})
	came := m.deliveries()
	if len(came) != 2 || came[0] != came[1] || came[0].TxID != tapped[0].ID || came[0].Status != "SUCCESS" {
		m.Errorf("there came %+v", came)
	}
	m.acted("slow-answer", 1)
	m.acted("event-twice", 1)
	if p := m.get(tapped[0].ID); !slices.Contains(p.Faults, "slow-answer") {
		m.Errorf("the payment names the faults %v", p.Faults)
	}
}

// Nothing arrives. The payment itself says how it ended.
func silentOperator(m *merchant) {
	var p payment
	m.must(http.MethodPost, "/payments", m.order(1, m.number("905")), &p)
	if p.Status != "PENDING" {
		m.Fatalf("the payment is %+v", p)
	}
	m.advance("3h")
	if ended := m.get(p.ID); ended.Status != "TIMEOUT" {
		m.Errorf("the payment is %+v", ended)
	}
	var events struct {
		Data []struct {
			State        string
			AttemptCount int
		}
	}
	m.must(http.MethodGet, "/events", nil, &events)
	if len(events.Data) != 1 || events.Data[0].State != "failed" || events.Data[0].AttemptCount != 6 || len(m.deliveries()) != 0 {
		m.Errorf("the events are %+v, and there came %+v", events.Data, m.deliveries())
	}
	m.acted("silent", 6)
}

// The event arrives in another month than the one that the payment belongs to.
func lateCallbackAtMidnight(m *merchant) {
	midnight := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	var p payment
	m.must(http.MethodPost, "/payments", m.order(1, m.number("901")), &p)
	m.advance("1m59s")
	if ended := m.get(p.ID); ended.Status != "SUCCESS" || ended.CompletedAt == nil || !ended.CompletedAt.Before(midnight) {
		m.Errorf("before midnight the payment is %+v", ended)
	}
	if came := m.deliveries(); len(came) != 0 {
		m.Errorf("before midnight there came %+v", came)
	}
	m.advance("10m")
	if came := m.deliveries(); len(came) != 1 || came[0].TxID != p.ID || came[0].Status != "SUCCESS" {
		m.Errorf("after midnight there came %+v", came)
	}
	m.acted("after-midnight", 1)
	m.advance("24h") // nothing is due any more
	m.stands(midnight.Add(24*time.Hour + 9*time.Minute + 59*time.Second))
}

// Nothing is recorded during the maintenance, and what was refused is done after it.
func maintenanceAtNoon(m *merchant) {
	var before, after payment
	m.must(http.MethodPost, "/payments", m.order(1, m.number("901")), &before)
	m.advance("1m")
	for range 2 {
		got, err := m.send(http.MethodPost, "/payments", m.order(2, m.number("901")))
		if err != nil || got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1800" ||
			got.header.Get("X-Cauri-Fault") != "maintenance" {
			m.Errorf("at noon the answer is %+v, %v", got, err)
		}
		if all := m.payments(); len(all) != 1 {
			m.Errorf("at noon there are %d payments", len(all))
		}
		m.advance("30m")
	}
	m.must(http.MethodPost, "/payments", m.order(2, m.number("901")), &after)
	m.advance("1m")
	if first, second := m.get(before.ID), m.get(after.ID); first.Status != "SUCCESS" || second.Status != "SUCCESS" {
		m.Errorf("the payments are %+v and %+v", first, second)
	}
	m.acted("maintenance", 2)
}

// Everything is paid and told in the end, in whatever order.
func salaryDay(m *merchant) {
	const orders = 20
	refused := 0
	for n := range orders {
		got, err := m.send(http.MethodPost, "/payments", m.order(n, m.number("901")))
		if err != nil {
			m.Fatal(err)
		}
		if got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") == "1" {
			refused++
			got, err = m.send(http.MethodPost, "/payments", m.order(n, m.number("901")))
		}
		if err != nil || got.status != http.StatusCreated {
			m.Fatalf("order %d is answered with %d %s, %v", n, got.status, got.body, err)
		}
		m.advance("1s")
	}
	m.advance("5m")
	paid := map[string]bool{}
	for _, p := range m.payments() {
		if p.Status != "SUCCESS" {
			m.Errorf("a payment is %+v", p)
		}
		paid[p.ID] = true
	}
	came := m.deliveries()
	told := map[string]bool{}
	for _, d := range came {
		told[d.TxID] = true
	}
	if len(paid) != orders || len(told) != orders || refused == 0 || refused == orders {
		m.Errorf("%d paid, %d told, %d refused", len(paid), len(told), refused)
	}
	if slices.IsSortedFunc(came, func(a, b delivery) int { return strings.Compare(a.TxID, b.TxID) }) {
		m.Error("no event overtook another")
	}
	m.acted("too-many", int64(refused))
}

// The payment was made, and the same request gets it.
func networkDropAfterPIN(m *merchant) {
	if got, err := m.send(http.MethodPost, "/payments", m.order(1, m.number("901"))); err == nil {
		m.Errorf("the answer is %+v", got)
	}
	var p payment
	m.must(http.MethodPost, "/payments", m.order(1, m.number("901")), &p)
	if all := m.payments(); len(all) != 1 || all[0].ID != p.ID {
		m.Errorf("the payments are %+v, the answer is %+v", all, p)
	}
	m.until(func() string {
		if m.get(p.ID).Status != "SUCCESS" {
			return "the payment does not end"
		}
		return ""
	})
	m.acted("answer-lost", 1)
}

// Both copies of one attempt arrive, and the payment is one.
func twiceAtOnce(m *merchant) {
	var p payment
	m.must(http.MethodPost, "/payments", m.order(1, m.number("901")), &p)
	m.until(func() string {
		if len(m.deliveries()) < 2 {
			return "the event did not come twice"
		}
		return ""
	})
	if came := m.deliveries(); len(came) != 2 || came[0] != came[1] || came[0].TxID != p.ID {
		m.Errorf("there came %+v", came)
	}
	m.acted("two-copies", 1)
}

// The payment says itself that it succeeded.
func lostWebhook(m *merchant) {
	var p payment
	m.must(http.MethodPost, "/payments", m.order(1, m.number("901")), &p)
	m.until(func() string {
		if m.get(p.ID).Status != "SUCCESS" {
			return "the payment does not end"
		}
		return ""
	})
	m.acts("never") // the event is sent again by the real clock
	if came := m.deliveries(); len(came) != 0 {
		m.Errorf("there came %+v", came)
	}
}

// MTN's status is all that this merchant has, and it is true only in the end.
func mtnInDoubt(m *merchant) {
	const reference = "c72025f5-5cd1-4630-99e4-8ba4722fad56"
	token := m.mtnToken()
	if got, err := m.mtn(http.MethodPost, "", token, reference); err == nil {
		m.Errorf("the answer is %+v", got)
	}
	status := func() (said struct{ Status string }) {
		got, err := m.mtn(http.MethodGet, "/"+reference, token, "")
		if err != nil || got.status != http.StatusOK || json.Unmarshal(got.body, &said) != nil {
			m.Errorf("MTN says of the payment %d %s, %v", got.status, got.body, err)
		}
		return said
	}
	if got, err := m.mtn(http.MethodPost, "", token, reference); err != nil || got.status != http.StatusConflict {
		m.Errorf("the same request is answered with %d %s, %v", got.status, got.body, err)
	}
	m.advance("1m")
	if all, said := m.payments(), status().Status; len(all) != 1 || all[0].Status != "SUCCESS" || said != "PENDING" {
		m.Errorf("the payments are %+v, and MTN says %s", all, said)
	}
	m.advance("10m")
	if said := status().Status; said != "SUCCESSFUL" {
		m.Errorf("MTN says %s in the end", said)
	}
	if came := m.receiver.callbacks.Load(); came != 0 {
		m.Errorf("there came %d callbacks", came)
	}
	if all := m.payments(); !slices.Contains(all[0].Faults, "in-doubt") {
		m.Errorf("the payment names the faults %v", all[0].Faults)
	}
}
