package main

import (
	"net/http"
	"os"
	"testing"
	"time"
)

// The last hours of November, in a few seconds: a customer who never confirms, an outage of the shop while it is told so, and the books of
// the month. It runs against the sandbox of ../month-end.yaml, whose clock stands at 22:00 on 30 November 2026.
func TestMonthEnd(t *testing.T) {
	if os.Getenv("SHOP_CLOCK") != "manual" {
		t.Skip("start cauri dev with ../month-end.yaml, and set SHOP_CLOCK=manual")
	}
	s := open(t)
	bought, forgotten := s.order(s.number("SUCCESS")), s.order(s.number("TIMEOUT"))

	s.advance(map[string]any{"by": "1m"})
	s.until(bought, "paid")
	s.until(forgotten, "waiting")

	// At 23:00 the payment times out. The shop is down until 23:30, so Cauri tells it again and again, by its schedule.
	s.down.Store(true)
	if done := s.advance(map[string]any{"to": "2026-11-30T23:30:00Z"}); done.Expired != 1 || done.FailedAttempts != 5 {
		t.Errorf("until 23:30: %+v, want one timeout and five attempts", done)
	}
	s.down.Store(false)

	// A payment at the first moment of December belongs to December. Its event goes out while the clock stands, so it is in no advance.
	delivered := s.advance(map[string]any{"to": "2026-12-01T00:00:00Z"}).Delivered
	s.untilDelivered(s.until(s.order(s.number("SUCCESS")), "paid"))

	// The last attempt comes in December, for a payment of November.
	if delivered += s.advance(map[string]any{"to": "2026-12-01T01:00:00Z"}).Delivered; delivered != 1 {
		t.Errorf("until 01:00: %d deliveries, want 1", delivered)
	}
	if late := s.until(forgotten, "failed"); late.Reason != "You did not confirm the payment in time." {
		t.Errorf("the customer is told %q", late.Reason)
	}
	if november := s.succeeded("2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z"); november != 1 {
		t.Errorf("the books of November have %d payments, want 1", november)
	}
	next := s.order(s.number("SUCCESS"))
	s.advance(map[string]any{"by": "1m"})
	s.until(next, "paid")
	if december := s.succeeded("2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"); december != 2 {
		t.Errorf("the books of December have %d payments, want 2", december)
	}
}

// done is what the sandbox did while its clock was advanced.
type done struct{ Settled, Expired, Delivered, FailedAttempts int }

// advance moves the clock of the sandbox, and returns when everything that was due on the way is done. An answer with a target, which has
// the status 202, comes before that: the target, sent again, waits on.
func (v visit) advance(to map[string]any) done {
	v.Helper()
	for {
		var answer struct {
			done
			Target string
		}
		if err := v.shop.cauri.call(v.Context(), http.MethodPost, "/v1/clock/advance", to, &answer); err != nil {
			v.Fatal(err)
		}
		if answer.Target == "" {
			return answer.done
		}
		to = map[string]any{"to": answer.Target}
	}
}

// untilDelivered waits until Cauri has recorded that the shop acknowledged the event of an order.
func (v visit) untilDelivered(o order) {
	v.Helper()
	for range 1200 {
		var list struct{ Data []struct{ ID string } }
		if err := v.shop.cauri.call(v.Context(), http.MethodGet, "/v1/events?state=delivered&tx_id="+o.Payment, nil, &list); err != nil {
			v.Fatal(err)
		}
		if len(list.Data) == 1 {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	v.Fatalf("the event of %s is never delivered", o.Payment)
}

// succeeded counts the payments of a time that succeeded.
func (v visit) succeeded(from, until string) int {
	v.Helper()
	var list struct{ Data []payment }
	path := "/v1/payments?status=SUCCESS&created_after=" + from + "&created_before=" + until
	if err := v.shop.cauri.call(v.Context(), http.MethodGet, path, nil, &list); err != nil {
		v.Fatal(err)
	}
	return len(list.Data)
}
