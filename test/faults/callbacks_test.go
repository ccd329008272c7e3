package faults

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// callbackReceiver counts the callbacks of MTN's own API by their paths. It answers when it may.
type callbackReceiver struct {
	*httptest.Server
	mu   sync.Mutex
	came map[string][]string
}

func newCallbackReceiver(t *testing.T, may <-chan struct{}) *callbackReceiver {
	r := &callbackReceiver{came: map[string][]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		r.mu.Lock()
		r.came[request.URL.Path] = append(r.came[request.URL.Path], string(body))
		r.mu.Unlock()
		select {
		case <-may:
		case <-request.Context().Done():
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// all are the callbacks that came.
func (r *callbackReceiver) all() map[string][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string][]string{}
	for path, bodies := range r.came {
		all[path] = append([]string(nil), bodies...)
	}
	return all
}

// A worker is killed while callbacks of MTN's own API are on their way. Another one sends these again after their leases, and
// every callback comes, the others once.
func TestWorkerKilledDuringCallbacks(t *testing.T) {
	if os.Getenv("CAURI_TEST_WHOLE") == "" {
		t.Skip("CAURI_TEST_WHOLE=1 runs it") // it waits for leases to end
	}
	const requests = 60 // more than one sandbox may have under way
	w := newFixture(t)
	api := w.api("api")
	m := w.merchant("shop", api, system.Acknowledge)
	payer, err := m.AddPayer(t.Context(), 1, payments.Approve, 1_000_000)
	w.must(err)
	mtn, err := m.MTN(t.Context(), api)
	w.must(err)
	may := make(chan struct{})
	receiver := newCallbackReceiver(t, may)
	for n := range requests {
		reference := fmt.Sprintf("%08x-0000-4000-8000-000000000000", n)
		answer, err := mtn.RequestToPay(t.Context(), reference, payer.MSISDN, receiver.URL+"/"+reference)
		w.must(err)
		if answer.Status != http.StatusAccepted {
			t.Fatalf("a request to pay was answered %d %s", answer.Status, answer.Body)
		}
	}
	arrived := func(n int) {
		t.Helper()
		w.until(stall, fmt.Sprintf("%d callbacks arrive", n), func(context.Context) error {
			if came := len(receiver.all()); came < n {
				return fmt.Errorf("%d arrived", came)
			}
			return nil
		})
	}
	victim := w.worker("victim")
	arrived(10) // none is answered
	victim.Kill()
	interrupted := receiver.all()
	w.audited()
	close(may)
	w.worker("survivor")
	arrived(requests)
	w.until(stall, "no callback is due", func(ctx context.Context) error {
		due, err := w.Count(ctx, "select count(*) from native_callbacks where state = 'queued'")
		if err == nil && due > 0 {
			err = fmt.Errorf("%d are", due)
		}
		return err
	})
	w.drained(m)
	for path, bodies := range receiver.all() {
		most := 1
		if interrupted[path] != nil {
			most = 2
		}
		if len(bodies) > most {
			t.Errorf("%s came %d times, want at most %d", path, len(bodies), most)
		}
		for _, body := range bodies {
			if !strings.Contains(body, `"status":"SUCCESSFUL"`) || body != bodies[0] {
				t.Errorf("%s says %s", path, bodies)
			}
		}
	}
}
