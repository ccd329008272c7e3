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

// oldestPostgres is the oldest major version that Cauri works with.
const oldestPostgres = 15

// Programs are the server programs of one version.
type Programs struct {
	dir   string
	Major int
}

func (p Programs) program(name string) string { return filepath.Join(p.dir, name) }

// postgresFolders are where distributions put the server programs, which most keep out of PATH. The first is Debian's,
// the others those of the project's RPMs, Alpine and Homebrew.
var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/usr/libexec/postgresql*",
	"/opt/homebrew/opt/postgresql@*/bin",
}

var postgresVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// findPostgres returns what is installed, the newest first, in PATH and in the folders.
func findPostgres(ctx context.Context, folders []string) []Programs {
	var dirs []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // initdb stands beside the real one
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	for _, pattern := range folders {
		matches, _ := filepath.Glob(pattern) // the patterns are ours: no error is possible
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

// programsIn looks whether a folder holds what is needed: packages of mere clients put other programs there.
func programsIn(ctx context.Context, dir string) (Programs, error) {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			return Programs{}, err
		}
	}
	output, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return Programs{}, fmt.Errorf("asking %s/postgres for its version: %w", dir, err)
	}
	match := postgresVersion.FindSubmatch(output)
	if match == nil {
		return Programs{}, fmt.Errorf("%s/postgres tells no version: %q", dir, output)
	}
	major, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return Programs{}, err
	}
	return Programs{dir: dir, Major: major}, nil
}

// errNoSuchPostgres says that data were made by a version that is not installed any more.
var errNoSuchPostgres = errors.New("that version of Postgres is not installed")

// choosePostgres takes the version that existing data were made by (0: there are none), since no other can open them, and
// otherwise the newest.
func choosePostgres(found []Programs, dataMajor int) (Programs, error) {
	for _, programs := range found {
		if dataMajor == 0 || programs.Major == dataMajor {
			return programs, nil
		}
	}
	return Programs{}, fmt.Errorf("data of Postgres %d: %w", dataMajor, errNoSuchPostgres)
}
