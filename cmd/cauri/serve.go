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
	// shutdownTimeout bounds how long a process that was told to stop takes, within Kubernetes' usual 30 s.
	shutdownTimeout = 25 * time.Second
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute
)

// serve answers HTTP until ctx ends, then finishes the requests that it has and returns.
func serve(ctx context.Context, name, address string, handler http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listening for the %s: %w", name, err)
	}
	// No WriteTimeout: an answer may be held for minutes. Handlers set deadlines for what they read and write.
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelDebug),
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		stopped <- server.Shutdown(ctx)
	}()
	slog.Info("listening", "for", name, "address", listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the %s: %w", name, err)
	}
	return <-stopped
}
