package service

import (
	"context"
	"time"
)

// logRenewal is the remaining time of a sandbox's mark "log all requests" at which the mark is renewed.
const logRenewal = 5 * time.Minute

// LogAllRequests sets or renews the mark "log all requests" of a sandbox. While the mark is valid, the request log also
// keeps requests that succeed.
func (s *Service) LogAllRequests(ctx context.Context, who *Caller) error {
	if who.Sandbox.RequestsLogged(s.now().Add(logRenewal)) {
		return nil
	}
	if err := s.requests.LogAll(ctx, who.Sandbox.Tenant); err != nil {
		return err
	}
	return s.directory.Refresh(ctx)
}
