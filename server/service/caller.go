package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Caller is the holder of an API key that makes a request, with the sandbox of the key.
type Caller struct {
	Key     sandboxes.KeyHash
	Sandbox *sandboxes.Sandbox // snapshot of the configuration; replaced when the configuration changes
	Faults  RequestFaults
}

// FindCaller returns the caller that find returns. If find returns nil, FindCaller refreshes the cached configuration
// and calls find again, because the key may be newer than the cache. If find returns nil again, FindCaller returns
// [ErrUnauthorized].
func (s *Service) FindCaller(ctx context.Context, find func() *Caller) (*Caller, error) {
	if who := find(); who != nil {
		return who, nil
	}
	if err := s.directory.Refresh(ctx); err != nil {
		return nil, err
	}
	if who := find(); who != nil {
		return who, nil
	}
	return nil, ErrUnauthorized
}
