package worker_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/worker"
)

func TestWorkerRemovesOldEventsIfItIsToldTo(t *testing.T) {
	w := newFixture(t, nil)
	w.pay("r1", payments.Success)
	stop := w.run() // which keeps them for ever
	w.until(ledger.EventDelivered, 1)
	stop()
	if n := read[int](w, "select count(*) from events"); n != 1 {
		t.Fatalf("%d events are left though they are kept for ever", n)
	}
	w.run(func(o *worker.Options) { o.EventRetention = time.Millisecond })
	eventually(t, func() string {
		if n := read[int](w, "select (select count(*) from events) + (select count(*) from delivery_attempts)"); n != 0 {
			return fmt.Sprintf("%d rows are left", n)
		}
		return ""
	})
	if n := read[int](w, "select count(*) from transactions"); n != 1 {
		t.Errorf("%d transactions are left", n)
	}
}
