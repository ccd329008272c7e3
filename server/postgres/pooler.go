package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// modeParameter is the parameter of a database URL that sets pgx's query mode. If a URL has it, pooler changes nothing.
const modeParameter = "default_query_exec_mode"

// pooler finds out whether a pool's connections lead to Postgres or to a connection pooler, such as PgBouncer. A pooler
// in transaction mode gives each database transaction another connection to Postgres, which lacks the statements that
// were prepared by name. Behind a pooler the pool sends each statement whole, still in one round trip, and Postgres
// plans it each time.
type pooler struct {
	told  bool         // the URL has modeParameter
	found atomic.Int32 // a connectedTo
}

type connectedTo = int32

const (
	unknown connectedTo = iota
	toPostgres
	toPooler
)

func newPooler(url string) *pooler { return &pooler{told: strings.Contains(url, modeParameter)} }

// adapt sets the query mode of a connection before it is opened. Until it knows whether the URL leads to a pooler, it
// opens another connection to find out.
func (p *pooler) adapt(ctx context.Context, config *pgx.ConnConfig) error {
	if p.told {
		return nil
	}
	if p.found.Load() == unknown {
		found, err := ask(ctx, &config.Config)
		if err != nil {
			return err
		}
		p.found.Store(found)
	}
	if p.found.Load() == toPooler {
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return nil
}

// ask opens a connection and compares two process ids: the id that the Postgres backend returns, and the id that was
// announced when the connection was opened. A pooler announces its own id.
func ask(ctx context.Context, config *pgconn.Config) (connectedTo, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return unknown, err
	}
	defer func() { _ = conn.Close(ctx) }()
	results, err := conn.Exec(ctx, "select pg_backend_pid()").ReadAll()
	if err != nil {
		return unknown, err
	}
	if len(results) != 1 || len(results[0].Rows) != 1 {
		return unknown, fmt.Errorf("asking the database which process serves a connection: %d answers", len(results))
	}
	if string(results[0].Rows[0][0]) == strconv.FormatUint(uint64(conn.PID()), 10) {
		return toPostgres, nil
	}
	return toPooler, nil
}
