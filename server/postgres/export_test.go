package postgres

import "context"

// NeedSchema has a pool need another version of the schema than this program does.
func (d *DB) NeedSchema(version int64) { d.schema.needs = version }

// MigrateFrom is [Migrate] with the migrations of a folder.
var MigrateFrom = migrate

// ScramVerifier is what Postgres keeps of a password.
var ScramVerifier = scramVerifier

// Prepared tells whether a connection has statements that were prepared under a name.
func (d *DB) Prepared(ctx context.Context) (prepared bool, err error) {
	err = d.pool.QueryRow(ctx, "select exists (select from pg_prepared_statements where statement like '%transactions%')").Scan(&prepared)
	return prepared, err
}

// TextOf is a statement as the scope sends it.
func (s Scope) TextOf(statement string) string { return s.recording.text(statement) }

// Forget closes the connections of a pool.
func Forget(d *DB) { d.pool.Reset() }
