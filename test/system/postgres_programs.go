package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// programsVariable names the folder of Postgres' server programs if they are in an unusual place.
const programsVariable = "CAURI_POSTGRES_PROGRAMS"

// testDatabaseVariable is the URL of the Postgres of `make test`, which knows the folder of its programs.
const testDatabaseVariable = "CAURI_TEST_DATABASE_URL"

// postgresFolders are the folders of server programs: Debian, the PostgreSQL RPMs, Alpine, Homebrew.
var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*", "/opt/homebrew/opt/postgresql@*/bin",
}

// findPrograms returns the folder of initdb and postgres.
func findPrograms(ctx context.Context) (string, error) {
	folders := []string{os.Getenv(programsVariable), programsOfTestDatabase(ctx)}
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // initdb is next to the real program
			folders = append(folders, filepath.Dir(path))
		}
	}
	for _, pattern := range postgresFolders {
		matches, _ := filepath.Glob(pattern) // the patterns are constants and valid
		folders = append(folders, matches...)
	}
	for _, folder := range folders {
		if folder != "" && hasPrograms(folder) {
			return folder, nil
		}
	}
	return "", errors.New(
		"no Postgres server was found on this machine: install one (`apt-get install postgresql`), or set the folder of initdb and postgres in " +
			programsVariable,
	)
}

func hasPrograms(folder string) bool {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(folder, name)); err != nil {
			return false
		}
	}
	return true
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

// account is the user that runs Postgres if the test runs as root, which Postgres refuses: Debian's user postgres.
// Otherwise it is nil, the current user.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("reading the ids of the user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New(
		"Postgres does not run as root, and there is no user postgres or nobody: create one, or run this as another user",
	)
}
