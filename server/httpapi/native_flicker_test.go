package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"
)

// flicker asks the status of a payment some times, and returns how often each answer came.
func (k *kiosk) flicker(path, reference string, times int) (counts map[string]int, order []string) {
	k.t.Helper()
	counts = map[string]int{}
	for range times {
		status, said, fault := k.told(path+"?reference="+reference, nil)
		told := fmt.Sprint(status, " ", said, " ", fault)
		counts[told]++
		order = append(order, told)
	}
	return counts, order
}

// A fault lets a status call flicker, while the payment is pending and after its outcome. It counts once for each payment,
// and names itself on what is wrong. /v1 tells the truth.
func TestStatusFlickers(t *testing.T) {
	k := newKiosk(t)
	k.config.Seed, k.config.LatencyPercent = new(int64(7)), 100
	k.sandbox(k.config, key)
	k.pay("before", alice)
	k.faulty(`[{"name":"flaps","when":{"type":"collection"},"operator":{"statusFlickers":true}}]`)
	k.pay("paid", alice)
	truth := func(reference string) string {
		return fieldsOf(k.page("reference=" + reference).body["data"].([]any)[0].(object), "status", "faults")
	}
	const asked = 60
	pending, first := k.flicker("/status", "paid", asked)
	for _, one := range []string{`200 "PENDING" `, `200 "nothing" flaps`, `500 "busy" flaps`} {
		if n := pending[one]; n < asked/6 || n > asked/2 {
			t.Errorf("while the payment is pending, %d of %d answers are %s: %v", n, asked, one, pending)
		}
	}
	if got := truth("paid"); got != "PENDING [flaps]" || len(pending) != 3 {
		t.Errorf("while the payment is pending, /v1 tells %s, and the operator %v", got, pending)
	}
	k.advance("1m")
	ended, _ := k.flicker("/status", "paid", asked)
	if n := ended[`500 "busy" flaps`]; n < asked/10 || n > asked/2 || ended[`200 "SUCCESS" `] != asked-n {
		t.Errorf("after the outcome the answers are %v", ended)
	}
	if got := truth("paid"); got != "SUCCESS [flaps]" {
		t.Errorf("after the outcome, /v1 tells %s", got)
	}
	if other, _ := k.flicker("/check", "paid", asked); other[`200 "SUCCESS" `] != asked {
		t.Errorf("a call that lists no wrong answers gives %v", other)
	}
	if n := read[int](k.fixture, "select acts::int from fault_counts where name = 'flaps'"); n != 1 {
		t.Errorf("the fault acted %d times, want once", n)
	}
	// With the seed, the answers are the same again, whatever came between them.
	k.reset("again")
	k.client("alice", alice, 50_000)
	k.faulty(`[{"name":"flaps","when":{"type":"collection"},"operator":{"statusFlickers":true}}]`)
	k.pay("other", alice)
	k.pay("paid", alice)
	var again []string
	for range asked {
		_, one := k.flicker("/status", "paid", 1)
		k.flicker("/status", "other", 1)
		again = append(again, one...)
	}
	same(t, "the answers of the same seed", first, again)
	k.faulty(`[]`)
	if right, _ := k.flicker("/status", "paid", asked); right[`200 "PENDING" `] != asked {
		t.Errorf("without the fault the answers are %v", right)
	}
	k.conserved()
}

// A status that stays pending flickers as one that is pending, and a fault acts on what its conditions match.
func TestStatusFlickersAsItIsTold(t *testing.T) {
	k := newKiosk(t)
	k.config.Seed, k.config.LatencyPercent = new(int64(7)), 100
	k.sandbox(k.config, key)
	for _, reference := range []string{"held", "told", "once-1", "once-2"} {
		k.pay(reference, alice)
	}
	k.faulty(`[{"name":"held","when":{"reference":"held"},"operator":{"statusFlickers":true,"statusStaysPending":"1h"}},
		{"name":"told","when":{"reference":"told","status":"SUCCESS"},"operator":{"statusFlickers":true}},
		{"name":"once","when":{"reference":"once-*","first":1},"operator":{"statusFlickers":true}}]`)
	wrong := func(reference string) int {
		counts, _ := k.flicker("/status", reference, 20)
		return counts[`500 "busy" `+reference] + counts[`200 "nothing" `+reference]
	}
	if wrong("told") != 0 {
		t.Error("the status of a payment flickers whose status does not match")
	}
	if n, _ := k.flicker("/status", "once-1", 20); n[`200 "PENDING" `] == 20 {
		t.Error("the first payment does not flicker")
	}
	if n, _ := k.flicker("/status", "once-2", 20); n[`200 "PENDING" `] != 20 {
		t.Errorf("a fault acts on a second payment: %v", n)
	}
	k.advance("1m")
	held, _ := k.flicker("/status", "held", 40)
	for _, one := range []string{`200 "PENDING" held`, `200 "nothing" held`, `500 "busy" held`} {
		if held[one] == 0 || len(held) != 3 {
			t.Errorf("the status that stays pending is told as %v, and %s is missing", held, one)
		}
	}
	if wrong("told") == 0 {
		t.Error("the status does not flicker after the outcome")
	}
	if status := k.answer("/status?reference=nobody", nil); status != http.StatusBadRequest {
		t.Errorf("the status of an unknown payment is answered %d", status)
	}
}
