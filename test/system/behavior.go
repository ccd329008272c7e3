package system

import (
	"fmt"
	"net"
	"net/http"
	"time"
)

// Behavior answers an arrival after the receiver has recorded it. It must return when closed is closed.
type Behavior func(w http.ResponseWriter, r *http.Request, a Arrival, closed <-chan struct{})

// Acknowledge answers at once.
func Acknowledge(w http.ResponseWriter, _ *http.Request, _ Arrival, _ <-chan struct{}) {
	w.WriteHeader(http.StatusNoContent)
}

// AcknowledgeAfter answers after a delay.
func AcknowledgeAfter(d time.Duration) Behavior {
	return func(w http.ResponseWriter, r *http.Request, _ Arrival, closed <-chan struct{}) {
		if waits(r, d, closed) {
			w.WriteHeader(http.StatusNoContent)
		}
	}
}

// Hang never answers.
func Hang(_ http.ResponseWriter, r *http.Request, _ Arrival, closed <-chan struct{}) {
	select {
	case <-r.Context().Done():
	case <-closed:
	}
}

// Reset resets the connection without an answer.
func Reset(w http.ResponseWriter, _ *http.Request, _ Arrival, _ <-chan struct{}) {
	conn := takeOver(w)
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // this makes close send a reset
	}
	_ = conn.Close()
}

// FailFirst answers the first n arrivals of an event with 500.
func FailFirst(n int) Behavior {
	return func(w http.ResponseWriter, _ *http.Request, a Arrival, _ <-chan struct{}) {
		if a.Nth <= n {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusOK)
	}
}

// SlowHeader sends an answer byte by byte and never ends its header.
func SlowHeader(w http.ResponseWriter, _ *http.Request, _ Arrival, closed <-chan struct{}) {
	conn := takeOver(w)
	defer func() { _ = conn.Close() }()
	header := "HTTP/1.1 200 OK\r\nX-Slow: "
	dribble(conn, closed, func(n int) byte {
		if n < len(header) {
			return header[n]
		}
		return 'x'
	})
}

// SlowBody sends the status at once, and then an endless body byte by byte.
func SlowBody(w http.ResponseWriter, _ *http.Request, _ Arrival, closed <-chan struct{}) {
	conn := takeOver(w)
	defer func() { _ = conn.Close() }()
	if _, err := fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"); err != nil {
		return
	}
	dribble(conn, closed, func(int) byte { return 'x' })
}

// Flood acknowledges with size bytes.
func Flood(size int) Behavior {
	return func(w http.ResponseWriter, _ *http.Request, _ Arrival, _ <-chan struct{}) {
		chunk := make([]byte, 64<<10)
		for sent := 0; sent < size; sent += len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return // the other side has read enough
			}
		}
	}
}

// dribble writes a byte every 100 ms until the other side disconnects.
func dribble(conn net.Conn, closed <-chan struct{}, next func(n int) byte) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ; n++ {
		if _, err := conn.Write([]byte{next(n)}); err != nil {
			return
		}
		select {
		case <-closed:
			return
		case <-ticker.C:
		}
	}
}

// waits reports whether the delay ended before the sender disconnected.
func waits(r *http.Request, d time.Duration, closed <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.Context().Done():
	case <-closed:
	}
	return false
}

// takeOver takes the raw connection from the server.
func takeOver(w http.ResponseWriter) net.Conn {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic("taking over a connection: " + err.Error()) // a plain HTTP/1 connection always can
	}
	return conn
}
