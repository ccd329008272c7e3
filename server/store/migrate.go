package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgerrcode"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // goose speaks database/sql
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema of the database at url up to date. Any number of processes may call it at once: one at a time
// works, under a lock, and those that come later find nothing to do.
func Migrate(ctx context.Context, url string) error {
	conn, err := sql.Open("pgx", url)
	if err != nil {
		return fmt.Errorf("reading the database URL: %w", err)
	}
	defer func() { _ = conn.Close() }()
	folder, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, folder, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	_, err = provider.Up(ctx)
	var answer *pgconn.PgError
	if errors.As(err, &answer) && answer.Code == pgerrcode.InsufficientPrivilege {
		return fmt.Errorf("the database's user may not change its schema, run `cauri migrate` as the owner: %w", err)
	}
	if err != nil {
		return classify(err, "migrating the database")
	}
	return nil
}

// SchemaDigest names the state of the migrations in this program.
func SchemaDigest() string {
	digest := sha256.New()
	names, _ := fs.Glob(migrations, "migrations/*.sql")
	for _, name := range names {
		text, _ := migrations.ReadFile(name)
		digest.Write(text)
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}
