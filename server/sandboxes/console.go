package sandboxes

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"regexp"
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

// ConsoleAccess is the access that a link or a session of the console gives.
type ConsoleAccess struct {
	Role     ConsoleRole
	MSISDN   string  // of a handset; empty for the other roles
	MadeWith KeyHash // the API key; the access is valid as long as the key
}

// ConsoleSession is a browser that is signed in to the console of a sandbox.
type ConsoleSession struct {
	ConsoleAccess
	ID        string // cs_ and 26 characters; it opens nothing
	Hash      KeyHash
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Tokens of sessions and of links have these prefixes, and 256 random bits.
const (
	consoleSessionPrefix = "cauri_cs_"
	consoleLinkPrefix    = "cauri_cl_"
)

// ConsoleTokenForm matches the tokens of sessions and links anywhere in a text.
var ConsoleTokenForm = regexp.MustCompile(`cauri_c[sl]_[A-Za-z0-9_-]*`)

func newConsoleToken(prefix string) string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	return prefix + base64.RawURLEncoding.EncodeToString(random[:])
}

// NewConsoleLinkToken returns the token of a new link. The token contains the role, so that the page of the link can
// show it without a query.
func NewConsoleLinkToken(role ConsoleRole) string {
	return newConsoleToken(consoleLinkPrefix + string(role) + "_")
}

// The forms of the tokens of one link and of one session.
var (
	consoleLinkForm    = regexp.MustCompile(`^` + consoleLinkPrefix + `(full|viewer|handset)_[A-Za-z0-9_-]{43}$`)
	consoleSessionForm = regexp.MustCompile(`^` + consoleSessionPrefix + `[A-Za-z0-9_-]{43}$`)
)

// RoleOfConsoleLink returns the role in the token of a link; false for another form of token. A token with a changed
// role opens nothing.
func RoleOfConsoleLink(token string) (ConsoleRole, bool) {
	parts := consoleLinkForm.FindStringSubmatch(token)
	if parts == nil {
		return "", false
	}
	return ConsoleRole(parts[1]), true
}

// ConsoleLinkPath returns the path and the query of the link with a token.
func (s *Sandbox) ConsoleLinkPath(token string) string {
	u := url.URL{Path: s.ConsolePath("/link"), RawQuery: "token=" + token}
	return u.String()
}

// ConsolePath returns the path of a page of the console, which the parameter page has from there.
func (s *Sandbox) ConsolePath(page string) string {
	return "/sandboxes/" + s.Namespace + "/" + s.Name + "/console" + page
}

const (
	// MaxConsoleLinks is the maximum number of unused links of a sandbox with a role. Beyond it, a new link ends the
	// oldest one with its role.
	MaxConsoleLinks = 100
	// MaxConsoleSessions is the maximum number of sessions of a sandbox with a role. Beyond it, a new session ends the
	// oldest one with its role.
	MaxConsoleSessions = 200
)

var (
	// ErrNoConsoleLink is returned for a link that was used, has ended, or never existed.
	ErrNoConsoleLink = errors.New("the link of the console opens nothing")
	// ErrNoConsoleSession is returned for a session that has ended or never existed.
	ErrNoConsoleSession = errors.New("there is no such session of the console")
)

// AddConsoleLink adds a link, and returns its token and its time of expiry. It returns [postgres.ErrConfigChanged] for
// a sandbox that was reset or deleted, as all methods of the console do.
func (s *Registry) AddConsoleLink(
	ctx context.Context, sandbox *Sandbox, a ConsoleAccess,
) (token string, ends time.Time, err error) {
	org := sandbox.OrganizationID
	token = NewConsoleLinkToken(a.Role)
	hash := sha256.Sum256([]byte(token))
	err = s.inConsole(ctx, sandbox, func(q *sqlc.Queries) (err error) {
		if err := q.EndOldConsoleLinks(ctx, org, string(a.Role), MaxConsoleLinks-1); err != nil {
			return err
		}
		ends, err = q.AddConsoleLink(ctx, sqlc.AddConsoleLinkParams{
			Tenant: sandbox.Tenant, Hash: hash[:], MadeWith: a.MadeWith[:], Role: string(a.Role), MSISDN: postgres.Optional(a.MSISDN),
		})
		return err
	})
	return token, ends, postgres.ClassifyWrite(orReset(err), "making the link")
}

