package sandboxes

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// ErrTooManyResets is returned for a reset by the API beyond five in a second. Nothing is done.
var ErrTooManyResets = errors.New("the sandbox was reset five times in the last second")

// ResetByAPI empties a sandbox as a new value of its resource's spec.reset does, for its own API key. The value that the resource asked for
// last stays, so that the controller neither repeats nor undoes it. It returns [postgres.ErrConfigChanged] where the API may not reset
// the sandbox by now, and for a tenant that was reset or deleted: nothing is done then. It returns [ErrTooManyResets] too.
func (s *Store) ResetByAPI(ctx context.Context, tenant int64) error {
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

// reset empties the sandbox: the organization gets a new tenant number, with its configuration as it stands, its SIMs at
// their opening balances and nothing else. The steps that follow write the floats, at the opening values of the present
// resource. What was there stays behind with the former number, which is retired in the same database transaction.
//
// What was being written for the former number meanwhile ends there too: nothing of it reaches the new one.
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

// wantsReset reports whether the resource has a value that was not carried out yet. One that is taken out of the resource
// asks for nothing.
func (c *sandboxChange) wantsReset(done string) bool {
	return c.want.Reset != "" && c.want.Reset != done
}
