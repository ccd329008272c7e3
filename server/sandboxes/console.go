package sandboxes

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// ConsoleRole is what a person may do in the console.
type ConsoleRole string

// The roles of the console.
const (
	ConsoleFull    ConsoleRole = "full"    // all that the console can do
	ConsoleViewer  ConsoleRole = "viewer"  // look at everything, change nothing
	ConsoleHandset ConsoleRole = "handset" // use the phone with one number
)

// ConsoleAccess is what a link or a session of the console gives.
type ConsoleAccess struct {
	Role     ConsoleRole
	MSISDN   string  // of a handset; empty for the other roles
	MadeWith KeyHash // the API key; the access is valid as long as the key
}

// ConsoleSession is a browser that is signed in to the console of a sandbox.
type ConsoleSession struct {
	ConsoleAccess
	ID        string // cs_ and 26 characters; it opens nothing
	CreatedAt time.Time
	ExpiresAt time.Time
}

const (
	// MaxConsoleLinks is how many links a sandbox may have that nobody used yet. A new link ends the oldest beyond them.
	MaxConsoleLinks = 100
	// MaxConsoleSessions is how many sessions a sandbox may have. A new session ends the oldest beyond them.
	MaxConsoleSessions = 200
)

var (
	// ErrNoConsoleLink is returned for a link that was used, has ended, or never existed.
	ErrNoConsoleLink = errors.New("the link of the console opens nothing")
	// ErrNoConsoleSession is returned for a session that has ended or never existed.
	ErrNoConsoleSession = errors.New("there is no such session of the console")
)

// AddConsoleLink stores a link under the hash of its token, and returns when it ends. It returns
// [postgres.ErrConfigChanged] for a sandbox that was reset or deleted, as all methods of the console do.
func (s *Store) AddConsoleLink(
	ctx context.Context, sandbox *Sandbox, token KeyHash, a ConsoleAccess,
) (ends time.Time, err error) {
	org := sandbox.OrganizationID
	err = s.inConsole(ctx, sandbox, func(q *sqlc.Queries) (err error) {
		if err := q.EndOldConsoleLinks(ctx, org, MaxConsoleLinks-1); err != nil {
			return err
		}
		ends, err = q.AddConsoleLink(ctx, sqlc.AddConsoleLinkParams{
			OrgID: org, Hash: token[:], MadeWith: a.MadeWith[:], Role: string(a.Role), MSISDN: postgres.Optional(a.MSISDN),
		})
		return err
	})
	return ends, postgres.ClassifyWrite(err, "making the link")
}

// UseConsoleLink ends a link and adds a session with its access. It returns [ErrNoConsoleLink] if the link opens
// nothing.
func (s *Store) UseConsoleLink(
	ctx context.Context, sandbox *Sandbox, link, token KeyHash,
) (session ConsoleSession, err error) {
	err = s.inConsole(ctx, sandbox, func(q *sqlc.Queries) error {
		used, err := q.UseConsoleLink(ctx, sandbox.OrganizationID, link[:])
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrNoConsoleLink
		}
		if err != nil {
			return err
		}
		session, err = addConsoleSession(ctx, q, sandbox, token, consoleAccess(used.Role, used.MSISDN, used.MadeWith))
		return err
	})
	if errors.Is(err, ErrNoConsoleLink) {
		return session, err
	}
	return session, postgres.ClassifyWrite(err, "using the link")
}

// AddConsoleSession adds a session under the hash of its token.
func (s *Store) AddConsoleSession(
	ctx context.Context, sandbox *Sandbox, token KeyHash, a ConsoleAccess,
) (session ConsoleSession, err error) {
	err = s.inConsole(ctx, sandbox, func(q *sqlc.Queries) (err error) {
		session, err = addConsoleSession(ctx, q, sandbox, token, a)
		return err
	})
	return session, postgres.ClassifyWrite(err, "signing in")
}

func addConsoleSession(
	ctx context.Context, q *sqlc.Queries, sandbox *Sandbox, token KeyHash, a ConsoleAccess,
) (ConsoleSession, error) {
	org := sandbox.OrganizationID
	if err := q.EndOldConsoleSessions(ctx, org, MaxConsoleSessions-1); err != nil {
		return ConsoleSession{}, err
	}
	row, err := q.AddConsoleSession(ctx, sqlc.AddConsoleSessionParams{
		OrgID: org, Hash: token[:], SessionID: "cs_" + rand.Text(), MadeWith: a.MadeWith[:], Role: string(a.Role),
		MSISDN: postgres.Optional(a.MSISDN),
	})
	return consoleSessionOf(row), err
}

