// Package httpserver serves HTTP to untrusted clients: no client can hold a connection, or delay the end of the process, for longer than a
// deadline.
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
	Head  time.Duration // to send the head of a request, from its first bytes
	Body  time.Duration // to send the body of a request, from the end of its head, whatever the answer is
	Write time.Duration // to read an answer, from the moment when it is written
	Idle  time.Duration // between two requests of a connection
	Drain time.Duration // to finish requests once the server is told to stop; then their connections are closed
}

// Default are the deadlines of everything that is served.
var Default = Deadlines{Head: 10 * time.Second, Body: 15 * time.Second, Write: 15 * time.Second, Idle: 2 * time.Minute,
	Drain: 3 * time.Second}

// maxHead is the largest head of a request in bytes. A thousand clients that send endless heads use at most 16 MiB together; Go's default
// is 1 MiB for each.
const maxHead = 16 << 10

// sendBuffer is how many bytes of an answer the system keeps for a client that does not read. It counts the memory twice, and takes up to
// 4 MiB for each connection if it may choose, which is part of the memory of the container.
const sendBuffer = 64 << 10

// Server is an HTTP server that keeps its deadlines.
type Server struct {
	http  *http.Server
	drain time.Duration
}

// New makes a server of a handler.
func New(handler http.Handler, d Deadlines) *Server {
	return &Server{drain: d.Drain, http: HTTP(handler, d)}
}

// HTTP makes a server of net/http that keeps all deadlines but Drain, which the caller applies when it ends the server.
func HTTP(handler http.Handler, d Deadlines) *http.Server {
	return &http.Server{
		Handler: d.bound(handler), ReadHeaderTimeout: d.Head, IdleTimeout: d.Idle, MaxHeaderBytes: maxHead,
		// It starts with the head of a request and again when a response is written, which may be minutes later. Until then it bounds what
		// net/http writes by itself. There is no ReadTimeout: it would end held answers.
		WriteTimeout: d.Write,
		ConnState: func(c net.Conn, state http.ConnState) {
			if buffered, is := c.(interface{ SetWriteBuffer(bytes int) error }); is && state == http.StateNew {
				_ = buffered.SetWriteBuffer(sendBuffer) // a connection that is closed already has none
			}
		},
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
}

// Serve answers until ctx ends. Then it accepts no more connections, gives requests the deadline Drain, closes what is left, and returns
// nil. It returns an error if it cannot serve.
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

// stop ends the server within the deadline Drain.
func (s *Server) stop(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, s.drain)
	defer cancel()
	if s.http.Shutdown(ctx) != nil {
		slog.WarnContext(ctx, "closing connections whose requests did not end in time", "after", s.drain)
		_ = s.http.Close() // nothing can be done about a connection that does not close
	}
}
