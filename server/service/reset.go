package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Reset resets the sandbox. It returns [ErrDenied], and [sandboxes.ErrTooManyResets]. No fault applies: it would apply
// to each repetition, since a reset ends what faults remember.
func (s *Service) Reset(ctx context.Context, who *Caller) error {
	return s.permitted(ctx, who, resetSandbox, func(ctx context.Context, sandbox *sandboxes.Sandbox) error {
		return s.sandboxes.ResetByAPI(ctx, sandbox.Tenant)
	})
}
