package sandboxes

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// ErrTooManyResets is returned for a reset by the API if five took place in the last second. Nothing is done.
var ErrTooManyResets = errors.New("the sandbox was reset five times in the last second")

// ResetByAPI empties a sandbox at the request of a caller with its API key. The effect is that of a new value of
// spec.reset. It does not change the recorded value of spec.reset, so that the controller neither repeats nor undoes
// the reset. It returns [postgres.ErrConfigChanged] if the API may no longer reset the sandbox, or if the tenant was
// reset or deleted. It returns [ErrTooManyResets] after five resets in the last second. After an error, nothing has
// changed.
func (s *Registry) ResetByAPI(ctx context.Context, tenant int64) error {
	present, err := sqlc.New(s.db.Tenant(tenant)).ResetByAPI(ctx)
	switch {
	case err != nil:
		return postgres.ClassifyWrite(err, "resetting the sandbox")
	case present < 0:
		return postgres.ErrConfigChanged
	case present == 0:
		return ErrTooManyResets
	}
	return nil
}

// reset empties the sandbox: the organization gets a new tenant number, with its present configuration and its SIMs at
// their opening balances. sandboxChange.floats writes the floats afterwards, at the opening values of the resource. All
// other rows keep the former number, which is retired in the same database transaction.
//
// Statements that run during the reset write for the former number, so none of their rows belongs to the new number.
func (c *sandboxChange) reset(ctx context.Context, former int64) error {
	tenant, err := c.q.NewTenant(ctx)
	if err != nil {
		return err
	}
	if err := c.q.MoveOrganization(ctx, tenant, c.want.Reset, former); err != nil {
		return err
	}
	move := []func() error{
		func() error { return c.q.MoveEnvironments(ctx, tenant, former) },
		func() error { return c.q.MoveStores(ctx, tenant, former) },
		func() error { return c.q.MoveKeys(ctx, tenant, former) },
		func() error { return c.q.MoveOperatorCredentials(ctx, tenant, former) },
		func() error { return c.q.CopySIMs(ctx, tenant, former) },
	}
	for _, step := range move {
		if err := step(); err != nil {
			return err
		}
	}
	c.tenant, c.former, c.changed = tenant, former, true
	return nil
}

// wantsReset reports whether the resource has a value of spec.reset that was not carried out yet. An empty value asks
// for no reset.
func (c *sandboxChange) wantsReset(done string) bool {
	return c.want.Reset != "" && c.want.Reset != done
}
