package service

import (
	"context"
	"time"
)

// logRenewal is how long before its expiry the mark "log all requests" of a sandbox is renewed.
const logRenewal = 5 * time.Minute

// LogAllRequests has the sandbox log all its requests for a while, also those that succeed.
func (s *Service) LogAllRequests(ctx context.Context, who *Caller) error {
	if who.Sandbox.RequestsLogged(s.now().Add(logRenewal)) {
		return nil
	}
	if err := s.requests.LogAll(ctx, who.Sandbox.Tenant); err != nil {
		return err
	}
	return s.directory.Refresh(ctx)
}
