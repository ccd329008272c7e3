package bench

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
)

// Receiver is an endpoint that counts all events without checking them. A full check would take processor time from the
// measured programs.
type Receiver struct {
	URL    string
	Status int // of all answers; 0: it acknowledges
	server http.Server

	mu      sync.Mutex
	arrived map[string]int // deliveries by event; nil: do not distinguish events
	total   int
}

// OpenReceiver opens an endpoint that distinguishes events.
func OpenReceiver() (*Receiver, error) {
	s := &Receiver{arrived: map[string]int{}}
	return s, s.Open()
}

func (s *Receiver) Open() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("opening an endpoint: %w", err)
	}
	s.URL, s.server.Handler = "http://"+listener.Addr().String()+"/hook", s
	go func() { _ = s.server.Serve(listener) }() // until it is closed
	return nil
}

func (s *Receiver) Close() { _ = s.server.Close() }

// ServeHTTP takes a delivery.
func (s *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // so that the connection is reused
	s.mu.Lock()
	s.total++
	if s.arrived != nil {
		s.arrived[r.Header.Get("X-Service-Delivery")]++
	}
	s.mu.Unlock()
	w.WriteHeader(cmp.Or(s.Status, http.StatusNoContent))
}

// Empty resets the counts. It returns the number of events and of repeated deliveries.
func (s *Receiver) Empty() (events, again int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	events, again = len(s.arrived), s.total-len(s.arrived)
	if s.arrived == nil {
		events, again = s.total, 0
	}
	s.total = 0
	clear(s.arrived)
	return events, again
}
