package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Caller is who makes a request: the holder of an API key, and the sandbox that the key opens.
type Caller struct {
	Key     sandboxes.KeyHash
	Sandbox *sandboxes.Sandbox // in the configuration by which the request is carried out; replaced when that changes
	Faults  RequestFaults
}

// FindCaller returns the caller that find returns. If that is nil, it reads the configuration again and calls find once
// more, since the key may be seconds old. It returns [ErrUnauthorized] if there is no such caller.
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
