package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// ErrTestClientExists is returned if the sandbox already has a test client with the number.
type ErrTestClientExists struct {
	TestClient TestClient // in its current state
}

func (e *ErrTestClientExists) Error() string {
	return e.TestClient.MSISDN + " is a test client already"
}

// ErrManagedByResource is returned for a test client that can be changed only through its resource.
type ErrManagedByResource struct {
	Name string // of the TestClient
}

func (e ErrManagedByResource) Error() string { return "the SIM belongs to the TestClient " + e.Name }

// ErrTooManyTestClients is returned when the limit of test clients in a sandbox is reached.
type ErrTooManyTestClients struct {
	Limit int64
}

func (e ErrTooManyTestClients) Error() string {
	return fmt.Sprintf("the sandbox has %d test clients, and may have no more", e.Limit)
}

// AddTestClient registers a SIM without a TestClient resource, with its opening balance. It returns
// [*ErrTestClientExists], [ErrTooManyTestClients], and [postgres.ErrConfigChanged] if the configuration of the sandbox
// has changed.
func (l *Ledger) AddTestClient(ctx context.Context, sandbox *sandboxes.Sandbox, c TestClient) error {
	err := l.addTestClient(ctx, sandbox, c)
	if lostRace := new(pgconn.PgError); errors.As(err, &lostRace) && lostRace.ConstraintName == "sims_tenant_msisdn_key" {
		err = l.addTestClient(ctx, sandbox, c) // it finds the test client that won the race
	}
	if err != nil {
		err = postgres.ClassifyWrite(err, "registering the test client")
	}
	l.noteRecorded(sandbox.Tenant, err)
	return err
}

func (l *Ledger) addTestClient(ctx context.Context, sandbox *sandboxes.Sandbox, c TestClient) error {
	tenant := sandbox.Tenant
	return l.changeRegistry(ctx, sandbox, func(q *sqlc.Queries) error {
		present, err := q.FindTestClient(ctx, tenant, c.MSISDN)
		switch {
		case err == nil:
			return &ErrTestClientExists{TestClient: testClientOf(&present.Sim, present.Prompts)}
		case !errors.Is(err, pgx.ErrNoRows):
			return err
		}
		if limit := sandbox.API.MaxTestClients; limit != nil {
			count, err := q.CountRegistry(ctx, tenant)
			if err != nil {
				return err
			}
			if count.All >= *limit {
				return ErrTooManyTestClients{Limit: *limit}
			}
		}
		err = q.CreateTestClient(ctx, sqlc.CreateTestClientParams{
			Tenant: tenant, SimID: postgres.UUID(c.ID), Name: c.Name, MSISDN: c.MSISDN, Operator: string(c.Operator), Country: string(c.Country),
			Currency: string(c.Currency()), Blocked: c.Blocked, Behavior: string(c.Behavior), Balance: c.Balance,
		})
		if err != nil {
			return err
		}
		return q.InsertSIMAdjustment(ctx, sqlc.InsertSIMAdjustmentParams{
			Tenant: tenant, SimID: postgres.UUID(c.ID), Delta: c.Balance, BalanceAfter: c.Balance, Number: 1,
		})
	})
}

