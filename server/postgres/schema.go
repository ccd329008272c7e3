package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// versionTable is the table of the migrations that were applied.
const versionTable = "schema_version"

// SchemaVersion is the statement that returns the version of the database's schema.
const SchemaVersion = "select coalesce(max(version_id) filter (where is_applied), 0) from " + versionTable

// schemaDigest is the statement that returns the digest of the database's schema, see [ErrOtherSchema].
const schemaDigest = "select digest from schema_digest"

// ErrSchemaBehind is returned if the schema of the database is older than this program. The program then waits until
// the schema is migrated. It is an [ErrUnavailable].
type ErrSchemaBehind struct {
	Has   int64 // version of the database's schema; 0: not known
	Needs int64
}

func (e ErrSchemaBehind) Error() string {
	if e.Has == 0 {
		return "the database was not migrated for this program, or its user is not one of its processes': `cauri migrate` brings it up to date"
	}
	return fmt.Sprintf("the database's schema has version %d, and this program needs %d: `cauri migrate` brings it up to date", e.Has, e.Needs)
}

// Unwrap makes it an [ErrUnavailable].
func (e ErrSchemaBehind) Unwrap() error { return ErrUnavailable }

// schemaIsOther is [ErrOtherSchema] as an [ErrUnavailable].
type schemaIsOther struct{}

func (schemaIsOther) Error() string   { return ErrOtherSchema.Error() }
func (schemaIsOther) Unwrap() []error { return []error{ErrOtherSchema, ErrUnavailable} }

// NewestSchema returns the version of the schema that this program needs.
func NewestSchema() int64 {
	names, _ := fs.Glob(migrations, "migrations/*.sql")
	var newest int64
	for _, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
		version, _ := strconv.ParseInt(number, 10, 64)
		newest = max(newest, version)
	}
	return newest
}

// schema stores that the database's schema is new enough, because the version of a schema never decreases.
type schema struct {
	needs  int64
	digest string // of the text of the first migration
	there  atomic.Bool
}

// checkTimeout bounds the query for the schema's version.
const checkTimeout = 5 * time.Second

// CheckSchema returns [ErrSchemaBehind] until the database's schema is at least as new as this program. It accepts
// newer schemas, since migrations keep what the release before them uses. It returns [ErrOtherSchema] for a schema
// that another text of the first migration created.
func (d *DB) CheckSchema(ctx context.Context) error {
	if d.schema.there.Load() {
		return nil
	}
	var has int64
	err := withTimeout{d.pool, checkTimeout}.QueryRow(ctx, SchemaVersion).Scan(&has)
	var answer *pgconn.PgError
	switch {
	case refusesLogin(err):
		return fmt.Errorf("the database refuses the login; in some installations `cauri migrate --user-passwords` makes its user: %w: %w",
			ErrUnavailable, err)
	case errors.As(err, &answer) && (answer.Code == pgerrcode.UndefinedTable || answer.Code == pgerrcode.InsufficientPrivilege):
		return ErrSchemaBehind{Needs: d.schema.needs}
	}
	if err != nil {
		return Classify(err, "asking for the version of the database's schema")
	}
	if has < d.schema.needs {
		return ErrSchemaBehind{Has: has, Needs: d.schema.needs}
	}
	if err := d.checkDigest(ctx); err != nil {
		return err
	}
	d.schema.there.Store(true)
	return nil
}

func (d *DB) checkDigest(ctx context.Context) error {
	var digest string
	err := withTimeout{d.pool, checkTimeout}.QueryRow(ctx, schemaDigest).Scan(&digest)
	var answer *pgconn.PgError
	switch {
	case errors.As(err, &answer) && answer.Code == pgerrcode.UndefinedTable:
		return schemaIsOther{}
	case errors.Is(err, pgx.ErrNoRows): // it is being migrated
		return ErrSchemaBehind{Needs: d.schema.needs}
	case err != nil:
		return Classify(err, "asking for the digest of the database's schema")
	case digest != d.schema.digest:
		return schemaIsOther{}
	}
	return nil
}

// AwaitSchema waits until the database's schema is as new as this program, or ctx ends. It polls with the interval, and
// logs the first reason to wait and the end of the wait.
func (d *DB) AwaitSchema(ctx context.Context, interval time.Duration) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for waited := false; ; waited = true {
		err := d.CheckSchema(ctx)
		switch {
		case err == nil && waited:
			slog.InfoContext(ctx, "the database is there, with its schema")
			return nil
		case err == nil:
			return nil
		case !waited && ctx.Err() == nil:
			slog.InfoContext(ctx, "waiting for the database and its schema", "because", err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
