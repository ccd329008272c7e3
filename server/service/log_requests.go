package service

import (
	"context"
	"time"
)

// logRenewal is how long before its end the mark is renewed that all requests of a sandbox are logged.
const logRenewal = 5 * time.Minute

// LogAllRequests has the requests of the sandbox logged that succeed, too, for a while.
func (s *Service) LogAllRequests(ctx context.Context, who *Caller) error {
	if who.Sandbox.RequestsLogged(s.now().Add(logRenewal)) {
		return nil
	}
	if err := s.requests.LogAll(ctx, who.Sandbox.Tenant); err != nil {
		return err
	}
	return s.directory.Refresh(ctx)
}
