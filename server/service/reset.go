package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Reset resets the sandbox. It returns [ErrDenied], and [sandboxes.ErrTooManyResets]. No fault applies: since a reset
// ends the memory of faults, a fault would apply to every repetition.
func (s *Service) Reset(ctx context.Context, who *Caller) error {
	return s.permitted(ctx, who, resetSandbox, func(ctx context.Context, sandbox *sandboxes.Sandbox) error {
		return s.sandboxes.ResetByAPI(ctx, sandbox.Tenant)
	})
}
