package sandboxes

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// The sources of a SIM.
const (
	SourceResource = "resource" // a TestClient
	SourceAPI      = "api"
)

// ApplyTestClient makes the row of a SIM equal to its resource, and returns its state after that. It writes nothing if
// the row is equal already. If the API created a SIM with the same number, ApplyTestClient deletes it. It returns
// [ErrDuplicateMSISDN] if the SIM of another resource holds the number, [ErrRegistryFull] if there is no room for a new
// SIM, [ErrNoOrganization] if the sandbox was not applied yet, and [ErrStaleGeneration] as [Registry.ApplySandbox] does.
func (s *Registry) ApplyTestClient(ctx context.Context, sandboxUID string, want TestClientConfig) (TestClientState, error) {
	sandbox, err := parseUID(sandboxUID)
	if err != nil {
		return TestClientState{}, err
	}
	sim, err := parseUID(want.UID)
	if err != nil {
		return TestClientState{}, err
	}
	present, err := s.unscoped().FindRegisteredSIM(ctx, sandbox, sim)
	if err == nil && sameSIM(present, want) {
		return TestClientState{Balance: present.Balance}, nil
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return TestClientState{}, postgres.Classify(err, "reading the test client")
	}
	state, err := s.applyTestClient(ctx, sandbox, sim, want)
	if lostRace := new(pgconn.PgError); errors.As(err, &lostRace) && lostRace.ConstraintName == "sims_tenant_msisdn_key" {
		state, err = s.applyTestClient(ctx, sandbox, sim, want) // the second call finds the SIM that won the race
	}
	return state, postgres.Classify(err, "applying the test client to the database")
}

func (s *Registry) applyTestClient(ctx context.Context, sandbox, sim pgtype.UUID, want TestClientConfig) (
	state TestClientState, err error,
) {
	err = s.inTx(ctx, func(q *sqlc.Queries) error {
		tenant, err := q.TenantOf(ctx, sandbox)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoOrganization
		}
		if err != nil {
			return err
		}
		if want.Limit > 0 { // lock order: before all SIMs, as in changes through the API
			if _, err := q.HoldRegistry(ctx, tenant); err != nil {
				return err
			}
		}
		if err := takeNumber(ctx, q, tenant, sim, want); err != nil {
			return err
		}
		state, err = applySIM(ctx, q, tenant, sim, want)
		return err
	})
	return state, err
}

// takeNumber returns ErrDuplicateMSISDN if the SIM of another resource has the number. It deletes a SIM that the API
// created with the number.
func takeNumber(ctx context.Context, q *sqlc.Queries, tenant int64, sim pgtype.UUID, want TestClientConfig) error {
	holder, err := q.SIMHolder(ctx, tenant, want.MSISDN)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	case holder.Source == SourceAPI:
		_, err := q.DeleteTestClient(ctx, tenant, want.MSISDN)
		return err
	case holder.SimID != sim:
		return ErrDuplicateMSISDN{MSISDN: want.MSISDN, Holder: holder.Name, HolderUID: holder.SimID.String()}
	}
	return nil
}

// withConfig returns a row with the values of the resource. If the balance in the resource changed since it was last
// applied, withConfig also sets the live balance. This adjustment has the next movement number.
func withConfig(row sqlc.Sim, want TestClientConfig) sqlc.Sim {
	currency, _ := want.Country.Currency()
	row.Generation, row.Name, row.MSISDN = want.Generation, want.Name, want.MSISDN
	row.Operator, row.Country, row.Currency = string(want.Operator), string(want.Country), string(currency)
	row.Blocked, row.Behavior, row.Source = want.Blocked, string(want.Behavior), SourceResource
	if row.Opening != want.Balance {
		row.Opening, row.Balance = want.Balance, want.Balance
		row.Movements++
	}
	return row
}

func sameSIM(row sqlc.Sim, want TestClientConfig) bool { return withConfig(row, want) == row }

