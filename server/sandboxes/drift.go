package sandboxes

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// errToWrite is returned by a comparison that only reads, if rows have to be written.
var errToWrite = errors.New("there is something to write")

// readOnlyQueries returns queries that run outside the tenant scope, without a database transaction. Queries that would write
// return errToWrite instead. Most resources need no change, and then nothing is locked or committed.
func (s *Registry) readOnlyQueries() *sqlc.Queries { return sqlc.New(readOnly{s.db.GenericPlans()}) }

type readOnly struct{ postgres.DBTX }

// Exec implements [sqlc.DBTX]. All queries that write use it.
func (readOnly) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, errToWrite
}

// Inventory says for all resources whether their rows in the database are as the controller left them. A sandbox or SIM
// that is not in it has no rows.
type Inventory struct {
	drifted     map[string]bool                    // by the UID of the SandboxEnvironment
	testClients map[string]sqlc.SIMFingerprintsRow // by the UID of the TestClient
}

// OrphanedSIM is a SIM of a TestClient that is not known.
type OrphanedSIM struct {
	TestClientUID string
	TestClient    string // name
	SandboxUID    string
}

// Inventory reads the fingerprints of all sandboxes and of all SIMs, in two statements.
func (s *Registry) Inventory(ctx context.Context) (*Inventory, error) {
	sandboxes, err := s.unscoped().SandboxesDrifted(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "reading the fingerprints of the sandboxes")
	}
	sims, err := s.unscoped().SIMFingerprints(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "reading the fingerprints of the SIMs")
	}
	found := &Inventory{drifted: make(map[string]bool, len(sandboxes)), testClients: make(map[string]sqlc.SIMFingerprintsRow, len(sims))}
	for _, row := range sandboxes {
		found.drifted[row.ResourceUid.String()] = row.Drifted
	}
	for _, row := range sims {
		found.testClients[row.SimID.String()] = row
	}
	return found, nil
}

// HoldsSandbox reports whether a sandbox has rows that are as the controller left them.
func (i *Inventory) HoldsSandbox(uid string) bool {
	drifted, there := i.drifted[uid]
	return there && !drifted
}

// HoldsTestClient reports whether the row of a SIM in that sandbox equals its resource.
func (i *Inventory) HoldsTestClient(sandboxUID string, want TestClientConfig) bool {
	return i.testClients[want.UID].Fingerprint == want.fingerprint(sandboxUID)
}

// Orphans counts the sandboxes, and returns the SIMs, whose UIDs are not in the set known.
func (i *Inventory) Orphans(known map[string]bool) (sandboxes int, sims []OrphanedSIM) {
	for uid := range i.drifted {
		if !known[uid] {
			sandboxes++
		}
	}
	for uid, sim := range i.testClients {
		if !known[uid] {
			sims = append(sims, OrphanedSIM{TestClientUID: uid, TestClient: sim.Name, SandboxUID: sim.ResourceUid.String()})
		}
	}
	return sandboxes, sims
}

// fingerprint returns the fingerprint that the statement SIMFingerprints computes for an equal row. It detects
// accidental changes, not a deliberate collision.
func (c TestClientConfig) fingerprint(sandboxUID string) string {
	currency, _ := c.Country.Currency()
	blocked := "f"
	if c.Blocked {
		blocked = "t"
	}
	sum := md5.Sum([]byte(strings.Join([]string{
		sandboxUID, c.Name, c.MSISDN, string(c.Operator), string(c.Country), string(currency), blocked, string(c.Behavior),
		strconv.FormatInt(c.Balance, 10),
	}, "|")))
	return hex.EncodeToString(sum[:])
}
