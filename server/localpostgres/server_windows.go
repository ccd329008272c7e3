package localpostgres

import (
	"context"
	"errors"
	"time"
)

// Server is a running Postgres, which this package does not run on Windows.
type Server struct{}

// Options are the settings of a [Server].
type Options struct {
	Home     *Home
	Programs func(ctx context.Context, major int) (Programs, error)
}

// ErrLocked is never returned.
var ErrLocked = errors.New("another process works with it")

// Home is the folder of a server.
type Home struct{ Path string }

// CheckFolder checks nothing.
func CheckFolder(string, int) error { return nil }

var errUnsupported = errors.New("on Windows no Postgres is started")

// KeptHome returns an error.
func KeptHome(string) (*Home, error) { return nil, errUnsupported }

// TemporaryHome returns an error.
func TemporaryHome(context.Context) (*Home, error) { return nil, errUnsupported }

// Close does nothing.
func (*Home) Close() error { return nil }

// Start returns an error.
func Start(context.Context, Options) (*Server, error) {
	return nil, errUnsupported
}

// URL returns an empty text.
func (*Server) URL() string { return "" }

// Ended returns nil.
func (*Server) Ended() <-chan struct{} { return nil }

// Stop does nothing.
func (*Server) Stop(time.Duration) error { return nil }
