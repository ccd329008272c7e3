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

// errToWrite says that rows are not as they should be, where they were only to be looked at.
var errToWrite = errors.New("there is something to write")

// reading runs queries outside the tenant scope, without a database transaction. It writes nothing: what would returns
// errToWrite. Most resources that are looked at are as they should be, and then nothing is locked and no commit is
// waited for.
func (s *Store) reading() *sqlc.Queries { return sqlc.New(readOnly{s.db.Frequent()}) }

type readOnly struct{ postgres.DBTX }

// Exec implements [sqlc.DBTX]. Every statement that writes is run by it.
func (readOnly) Exec(context.Context, string, ...any) (pgconn.CommandTag, error) {
	return pgconn.CommandTag{}, errToWrite
}

// Inventory is what stands in the database behind all resources, read at once. It tells of each sandbox and of each SIM
// whether its rows are as the controller left them; what is not in it has no rows.
type Inventory struct {
	drifted     map[string]bool   // by the UID of the SandboxEnvironment
	testClients map[string]string // fingerprint, by the UID of the TestClient
}

// Inventory reads the fingerprints of all sandboxes and of all SIMs: two statements, however many there are.
func (s *Store) Inventory(ctx context.Context) (*Inventory, error) {
	sandboxes, err := s.system().SandboxesDrifted(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "reading the fingerprints of the sandboxes")
	}
	sims, err := s.system().SIMFingerprints(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "reading the fingerprints of the SIMs")
	}
	found := &Inventory{drifted: make(map[string]bool, len(sandboxes)), testClients: make(map[string]string, len(sims))}
	for _, row := range sandboxes {
		found.drifted[row.ResourceUid.String()] = row.Drifted
	}
	for _, row := range sims {
		found.testClients[row.SimID.String()] = row.Fingerprint
	}
	return found, nil
}

// HoldsSandbox reports whether the rows of a sandbox are there, and as they were left.
func (i *Inventory) HoldsSandbox(uid string) bool {
	drifted, there := i.drifted[uid]
	return there && !drifted
}

// HoldsTestClient reports whether a SIM is there, in that sandbox and as its resource wants it.
func (i *Inventory) HoldsTestClient(sandboxUID string, want TestClientConfig) bool {
	return i.testClients[want.UID] == want.fingerprint(sandboxUID)
}

// Orphans counts the sandboxes and the SIMs that none of the UIDs belongs to.
func (i *Inventory) Orphans(known map[string]bool) (sandboxes, testClients int) {
	for uid := range i.drifted {
		if !known[uid] {
			sandboxes++
		}
	}
	for uid := range i.testClients {
		if !known[uid] {
			testClients++
		}
	}
	return sandboxes, testClients
}

// fingerprint is that of the row which the statement SIMFingerprints finds for the SIM. It guards against slips, not
// against somebody who looks for two rows with one fingerprint.
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
