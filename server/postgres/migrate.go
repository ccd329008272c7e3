package postgres

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema of the database at url up to date. Several processes may call it at once: under an advisory
// lock, one migrates, and the others then find nothing to do. url may lead to a connection pooler in transaction mode.
func Migrate(ctx context.Context, url string) error { return MigrateAs(ctx, url, "") }

// MigrateAs is [Migrate]. In a database without tables, the names of the roles begin with the parameter roles. If it is
// empty, they follow from the name of the database.
func MigrateAs(ctx context.Context, url, roles string) error {
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return migrate(ctx, url, roles, folder)
}

// migrate is [MigrateAs] with the migrations of a folder.
func migrate(ctx context.Context, url, roles string, folder fs.FS) error {
	config, err := ownerConfig(url)
	if err != nil {
		return err
	}
	err = exclusively(ctx, config, func() error {
		conn := stdlib.OpenDB(*config) // goose speaks database/sql
		defer func() { _ = conn.Close() }()
		digested, err := checkDigest(ctx, conn)
		if err != nil {
			return err
		}
		if roles, err = rolesOf(ctx, conn, roles); err != nil {
			return err
		}
		provider, err := goose.NewProvider(goose.DialectPostgres, conn, renamed{folder, roles}, goose.WithTableName(versionTable))
		if err != nil {
			return fmt.Errorf("reading the migrations: %w", err)
		}
		for {
			if _, err = provider.Up(ctx); !deadlocked(err) {
				break
			}
		}
		if err != nil || digested {
			return err
		}
		_, err = conn.ExecContext(ctx, "insert into schema_digest (digest) values ($1)", baseDigest())
		return err
	})
	var answer *pgconn.PgError
	if !refusesLogin(err) && errors.As(err, &answer) && answer.Code == pgerrcode.InsufficientPrivilege {
		return fmt.Errorf("the database's user may not change its schema, run `cauri migrate` as the owner: %w", err)
	}
	return Classify(err, "migrating the database")
}

// deadlocked reports whether a migration was rolled back because of a deadlock with another process. The other process
// continues, so the next try of the migration gets its locks.
func deadlocked(err error) bool {
	var answer *pgconn.PgError
	return errors.As(err, &answer) && answer.Code == pgerrcode.DeadlockDetected
}

// ownerConfig returns the configuration of the owner's connections.
func ownerConfig(url string) (*pgx.ConnConfig, error) {
	config, err := connConfig(url)
	if err != nil {
		return nil, fmt.Errorf("reading the database URL: %w", err)
	}
	config.ConnectTimeout, config.DialFunc = connectTimeout, dialer().DialContext
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // prepares no statements, which a pooler would lose
	return config, nil
}

// ErrOtherSchema is returned for a database that another commit of Cauri created, with another text of the first
// migration. No migration leads from it to the schema of this program. If [DB.CheckSchema] returns it, it is an
// [ErrUnavailable] too.
var ErrOtherSchema = errors.New("the database has the schema of another commit of Cauri, and no migration leads from it to that of this " +
	"program: use an empty database, or remove these tables with all that they hold (drop schema public cascade; create schema public), " +
	"and run `cauri migrate`")

// checkDigest returns [ErrOtherSchema] if another text of the first migration created the tables of the database. It
// reports whether the digest of the first migration is stored already.
func checkDigest(ctx context.Context, conn *sql.DB) (stored bool, err error) {
	var made, versioned, digested bool
	err = conn.QueryRowContext(ctx, `select to_regclass('config_version') is not null, to_regclass($1) is not null,
		to_regclass('schema_digest') is not null`, versionTable).Scan(&made, &versioned, &digested)
	switch {
	case err != nil || !made:
		return false, err
	case !versioned || !digested:
		return false, ErrOtherSchema
	}
	var digest string
	err = conn.QueryRowContext(ctx, schemaDigest).Scan(&digest)
	switch {
	case errors.Is(err, sql.ErrNoRows): // the migration was interrupted
		return false, nil
	case err == nil && digest != baseDigest():
		return false, ErrOtherSchema
	}
	return true, err
}

// lockPoll is the time between two tries to get the lock while another process migrates.
const lockPoll = 250 * time.Millisecond

// exclusively calls f under the database's advisory lock, which only one process can hold. A separate database transaction
// holds the lock, because a pooler keeps a database transaction on one connection. goose uses the same lock. A process
// that waits for the lock polls for it in short database transactions, since CREATE INDEX CONCURRENTLY waits for every
// open transaction that has a snapshot.
func exclusively(ctx context.Context, config *pgx.ConnConfig, f func() error) error {
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	ticker := time.NewTicker(lockPoll)
	defer ticker.Stop()
	for {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{BeginQuery: "begin; set local idle_in_transaction_session_timeout = 0"})
		if err != nil {
			return err
		}
		var locked bool
		// The simple protocol is used because the extended one keeps the snapshot of the statement.
		err = tx.QueryRow(ctx, "select pg_try_advisory_xact_lock($1::bigint)", pgx.QueryExecModeSimpleProtocol, lock.DefaultLockID).Scan(&locked)
		if err != nil {
			return err
		}
		if locked {
			defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
			return f()
		}
		if err := tx.Rollback(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// SchemaDigest returns a digest of the migrations in this program.
func SchemaDigest() string {
	names, _ := fs.Glob(migrations, "migrations/*.sql")
	return digestOf(names...)
}

// baseDigest returns the digest of the text of the first migration in this program.
func baseDigest() string { return digestOf("migrations/00001_schema.sql") }

func digestOf(names ...string) string {
	digest := sha256.New()
	for _, name := range names {
		text, _ := migrations.ReadFile(name)
		digest.Write(text)
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}
