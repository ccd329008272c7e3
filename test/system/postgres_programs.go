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

// programsVariable names the folder of Postgres' server programs where they are not found by themselves.
const programsVariable = "CAURI_POSTGRES_PROGRAMS"

// testDatabaseVariable is where `make test` has a Postgres; it knows where its own programs are.
const testDatabaseVariable = "CAURI_TEST_DATABASE_URL"

// postgresFolders are where distributions put the server programs: Debian, the project's RPMs, Alpine, Homebrew.
var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*", "/opt/homebrew/opt/postgresql@*/bin",
}

// findPrograms returns the folder of initdb and postgres.
func findPrograms(ctx context.Context) (string, error) {
	folders := []string{os.Getenv(programsVariable), programsOfTestDatabase(ctx)}
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // initdb stands beside the real one
			folders = append(folders, filepath.Dir(path))
		}
	}
	for _, pattern := range postgresFolders {
		matches, _ := filepath.Glob(pattern) // the patterns are ours: no error is possible
		folders = append(folders, matches...)
	}
	for _, folder := range folders {
		if folder != "" && hasPrograms(folder) {
			return folder, nil
		}
	}
	return "", errors.New(
		"no Postgres server was found on this machine: install one (`apt-get install postgresql`), or name the folder of initdb and postgres in " +
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

// programsOfTestDatabase asks the Postgres of the tests where its programs are; the answer is worth nothing, and is not used,
// where that runs on another machine.
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

// account is who runs Postgres, which refuses to be run by root: Debian's user postgres then. It is nil for oneself.
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
		"Postgres does not run as root, and there is neither a user postgres nor nobody: make one, or run this as another user",
	)
}
