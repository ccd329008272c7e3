// Package httpserver is an HTTP server for untrusted clients. Deadlines bound how long a client can keep a connection
// open or delay the end of the process.
package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Deadlines bound the time of clients and handlers.
type Deadlines struct {
	Head  time.Duration // time for a client to send the head of a request
	Body  time.Duration // time for a client to send the body of a request, after the head
	Write time.Duration // time for a client to read an answer, after its first write
	Idle  time.Duration // time between two requests of a connection
	Drain time.Duration // time for the open requests when the server stops; then their connections are closed
}

// Default has the deadlines of all servers.
var Default = Deadlines{Head: 10 * time.Second, Body: 15 * time.Second, Write: 15 * time.Second, Idle: 2 * time.Minute,
	Drain: 3 * time.Second}

// maxHead is the maximum size of a request's head, in bytes. With it, a thousand clients with endless heads use at most
// 16 MiB. The default of net/http is 1 MiB for each client.
const maxHead = 16 << 10

// sendBuffer is the size of a connection's send buffer, in bytes. Linux doubles the value. Without a value, Linux uses
// up to 4 MiB for a client that does not read, and counts this as memory of the container.
const sendBuffer = 64 << 10

// Server is an HTTP server with deadlines.
type Server struct {
	http  *http.Server
	drain time.Duration
}

// New returns a server that calls handler.
func New(handler http.Handler, d Deadlines) *Server {
	return &Server{drain: d.Drain, http: HTTP(handler, d)}
}

// HTTP returns a server of net/http with all deadlines except Drain. The caller applies Drain when it stops the server.
func HTTP(handler http.Handler, d Deadlines) *http.Server {
	return &http.Server{
		Handler: d.bound(handler), ReadHeaderTimeout: d.Head, IdleTimeout: d.Idle, MaxHeaderBytes: maxHead,
		// WriteTimeout starts with the head of a request. answer.WriteHeader starts it again, perhaps minutes later.
		// Before that, it bounds writes by net/http itself. ReadTimeout is not set, because it would cancel requests
		// whose answers are held.
		WriteTimeout: d.Write,
		ConnState: func(c net.Conn, state http.ConnState) {
			if buffered, is := c.(interface{ SetWriteBuffer(bytes int) error }); is && state == http.StateNew {
				_ = buffered.SetWriteBuffer(sendBuffer) // an error means that the connection is closed
			}
		},
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
}

// Serve serves requests until ctx ends. Then it accepts no more connections, waits for open requests until the deadline
// Drain, closes the remaining connections, and returns nil. It returns an error if it cannot serve.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		s.stop(context.WithoutCancel(ctx))
	}()
	if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	return nil
}

// stop stops the server within the deadline Drain.
func (s *Server) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.drain)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		slog.WarnContext(ctx, "closing connections whose requests did not end in time", "after", s.drain)
		_ = s.http.Close() // an error of one connection cannot be handled
	}
}
