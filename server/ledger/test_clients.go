package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// TestClient is a SIM of the registry, with its prompts.
type TestClient struct {
	payments.SIM
	Name    string // of the TestClient resource, or as set through the API, where it may be empty
	Source  string // sandboxes.SourceResource or sandboxes.SourceAPI
	Prompts int    // collections that wait for its answer
	// Code confirms one order on an operator's page. It changes with each movement of the balance.
	Code string
	// ManualUntil is the real time until which its holder answers by hand, whatever its behavior; nil: the behavior
	// decides.
	ManualUntil *time.Time
}

// TestClientFilter says which SIMs are listed. A zero field filters nothing.
type TestClientFilter struct {
	Operator payments.Operator
	Country  payments.Country
	Blocked  *bool
}

// ListTestClients returns a page of at most limit SIMs of a tenant, in the order of their numbers. after is the last
// number of the previous page, empty for the first page.
func (l *Ledger) ListTestClients(ctx context.Context, tenant int64, f TestClientFilter, after string, limit int) ([]TestClient, error) {
	var rows []sqlc.ListTestClientsRow
	err := l.core.DB.List(ctx, tenant, func(ctx context.Context, scope postgres.DBTX) (err error) {
		rows, err = sqlc.New(scope).ListTestClients(ctx, sqlc.ListTestClientsParams{
			Tenant:   tenant,
			After:    after,
			Operator: postgres.Optional(string(f.Operator)),
			Country:  postgres.Optional(string(f.Country)),
			Blocked:  f.Blocked,
			Batch:    int32(limit),
		})
		return err
	})
	if err != nil {
		return nil, postgres.Classify(err, "listing the test clients")
	}
	clients := make([]TestClient, len(rows))
	for i := range rows {
		clients[i] = testClientOf(&rows[i].Sim, rows[i].Prompts)
	}
	return clients, nil
}

// FindTestClient returns the SIM with a number, or [ErrNotFound].
func (l *Ledger) FindTestClient(ctx context.Context, tenant int64, msisdn string) (*TestClient, error) {
	row, err := l.core.Tenant(tenant).FindTestClient(ctx, tenant, msisdn)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "looking up the test client")
	}
	client := testClientOf(&row.Sim, row.Prompts)
	return &client, nil
}

func testClientOf(row *sqlc.Sim, prompts int64) TestClient {
	c := TestClient{SIM: *ledgerdb.SIMOf(row), Name: row.Name, Source: row.Source, Prompts: int(prompts), Code: oneTimeCode(row)}
	if row.ManualUntil != nil && row.ManualUntil.After(time.Now()) {
		c.ManualUntil = row.ManualUntil
	}
	return c
}

// oneTimeCode returns the code of a SIM, six digits. It follows from the id of the SIM, which nobody can guess who does
// not read the sandbox, and from the number of its last movement, so that a code pays once. Nothing stores it.
func oneTimeCode(row *sqlc.Sim) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %x %d", row.Tenant, row.SimID.Bytes, row.Movements))
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(sum[:])%1_000_000)
}