// UseConsoleLink ends the link with a token, and adds a session with its access. It returns the token of the session,
// and [ErrNoConsoleLink] if the link opens nothing. For a token that is no link of the sandbox it takes neither the lock
// of the console nor a share of the sandbox's connections.
func (s *Registry) UseConsoleLink(
	ctx context.Context, sandbox *Sandbox, link string,
) (token string, session ConsoleSession, err error) {
	if _, ok := RoleOfConsoleLink(link); !ok {
		return "", session, ErrNoConsoleLink
	}
	hash := sha256.Sum256([]byte(link))
	_, known, err := s.links.Find(ctx, ConsoleToken{sandbox.OrganizationID, hash})
	switch {
	case err != nil:
		return "", session, postgres.Classify(err, "looking up the link")
	case !known:
		return "", session, ErrNoConsoleLink
	}
	use := func() error {
		return s.inConsole(ctx, sandbox, func(q *sqlc.Queries) error {
			used, err := q.UseConsoleLink(ctx, sandbox.OrganizationID, hash[:])
			if errors.Is(err, pgx.ErrNoRows) {
				return ErrNoConsoleLink
			}
			if err != nil {
				return err
			}
			token, session, err = addConsoleSession(ctx, q, sandbox, consoleAccess(used.Role, used.MSISDN, used.MadeWith))
			return err
		})
	}
	if err = use(); errors.Is(err, ErrNoConsoleLink) {
		err = use() // a reset during the first call hides the link, and is known to the second
	}
	if errors.Is(err, ErrNoConsoleLink) {
		return "", session, err
	}
	return token, session, postgres.ClassifyWrite(orReset(err), "using the link")
}

// AddConsoleSession adds a session, and returns its token.
func (s *Registry) AddConsoleSession(
	ctx context.Context, sandbox *Sandbox, a ConsoleAccess,
) (token string, session ConsoleSession, err error) {
	err = s.inConsole(ctx, sandbox, func(q *sqlc.Queries) (err error) {
		token, session, err = addConsoleSession(ctx, q, sandbox, a)
		return err
	})
	return token, session, postgres.ClassifyWrite(orReset(err), "signing in")
}

// orReset returns [postgres.ErrConfigChanged] if a statement found no organization with the tenant any more.
func orReset(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return postgres.ErrConfigChanged
	}
	return err
}

func addConsoleSession(
	ctx context.Context, q *sqlc.Queries, sandbox *Sandbox, a ConsoleAccess,
) (token string, _ ConsoleSession, _ error) {
	org := sandbox.OrganizationID
	if err := q.EndOldConsoleSessions(ctx, org, string(a.Role), MaxConsoleSessions-1); err != nil {
		return "", ConsoleSession{}, err
	}
	token = newConsoleToken(consoleSessionPrefix)
	hash := sha256.Sum256([]byte(token))
	row, err := q.AddConsoleSession(ctx, sqlc.AddConsoleSessionParams{
		Tenant: sandbox.Tenant, Hash: hash[:], SessionID: "cs_" + rand.Text(), MadeWith: a.MadeWith[:], Role: string(a.Role),
		MSISDN: postgres.Optional(a.MSISDN),
	})
	return token, consoleSessionOf(row), err
}

