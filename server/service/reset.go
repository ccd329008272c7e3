package service

import (
	"context"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Reset resets the sandbox. It returns [ErrDenied] and [sandboxes.ErrTooManyResets]. No fault applies to a
// reset: a reset clears the counts of faults, and a fault with a count of one would end every repetition of the reset.
func (s *Service) Reset(ctx context.Context, who *Caller) error {
	return s.permitted(ctx, who, resetSandbox, func(ctx context.Context, sandbox *sandboxes.Sandbox) error {
		return s.sandboxes.ResetByAPI(ctx, sandbox.Tenant)
	})
}
