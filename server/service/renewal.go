package service

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/postgres"
)

// maxTries bounds how often a request is repeated because the configuration changed.
const maxTries = 10

// Renewing calls f. It calls f again with the current configuration of the caller's sandbox as long as f fails with
// [postgres.ErrConfigChanged], and returns that error after [maxTries]. A sandbox that was reset has a new tenant, so
// no answer comes from the old one.
func (s *Service) Renewing(ctx context.Context, who *Caller, f func(context.Context) error) error {
	err := f(ctx)
	for range maxTries {
		if !errors.Is(err, postgres.ErrConfigChanged) {
			break
		}
		if _, err := s.renew(ctx, who); err != nil {
			return err
		}
		err = f(ctx)
	}
	return err
}

// renew brings a caller's configuration up to date and reports whether it changed. It returns [ErrUnauthorized] if the
// key does not open the sandbox any more, and [ErrSuspended].
func (s *Service) renew(ctx context.Context, who *Caller) (changed bool, err error) {
	if err := s.directory.Refresh(ctx); err != nil {
		return false, err
	}
	current, valid := s.directory.ByKey(who.Key)
	if !valid {
		return false, ErrUnauthorized
	}
	if current.Suspended {
		return false, ErrSuspended
	}
	changed = current.ConfigVersion != who.Sandbox.ConfigVersion
	who.Sandbox = current
	return changed, nil
}