// applySIM writes the row of a SIM if it differs from the resource, and returns its state. If the balance in the
// resource changed since it was last applied, applySIM sets the live balance.
func applySIM(
	ctx context.Context, q *sqlc.Queries, tenant int64, sim pgtype.UUID, want TestClientConfig,
) (state TestClientState, err error) {
	row, err := q.LockSIM(ctx, tenant, sim)
	if errors.Is(err, pgx.ErrNoRows) {
		if err := hasRoom(ctx, q, tenant, want.Limit); err != nil {
			return state, err
		}
		return TestClientState{Balance: want.Balance, New: true}, insertSIM(ctx, q, tenant, sim, want)
	}
	if err != nil {
		return state, err
	}
	wanted := withConfig(row, want)
	if row.Opening != want.Balance {
		if err := adjustSIM(ctx, q, tenant, sim, want.Balance-row.Balance, want.Balance, wanted.Movements); err != nil {
			return state, err
		}
	}
	if wanted == row {
		return TestClientState{Balance: row.Balance}, nil
	}
	updated, err := q.UpdateSIM(ctx, sqlc.UpdateSIMParams{
		Generation: wanted.Generation,
		RolledBack: want.RolledBack,
		Name:       wanted.Name,
		MSISDN:     wanted.MSISDN,
		Operator:   wanted.Operator,
		Country:    wanted.Country,
		Currency:   wanted.Currency,
		Blocked:    wanted.Blocked,
		Behavior:   wanted.Behavior,
		Balance:    wanted.Balance,
		Opening:    wanted.Opening,
		Movements:  wanted.Movements,
		Tenant:     tenant,
		SimID:      sim,
	})
	if err == nil && updated == 0 {
		err = ErrStaleGeneration{Applied: row.Generation}
	}
	return TestClientState{Balance: wanted.Balance}, err
}

// insertSIM writes the row of a new SIM.
func insertSIM(ctx context.Context, q *sqlc.Queries, tenant int64, sim pgtype.UUID, want TestClientConfig) error {
	currency, _ := want.Country.Currency()
	err := q.InsertSIM(ctx, sqlc.InsertSIMParams{
		Tenant: tenant, SimID: sim, Generation: want.Generation, Name: want.Name, MSISDN: want.MSISDN, Operator: string(want.Operator),
		Country: string(want.Country), Currency: string(currency), Blocked: want.Blocked,
		Behavior: string(want.Behavior), Balance: want.Balance,
	})
	if err != nil {
		return err
	}
	return adjustSIM(ctx, q, tenant, sim, want.Balance, want.Balance, openingNumber)
}

// hasRoom returns ErrRegistryFull if the registry is full, but only if the API made some of its test clients: it does
// not limit the number of resources.
func hasRoom(ctx context.Context, q *sqlc.Queries, tenant int64, limit int) error {
	if limit == 0 {
		return nil
	}
	count, err := q.CountRegistry(ctx, tenant)
	if err == nil && count.ByAPI > 0 && count.All >= int64(limit) {
		err = ErrRegistryFull{ByAPI: count.ByAPI}
	}
	return err
}

// openingNumber is the number of the movement that opens a SIM's balance.
const openingNumber = 1

func adjustSIM(ctx context.Context, q *sqlc.Queries, tenant int64, sim pgtype.UUID, delta, after, number int64) error {
	return q.InsertSIMAdjustment(ctx, sqlc.InsertSIMAdjustmentParams{
		Tenant: tenant, SimID: sim, Delta: delta, BalanceAfter: after, Number: number,
	})
}

// DeleteTestClient removes a SIM. It returns nil if there is none.
func (s *Registry) DeleteTestClient(ctx context.Context, testClientUID string) error {
	sim, err := parseUID(testClientUID)
	if err != nil {
		return err
	}
	err = s.inTx(ctx, func(q *sqlc.Queries) error {
		if err := q.HoldTenantOfSIM(ctx, sim); err != nil {
			return err
		}
		return q.DeleteSIM(ctx, sim)
	})
	return postgres.Classify(err, "deleting the test client from the database")
}

// settling is the maximum time between a change's timestamp and the moment when the change is visible. The timestamp is
// the start of the database transaction. The longest transaction is a settlement, see package worker.
const settling = 45 * time.Second

// changesTimeout bounds [Registry.ChangedAccounts], by which the controller notices that the database is unavailable.
const changesTimeout = 5 * time.Second

// ChangedAccounts returns the resources whose live balance, counts or deliveries changed after the parameter since. It
// also returns the value of since for the next call. Both are times of the database's clock. It misses no change. It
// may return a change twice, with the same ChangedAt.
func (s *Registry) ChangedAccounts(ctx context.Context, since time.Time) ([]AccountChange, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, changesTimeout)
	defer cancel()
	rows, err := s.unscoped().ChangedAccounts(ctx, since)
	if err != nil {
		return nil, since, postgres.Classify(err, "reading changed balances")
	}
	changes := make([]AccountChange, 0, len(rows))
	for _, row := range rows {
		if row.Sandbox != "" {
			changes = append(changes, AccountChange{
				Namespace: row.Namespace, Sandbox: row.Sandbox, TestClient: row.TestClient, ChangedAt: row.ChangedAt,
			})
		}
	}
	return changes, rows[0].Present.Add(-settling), nil
}