// ChangeTestClient changes the name, the state, the behavior and the balance of a SIM that was added through the API,
// and returns it. A new balance is recorded as an adjustment of the current one. It calls the function change while the
// SIM is locked, and returns the error of change.
//
// It returns [ErrNotFound], [ErrManagedByResource], and [postgres.ErrConfigChanged] as [Ledger.AddTestClient] does.
func (l *Ledger) ChangeTestClient(
	ctx context.Context, sandbox *sandboxes.Sandbox, msisdn string, change func(*TestClient) error,
) (changed TestClient, err error) {
	tenant := sandbox.Tenant
	err = l.changeRegistry(ctx, sandbox, func(q *sqlc.Queries) error {
		row, err := q.LockTestClient(ctx, tenant, msisdn)
		if err != nil {
			return err
		}
		if row.Source != sandboxes.SourceAPI {
			return ErrManagedByResource{Name: row.Name}
		}
		wanted := testClientOf(&row, 0)
		if err := change(&wanted); err != nil {
			return err
		}
		movements := row.Movements
		if wanted.Balance != row.Balance {
			movements++
			err = q.InsertSIMAdjustment(ctx, sqlc.InsertSIMAdjustmentParams{
				Tenant: tenant, SimID: row.SimID, Delta: wanted.Balance - row.Balance, BalanceAfter: wanted.Balance, Number: movements,
			})
			if err != nil {
				return err
			}
		}
		err = q.ChangeTestClient(ctx, sqlc.ChangeTestClientParams{
			Tenant: tenant, SimID: row.SimID, Name: wanted.Name, Blocked: wanted.Blocked, Behavior: string(wanted.Behavior),
			Balance: wanted.Balance, Movements: movements, NowID: postgres.UUID(payments.FirstID(time.Now())),
		})
		if err != nil {
			return err
		}
		found, err := q.FindTestClient(ctx, tenant, msisdn)
		changed = testClientOf(&found.Sim, found.Prompts)
		return err
	})
	return changed, registryFailure(err, "changing the test client")
}

// ManualFor is the real time for which a holder answers by hand, see [Ledger.SetManual].
const ManualFor = 30 * time.Minute

// SetManual lets the holder of a SIM answer by hand for [ManualFor] from now on, whatever the SIM's behavior, or ends that.
// Prompts that wait at the end go on to wait. It returns [ErrNotFound], and [postgres.ErrConfigChanged] as
// [Ledger.AddTestClient] does.
func (l *Ledger) SetManual(ctx context.Context, sandbox *sandboxes.Sandbox, msisdn string, on bool) (c TestClient, err error) {
	var seconds *int32
	if on {
		seconds = new(int32(ManualFor.Seconds()))
	}
	err = l.changeRegistry(ctx, sandbox, func(q *sqlc.Queries) error {
		row, err := q.LockTestClient(ctx, sandbox.Tenant, msisdn)
		if err != nil {
			return err
		}
		if err := q.SetManual(ctx, seconds, sandbox.Tenant, row.SimID); err != nil {
			return err
		}
		found, err := q.FindTestClient(ctx, sandbox.Tenant, msisdn)
		c = testClientOf(&found.Sim, found.Prompts)
		return err
	})
	return c, registryFailure(err, "letting the holder answer")
}

// RemoveTestClient deletes a SIM that was added through the API. Payments that wait for its answer end with
// UNKNOWN_MSISDN, as with a deleted TestClient. It returns the errors of [Ledger.ChangeTestClient].
func (l *Ledger) RemoveTestClient(ctx context.Context, sandbox *sandboxes.Sandbox, msisdn string) error {
	err := l.changeRegistry(ctx, sandbox, func(q *sqlc.Queries) error {
		deleted, err := q.DeleteTestClient(ctx, sandbox.Tenant, msisdn)
		if err != nil || deleted > 0 {
			return err
		}
		row, err := q.FindSIM(ctx, sandbox.Tenant, msisdn)
		if err != nil {
			return err
		}
		return ErrManagedByResource{Name: row.Name}
	})
	if err != nil {
		err = registryFailure(err, "deleting the test client")
	}
	l.noteRecorded(sandbox.Tenant, err)
	return err
}

// changeRegistry runs f in the scope of a sandbox, under an advisory lock on its registry. It returns
// [postgres.ErrConfigChanged] if the configuration of the sandbox has changed.
func (l *Ledger) changeRegistry(ctx context.Context, sandbox *sandboxes.Sandbox, f func(q *sqlc.Queries) error) error {
	return l.core.InTenantTx(ctx, sandbox.Tenant, func(q *sqlc.Queries) error {
		version, err := q.HoldRegistry(ctx, sandbox.Tenant)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && version != sandbox.ConfigVersion {
			return postgres.ErrConfigChanged
		}
		if err != nil {
			return err
		}
		return f(q)
	})
}

func registryFailure(err error, doing string) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return postgres.ClassifyWrite(err, doing)
}
