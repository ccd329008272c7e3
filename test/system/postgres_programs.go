package system

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/localpostgres"
)

// testDatabaseVariable is the URL of the Postgres of `make test`, which knows the folder of its programs.
const testDatabaseVariable = "CAURI_TEST_DATABASE_URL"

// findPrograms returns the folder of initdb and postgres.
func findPrograms(ctx context.Context) (string, error) {
	if folder := programsOfTestDatabase(ctx); folder != "" && os.Getenv(localpostgres.Variable) == "" {
		if _, err := exec.LookPath(filepath.Join(folder, "initdb")); err == nil {
			return folder, nil
		}
	}
	found, err := localpostgres.Find(ctx, 0)
	if err != nil {
		return "", fmt.Errorf("%w: install them (`apt-get install postgresql`), or set their folder in %s", err, localpostgres.Variable)
	}
	return found.Folder, nil
}

// programsOfTestDatabase asks the Postgres of the tests for the folder of its programs. The answer is ignored if the
// folder does not exist here, because the server runs on another machine.
func programsOfTestDatabase(ctx context.Context) (folder string) {
	url := os.Getenv(testDatabaseVariable)
	if url == "" {
		return ""
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := conn.QueryRow(ctx, "select setting from pg_config() where name = 'BINDIR'").Scan(&folder); err != nil {
		return ""
	}
	return folder
}
