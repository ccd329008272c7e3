package localapi

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/postgres"
)

// State keeps the resources for the next process. The rows of a sandbox in the database refer to the UID, generation
// and credentials of its resource, so these must stay the same. Calls are never concurrent.
type State interface {
	// Load returns the stored objects as JSON.
	Load(ctx context.Context) ([][]byte, error)
	// Save stores an object. It replaces the object with the same name.
	Save(ctx context.Context, name string, object []byte) error
	// Delete removes an object.
	Delete(ctx context.Context, name string) error
}

// forgetful is a [State] that keeps nothing.
type forgetful struct{}

func (forgetful) Load(context.Context) ([][]byte, error)     { return nil, nil }
func (forgetful) Save(context.Context, string, []byte) error { return nil }
func (forgetful) Delete(context.Context, string) error       { return nil }

// InDatabase returns a [State] that keeps the resources in a table of the same database as the rows of the sandboxes.
// So a copy of the database has both. The table has the API keys in plain text.
func InDatabase(db postgres.DBTX) State { return inDatabase{db} }

type inDatabase struct{ db postgres.DBTX }

// Load implements [State]. It creates the table if necessary. The migrations do not have the table, because only this
// package uses it.
func (s inDatabase) Load(ctx context.Context) ([][]byte, error) {
	if _, err := s.db.Exec(ctx, "create table if not exists dev_resources (name text primary key, object jsonb not null)"); err != nil {
		return nil, postgres.Classify(err, "making the table dev_resources")
	}
	rows, err := s.db.Query(ctx, "select object from dev_resources")
	if err != nil {
		return nil, postgres.Classify(err, "reading the table dev_resources")
	}
	objects, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	return objects, postgres.Classify(err, "reading the table dev_resources")
}

// Save implements [State].
func (s inDatabase) Save(ctx context.Context, name string, object []byte) error {
	_, err := s.db.Exec(ctx, "insert into dev_resources (name, object) values ($1, $2) on conflict (name) do update set object = $2",
		name, object)
	return postgres.Classify(err, fmt.Sprintf("writing %s to the table dev_resources", name))
}

// Delete implements [State].
func (s inDatabase) Delete(ctx context.Context, name string) error {
	_, err := s.db.Exec(ctx, "delete from dev_resources where name = $1", name)
	return postgres.Classify(err, fmt.Sprintf("removing %s from the table dev_resources", name))
}