// inConsole runs f in one database transaction. It locks the console of the sandbox, so that f can count its links and
// sessions.
func (s *Registry) inConsole(ctx context.Context, sandbox *Sandbox, f func(q *sqlc.Queries) error) error {
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

// openSession is an open session, with the tenant of its organization.
type openSession struct {
	ConsoleSession
	tenant int64
}

// FindConsoleSession returns an open session by its token. It returns [ErrNoConsoleSession] if there is none. Anybody can
// send a token, so it takes no share of the sandbox's connections.
func (s *Registry) FindConsoleSession(ctx context.Context, sandbox *Sandbox, token string) (ConsoleSession, error) {
	if !consoleSessionForm.MatchString(token) {
		return ConsoleSession{}, ErrNoConsoleSession
	}
	found, open, err := s.sessions.Find(ctx, ConsoleToken{sandbox.OrganizationID, sha256.Sum256([]byte(token))})
	switch {
	case err != nil:
		return ConsoleSession{}, postgres.Classify(err, "looking up the session")
	case !open:
		return ConsoleSession{}, ErrNoConsoleSession
	case found.tenant != sandbox.Tenant:
		return ConsoleSession{}, postgres.ErrConfigChanged
	}
	return found.ConsoleSession, nil
}

// ListConsoleSessions returns the open sessions of a sandbox, newest first.
func (s *Registry) ListConsoleSessions(ctx context.Context, sandbox *Sandbox) (sessions []ConsoleSession, err error) {
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
func (s *Registry) EndConsoleSession(ctx context.Context, sandbox *Sandbox, id string) error {
	ended, err := sqlc.New(s.db.Tenant(sandbox.Tenant)).EndConsoleSession(ctx, sandbox.OrganizationID, id)
	if err == nil && ended == 0 {
		return ErrNoConsoleSession
	}
	return postgres.ClassifyWrite(err, "ending the session")
}

// EndConsoleSessions ends all sessions of a sandbox, and the links that nobody used.
func (s *Registry) EndConsoleSessions(ctx context.Context, sandbox *Sandbox) error {
	err := s.inConsole(ctx, sandbox, func(q *sqlc.Queries) error {
		if err := q.EndConsoleLinks(ctx, sandbox.OrganizationID); err != nil {
			return err
		}
		return q.EndConsoleSessions(ctx, sandbox.OrganizationID)
	})
	return postgres.ClassifyWrite(err, "ending the sessions")
}

// ConsoleToken identifies a session or a link by the organization of the sandbox and the hash of the token.
type ConsoleToken struct {
	OrganizationID string
	Hash           KeyHash
}

// columnsOf returns the columns of tokens.
func columnsOf(asked []ConsoleToken) (orgs []string, hashes [][]byte) {
	for i := range asked {
		orgs, hashes = append(orgs, asked[i].OrganizationID), append(hashes, asked[i].Hash[:])
	}
	return orgs, hashes
}

// OpenConsoleSessions returns those of the given sessions that have not ended.
func (s *Registry) OpenConsoleSessions(ctx context.Context, asked []ConsoleToken) (map[ConsoleToken]bool, error) {
	found, err := s.readConsoleSessions(ctx, asked)
	if err != nil {
		return nil, postgres.Classify(err, "looking for ended sessions")
	}
	open := map[ConsoleToken]bool{}
	for token := range found {
		open[token] = true
	}
	return open, nil
}

func (s *Registry) readConsoleSessions(ctx context.Context, asked []ConsoleToken) (map[ConsoleToken]openSession, error) {
	orgs, hashes := columnsOf(asked)
	rows, err := s.genericPlans().OpenConsoleSessions(ctx, orgs, hashes)
	open := map[ConsoleToken]openSession{}
	for _, row := range rows {
		session := consoleSessionOf(sqlc.ConsoleSession{
			Hash: row.Hash, SessionID: row.SessionID, MadeWith: row.MadeWith, Role: row.Role, MSISDN: row.MSISDN,
			CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt,
		})
		open[ConsoleToken{row.OrgID, session.Hash}] = openSession{session, row.Tenant}
	}
	return open, err
}

func (s *Registry) readConsoleLinks(ctx context.Context, asked []ConsoleToken) (map[ConsoleToken]struct{}, error) {
	orgs, hashes := columnsOf(asked)
	rows, err := s.genericPlans().OpenConsoleLinks(ctx, orgs, hashes)
	open := map[ConsoleToken]struct{}{}
	for _, row := range rows {
		open[ConsoleToken{row.OrgID, KeyHash(row.Hash)}] = struct{}{}
	}
	return open, err
}

func consoleSessionOf(row sqlc.ConsoleSession) ConsoleSession {
	return ConsoleSession{
		ConsoleAccess: consoleAccess(row.Role, row.MSISDN, row.MadeWith), ID: row.SessionID, Hash: KeyHash(row.Hash),
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
