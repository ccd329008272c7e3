package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Reset resets the sandbox. It returns [ErrDenied] and [sandboxes.ErrTooManyResets]. No fault applies to a reset. A
// reset also clears the counts of faults, so a fault with a count of one would apply to every repetition.
func (s *Service) Reset(ctx context.Context, who *Caller) error {
	return s.permitted(ctx, who, resetSandbox, func(ctx context.Context, sandbox *sandboxes.Sandbox) error {
		return s.sandboxes.ResetByAPI(ctx, sandbox.Tenant)
	})
}