// inConsole runs f in one database transaction in which links and sessions of the sandbox can be counted.
func (s *Store) inConsole(ctx context.Context, sandbox *Sandbox, f func(q *sqlc.Queries) error) error {
	return s.db.InTenantTx(ctx, sandbox.Tenant, func(tx pgx.Tx) error {
		q := sqlc.New(tx)
		if err := q.LockConsole(ctx, sandbox.Tenant); err != nil {
			return err
		}
		if err := q.SortNothing(ctx); err != nil {
			return err
		}
		return f(q)
	})
}

// FindConsoleSession returns an open session by the hash of its token. It returns [ErrNoConsoleSession] if there is
// none.
func (s *Store) FindConsoleSession(ctx context.Context, sandbox *Sandbox, token KeyHash) (ConsoleSession, error) {
	row, err := sqlc.New(s.db.Tenant(sandbox.Tenant)).FindConsoleSession(ctx, sandbox.OrganizationID, token[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return ConsoleSession{}, ErrNoConsoleSession
	}
	if err != nil {
		return ConsoleSession{}, postgres.Classify(err, "looking up the session")
	}
	return consoleSessionOf(row), nil
}

// ListConsoleSessions returns the open sessions of a sandbox, newest first.
func (s *Store) ListConsoleSessions(ctx context.Context, sandbox *Sandbox) (sessions []ConsoleSession, err error) {
	err = s.inConsole(ctx, sandbox, func(q *sqlc.Queries) error {
		rows, err := q.ListConsoleSessions(ctx, sandbox.OrganizationID)
		for _, row := range rows {
			sessions = append(sessions, consoleSessionOf(row))
		}
		return err
	})
	return sessions, postgres.Classify(err, "listing the sessions")
}

// EndConsoleSession ends a session by its id. It returns [ErrNoConsoleSession] if there is none.
func (s *Store) EndConsoleSession(ctx context.Context, sandbox *Sandbox, id string) error {
	ended, err := sqlc.New(s.db.Tenant(sandbox.Tenant)).EndConsoleSession(ctx, sandbox.OrganizationID, id)
	if err == nil && ended == 0 {
		return ErrNoConsoleSession
	}
	return postgres.ClassifyWrite(err, "ending the session")
}

// EndConsoleSessions ends all sessions of a sandbox, and the links that nobody used.
func (s *Store) EndConsoleSessions(ctx context.Context, sandbox *Sandbox) error {
	err := s.inConsole(ctx, sandbox, func(q *sqlc.Queries) error {
		if err := q.EndConsoleLinks(ctx, sandbox.OrganizationID); err != nil {
			return err
		}
		return q.EndConsoleSessions(ctx, sandbox.OrganizationID)
	})
	return postgres.ClassifyWrite(err, "ending the sessions")
}

// ConsoleToken names a session by its sandbox's organization and the hash of its token.
type ConsoleToken struct {
	OrganizationID string
	Hash           KeyHash
}

// OpenConsoleSessions returns the hashes of those sessions that have not ended.
func (s *Store) OpenConsoleSessions(ctx context.Context, asked []ConsoleToken) (map[KeyHash]bool, error) {
	orgs, hashes := make([]string, len(asked)), make([][]byte, len(asked))
	for i := range asked {
		orgs[i], hashes[i] = asked[i].OrganizationID, asked[i].Hash[:]
	}
	found, err := s.system().OpenConsoleSessions(ctx, orgs, hashes)
	if err != nil {
		return nil, postgres.Classify(err, "looking for ended sessions")
	}
	open := map[KeyHash]bool{}
	for _, hash := range found {
		open[KeyHash(hash)] = true
	}
	return open, nil
}

func consoleSessionOf(row sqlc.ConsoleSession) ConsoleSession {
	return ConsoleSession{
		ConsoleAccess: consoleAccess(row.Role, row.MSISDN, row.MadeWith), ID: row.SessionID,
		CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(),
	}
}

func consoleAccess(role string, msisdn *string, madeWith []byte) ConsoleAccess {
	a := ConsoleAccess{Role: ConsoleRole(role)}
	copy(a.MadeWith[:], madeWith)
	if msisdn != nil {
		a.MSISDN = *msisdn
	}
	return a
}
