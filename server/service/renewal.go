package service

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/postgres"
)

// maxTries bounds the repetitions of a request whose configuration changes during its execution.
const maxTries = 10

// Renewing calls f. If f returns [postgres.ErrConfigChanged], Renewing updates who.Sandbox to the current configuration
// and calls f again, at most ten times. Then it returns this error. A reset also changes the configuration, because the
// sandbox gets a new tenant.
func (s *Service) Renewing(ctx context.Context, who *Caller, f func(context.Context) error) error {
	return RenewingBy(func() error { return f(ctx) }, func() error {
		_, err := s.renew(ctx, who)
		return err
	})
}

// RenewingBy is [Service.Renewing] with a function that updates the configuration.
func RenewingBy(f, update func() error) (err error) {
	for range maxTries {
		if err = f(); !errors.Is(err, postgres.ErrConfigChanged) {
			return err
		}
		if err := update(); err != nil {
			return err
		}
	}
	return err
}

// renew updates who.Sandbox to the current configuration and reports whether it changed. It returns [ErrUnauthorized]
// if the key opens no sandbox any more, and [ErrSuspended] for a suspended sandbox.
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
