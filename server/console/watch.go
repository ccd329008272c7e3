package console

import (
	"context"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

const (
	// watchInterval is the interval between checks of the sessions that have a stream.
	watchInterval = 400 * time.Millisecond
	// watchTimeout is the maximum time of one check.
	watchTimeout = 5 * time.Second
)

// watched has the open streams of this process with their sessions. It checks all sessions in one statement and cancels
// the streams of ended sessions. It is safe for concurrent use.
type watched struct {
	open  func(context.Context, []sandboxes.ConsoleToken) (map[sandboxes.ConsoleToken]bool, error)
	valid func(key sandboxes.KeyHash, organization string) bool // whether the key still opens the sandbox

	mu      sync.Mutex
	streams map[*watchedStream]bool
}

type watchedStream struct {
	sandboxes.ConsoleToken
	key    sandboxes.KeyHash
	cancel context.CancelFunc
}

// add returns a context that ends with the session. The caller calls stop when the stream has ended.
func (w *watched) add(token sandboxes.ConsoleToken, key sandboxes.KeyHash) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &watchedStream{token, key, cancel}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.streams) == 0 {
		w.streams = map[*watchedStream]bool{}
		go w.run()
	}
	w.streams[s] = true
	return ctx, func() {
		cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.streams, s)
	}
}

// run checks the sessions at every interval, until no stream is open.
func (w *watched) run() {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	for range ticker.C {
		w.mu.Lock()
		if len(w.streams) == 0 {
			w.streams = nil
			w.mu.Unlock()
			return
		}
		all := make([]*watchedStream, 0, len(w.streams))
		for s := range w.streams {
			all = append(all, s)
		}
		w.mu.Unlock()
		w.check(all)
	}
}

// check ends the streams whose session has ended, or whose key is no longer valid. While the database is unavailable,
// it can only check the keys.
func (w *watched) check(all []*watchedStream) {
	ctx, cancel := context.WithTimeout(context.Background(), watchTimeout)
	defer cancel()
	tokens := make([]sandboxes.ConsoleToken, len(all))
	for i, s := range all {
		tokens[i] = s.ConsoleToken
	}
	open, err := w.open(ctx, tokens)
	for _, s := range all {
		if err == nil && !open[s.ConsoleToken] || !w.valid(s.key, s.OrganizationID) {
			s.cancel()
		}
	}
}
