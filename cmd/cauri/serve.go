package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
)

// bind takes an address to serve on. The name tells what for, in messages.
func bind(name, address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for the %s: %w", name, err)
	}
	slog.Info("listening", "for", name, "address", listener.Addr().String())
	return listener, nil
}

// serve answers HTTP until ctx ends, then finishes the requests that it has, however long they take, and returns.
func serve(ctx context.Context, name string, listener net.Listener, handler http.Handler) error {
	// No WriteTimeout: an answer may be held for minutes. Handlers set deadlines for what they read and write.
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		stopped <- server.Shutdown(context.WithoutCancel(ctx))
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the %s: %w", name, err)
	}
	return <-stopped
}
