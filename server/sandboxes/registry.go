// Package sandboxes keeps the configuration of sandboxes: the controller applies, resets and deletes it, and the api
// reads it. Only package ledger moves money; this package only sets opening balances.
//
// Every method returns an error that is [postgres.ErrUnavailable] when the database cannot be reached or cannot serve.
package sandboxes

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/secrets"
)

// Registry is the configuration of all sandboxes in a database. It is safe for concurrent use.
type Registry struct {
	db           *postgres.DB
	keys         *secrets.KeyRing
	random       io.Reader
	active       activity
	deletionTime time.Duration
	sessions     *postgres.SharedLookup[ConsoleToken, openSession]
	links        *postgres.SharedLookup[ConsoleToken, struct{}]
}

// Options are the settings of a [Registry]; a zero field selects its default.
type Options struct {
	KeyRing      *secrets.KeyRing // for stored secrets; without one, methods that read or write a secret fail
	Random       io.Reader
	DeletionTime time.Duration // the most time of a call of DeleteSandbox; default 5 s
}

// New returns the registry of a database.
func New(db *postgres.DB, o Options) *Registry {
	s := &Registry{db: db, keys: o.KeyRing, random: o.Random, deletionTime: cmp.Or(o.DeletionTime, deletionTime)}
	if s.random == nil {
		s.random = rand.Reader
	}
	s.sessions = postgres.NewSharedLookup(db, s.readConsoleSessions)
	s.links = postgres.NewSharedLookup(db, s.readConsoleLinks)
	return s
}

// unscoped returns queries that run outside the tenant scope.
func (s *Registry) unscoped() *sqlc.Queries { return sqlc.New(s.db.Unscoped()) }

// genericPlans returns queries that run outside the tenant scope, and whose plans Postgres keeps.
func (s *Registry) genericPlans() *sqlc.Queries { return sqlc.New(s.db.GenericPlans()) }

// inTx runs f in one database transaction outside the tenant scope.
func (s *Registry) inTx(ctx context.Context, f func(q *sqlc.Queries) error) error {
	return s.db.InTx(ctx, postgres.IdleLimited, func(tx pgx.Tx) error { return f(sqlc.New(tx)) })
}

// newCode returns the part of a new identifier after its prefix.
func (s *Registry) newCode() (string, error) {
	id, err := payments.NewID(s.db.Now(), s.random)
	return id.Code(), err
}
