package webhooks_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// meeting is a receiver that answers when n requests are there, one after the other with the next of its statuses.
type meeting struct {
	arrived  sync.WaitGroup
	mu       sync.Mutex
	from     []string
	statuses []int
}

func (m *meeting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.arrived.Done()
	m.arrived.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.from = append(m.from, r.Proto+" "+r.RemoteAddr)
	w.WriteHeader(m.statuses[0])
	m.statuses = m.statuses[1:]
}

// Copies that overlap are at the receiver together, on their own connections, also where HTTP/2 would share one. Every
// answer is kept.
func TestCopiesOverlap(t *testing.T) {
	t.Parallel()
	for name, send := range map[string]func(*webhooks.Sender, string) webhooks.Result{
		"event": func(s *webhooks.Sender, url string) webhooks.Result {
			d := delivery(url)
			d.Fault = &faults.Webhook{Duplicate: 3, Overlap: true}
			return s.Send(t.Context(), d)
		},
		"callback": func(s *webhooks.Sender, url string) webhooks.Result {
			return s.Call(t.Context(), webhooks.Callback{URL: url, Method: http.MethodPut, Copies: 3})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &meeting{statuses: []int{204, 500, 202}}
			m.arrived.Add(3)
			server := httptest.NewServer(m)
			defer server.Close()
			r := send(newSender(), server.URL)
			var statuses []int
			for _, c := range r.Copies {
				statuses = append(statuses, c.Status)
			}
			slices.Sort(statuses)
			if !slices.Equal(statuses, []int{202, 204, 500}) || r.Status != r.Copies[2].Status {
				t.Errorf("the result is %d of the copies %v", r.Status, statuses)
			}
			if slices.Sort(m.from); len(slices.Compact(m.from)) != 3 {
				t.Errorf("the copies came by %q", m.from)
			}
		})
	}
}

// A copy without an answer does not take the place of one that was answered.
func TestCopyWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	first := true
	var mu sync.Mutex
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !first {
			panic(http.ErrAbortHandler)
		}
		first = false
		w.WriteHeader(http.StatusNoContent)
	})
	d := delivery(url)
	d.Fault = &faults.Webhook{Duplicate: 2, Overlap: true}
	if r := newSender().Send(t.Context(), d); r.Err != nil || r.Status != 204 || len(r.Copies) != 2 {
		t.Errorf("got %+v", r)
	}
	refused := webhooks.NewSender(egress.Guard{}, "1.2.3", time.Now).Send(t.Context(), d)
	if refused.Kind() != "forbidden" || len(refused.Copies) != 2 {
		t.Errorf("an address that is not allowed: %+v", refused)
	}
}

// A call that gets no connection does not hold up the others.
func TestAtOnceWithoutAConnection(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	calls := 0
	results := webhooks.AtOnce(t.Context(), 3, func(context.Context) int {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return calls
	})
	if slices.Sort(results); !slices.Equal(results, []int{1, 2, 3}) {
		t.Errorf("the results are %v", results)
	}
}
