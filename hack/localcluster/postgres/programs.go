package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// oldestPostgres is the oldest major version that Cauri supports.
const oldestPostgres = 15

// Programs are the server programs of one version.
type Programs struct {
	dir   string
	Major int
}

func (p Programs) program(name string) string { return filepath.Join(p.dir, name) }

// postgresFolders are the folders of server programs. Most distributions keep them out of PATH. In order: Debian, the
// PostgreSQL RPMs, Alpine, Homebrew.
var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin",
}

var postgresVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// findPostgres returns the installed versions in PATH and in the folders, the newest first.
func findPostgres(ctx context.Context, folders []string) []Programs {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // initdb is next to the real program
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, pattern := range folders {
		matches, _ := filepath.Glob(pattern) // the patterns are constants and valid
		dirs = append(dirs, matches...)
	}
	var found []Programs
	for _, dir := range dirs {
		if programs, err := programsIn(ctx, dir); err == nil && programs.Major >= oldestPostgres {
			found = append(found, programs)
		}
	}
	slices.SortStableFunc(found, func(a, b Programs) int { return cmp.Compare(b.Major, a.Major) })
	return found
}

// programsIn checks that a folder has the server programs. Client packages have only some of them.
func programsIn(ctx context.Context, dir string) (Programs, error) {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return Programs{}, err
		}
	}
	output, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return Programs{}, fmt.Errorf("reading the version of %s/postgres: %w", dir, err)
	}
	match := postgresVersion.FindSubmatch(output)
	if match == nil {
		return Programs{}, fmt.Errorf("%s/postgres printed no version: %q", dir, output)
	}
	major, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return Programs{}, err
	}
	return Programs{dir: dir, Major: major}, nil
}

// errNoSuchPostgres means that the version that created the data is no longer installed.
var errNoSuchPostgres = errors.New("that version of Postgres is not installed")

// choosePostgres returns the version that created the data, because no other can open it. Without data (0) it returns
// the newest version.
func choosePostgres(found []Programs, dataMajor int) (Programs, error) {
	for _, programs := range found {
		if dataMajor == 0 || programs.Major == dataMajor {
			return programs, nil
		}
	}
	return Programs{}, fmt.Errorf("data of Postgres %d: %w", dataMajor, errNoSuchPostgres)
}
