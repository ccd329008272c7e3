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

// Where a SIM comes from.
const (
	SourceResource = "resource" // a TestClient
	SourceAPI      = "api"
)

// ApplyTestClient makes the row of a SIM equal to what its resource wants and returns how it stands then. A SIM of its number that was
// made through the API gives way to it. It returns [ErrDuplicateMSISDN] where the SIM of another resource holds the number,
// [ErrRegistryFull] for a new one that there is no room for, [ErrNoOrganization] for a sandbox that was not applied, and
// [ErrStaleGeneration] as [Store.ApplySandbox] does. It writes nothing when the row is equal already.
func (s *Store) ApplyTestClient(ctx context.Context, sandboxUID string, want TestClientConfig) (TestClientState, error) {
	sandbox, err := parseUID(sandboxUID)
	if err != nil {
		return TestClientState{}, err
	}
	sim, err := parseUID(want.UID)
	if err != nil {
		return TestClientState{}, err
	}
	present, err := s.system().FindRegisteredSIM(ctx, sandbox, sim)
	if err == nil && sameSIM(present, want) {
		return TestClientState{Balance: present.Balance}, nil
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return TestClientState{}, postgres.Classify(err, "reading the test client")
	}
	state, err := s.applyTestClient(ctx, sandbox, sim, want)
	if lostRace := new(pgconn.PgError); errors.As(err, &lostRace) && lostRace.ConstraintName == "sims_tenant_msisdn_key" {
		state, err = s.applyTestClient(ctx, sandbox, sim, want) // finds who won it
	}
	return state, postgres.Classify(err, "applying the test client to the database")
}

func (s *Store) applyTestClient(ctx context.Context, sandbox, sim pgtype.UUID, want TestClientConfig) (state TestClientState, err error) {
	err = s.inTx(ctx, func(q *sqlc.Queries) error {
		tenant, err := q.TenantOf(ctx, sandbox)
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoOrganization
		}
		if err != nil {
			return err
		}
		if want.Limit > 0 { // before any SIM is locked, as those do who change the registry through the API
			if _, err := q.HoldRegistry(ctx, tenant); err != nil {
				return err
			}
		}
		if err := takeNumber(ctx, q, tenant, sim, want); err != nil {
			return err
		}
		state.Balance, err = applySIM(ctx, q, tenant, sim, want)
		return err
	})
	return state, err
}

// takeNumber returns ErrDuplicateMSISDN if the SIM of another resource has the number. One that was made through the API is deleted.
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

// withConfig is a row made what the resource wants. A balance that differs from what the resource said last sets the live one: an
// adjustment, with the number of its own that each movement has.
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

// applySIM returns the live balance. A balance that differs from what the resource said last sets it.
func applySIM(ctx context.Context, q *sqlc.Queries, tenant int64, sim pgtype.UUID, want TestClientConfig) (int64, error) {
	currency, _ := want.Country.Currency()
	row, err := q.LockSIM(ctx, tenant, sim)
	if errors.Is(err, pgx.ErrNoRows) {
		if err := hasRoom(ctx, q, tenant, want.Limit); err != nil {
			return 0, err
		}
		err := q.InsertSIM(ctx, sqlc.InsertSIMParams{
			Tenant: tenant, SimID: sim, Generation: want.Generation, Name: want.Name, MSISDN: want.MSISDN, Operator: string(want.Operator),
			Country: string(want.Country), Currency: string(currency), Blocked: want.Blocked,
			Behavior: string(want.Behavior), Balance: want.Balance,
		})
		if err != nil {
			return 0, err
		}
		return want.Balance, adjustSIM(ctx, q, tenant, sim, want.Balance, want.Balance, openingNumber)
	}
	if err != nil {
		return 0, err
	}
	wanted := withConfig(row, want)
	if row.Opening != want.Balance {
		if err := adjustSIM(ctx, q, tenant, sim, want.Balance-row.Balance, want.Balance, wanted.Movements); err != nil {
			return 0, err
		}
	}
	if wanted == row {
		return row.Balance, nil
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
	return wanted.Balance, err
}

// hasRoom returns ErrRegistryFull if test clients that were made through the API are what leaves no room for another one. How many
// resources there may be is not decided here.
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

// openingNumber is the number of the movement by which a SIM gets its opening balance.
const openingNumber = 1

func adjustSIM(ctx context.Context, q *sqlc.Queries, tenant int64, sim pgtype.UUID, delta, after, number int64) error {
	return q.InsertSIMAdjustment(ctx, sqlc.InsertSIMAdjustmentParams{
		Tenant: tenant, SimID: sim, Delta: delta, BalanceAfter: after, Number: number,
	})
}

// DeleteTestClient removes a SIM; it returns nil when there is none.
func (s *Store) DeleteTestClient(ctx context.Context, testClientUID string) error {
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

// settling is how long after its timestamp, which is the beginning of its database transaction, a change may still become
// visible. The longest one is a settlement, see package worker.
const settling = 45 * time.Second

// changesTimeout bounds [Store.ChangedAccounts], by which the controller notices that the database is unavailable.
const changesTimeout = 5 * time.Second

// ChangedAccounts names the resources whose live balance, counts or deliveries changed after a moment of the database's clock, and returns
// the moment to ask from the next time. A change may be named again the next time, with the same ChangedAt; none is left out.
func (s *Store) ChangedAccounts(ctx context.Context, since time.Time) ([]AccountChange, time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, changesTimeout)
	defer cancel()
	now, err := s.system().DatabaseTime(ctx)
	if err != nil {
		return nil, since, postgres.Classify(err, "reading the database's clock")
	}
	rows, err := s.system().ChangedAccounts(ctx, since)
	if err != nil {
		return nil, since, postgres.Classify(err, "reading changed balances")
	}
	changes := make([]AccountChange, len(rows))
	for i, row := range rows {
		changes[i] = AccountChange{Namespace: row.Namespace, Sandbox: row.Sandbox, TestClient: row.TestClient, ChangedAt: row.ChangedAt}
	}
	return changes, now.Add(-settling), nil
}
