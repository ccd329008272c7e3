// Package localpostgres finds or downloads the server programs of Postgres, and runs a server of its own on this machine.
package localpostgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// Oldest and Newest are the oldest major version that Cauri supports, and the newest one that it is tested with.
const Oldest, Newest = 15, 18

// Programs are the server programs of one version.
type Programs struct {
	Folder string
	Major  int
}

// ErrNoPrograms is returned if this machine has no server programs of a version that Cauri supports.
var ErrNoPrograms = fmt.Errorf("this machine has no server programs of Postgres %d or newer", Oldest)

// folders are the folders of server programs, which most distributions keep out of PATH: Debian, the PostgreSQL RPMs,
// Alpine, Homebrew.
var folders = []string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/libexec/postgresql*", "/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
}

// Variable is the environment variable with the folder of the server programs, if they are in an unusual folder.
const Variable = "CAURI_POSTGRES_PROGRAMS"

// Find returns the server programs of this machine: those in the folder of [Variable], or else the newest in PATH and
// in the usual folders. major is the version of existing data, which only programs of this version can open; 0: any
// version. It returns [ErrNoPrograms] if there are none.
func Find(ctx context.Context, major int) (Programs, error) {
	if folder := os.Getenv(Variable); folder != "" {
		found, err := programsIn(ctx, folder)
		if err != nil {
			return Programs{}, fmt.Errorf("%w in %s=%s: %w", ErrNoPrograms, Variable, folder, err)
		}
		return found, nil
	}
	var candidates []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil { // initdb is next to the real program
			candidates = append(candidates, filepath.Dir(path))
		}
	}
	for _, pattern := range folders {
		matches, _ := filepath.Glob(pattern) // the patterns are constants and valid
		candidates = append(candidates, matches...)
	}
	var found []Programs
	for _, folder := range candidates {
		p, err := programsIn(ctx, folder)
		if err == nil && p.Major >= Oldest && (major == 0 || p.Major == major) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return Programs{}, ErrNoPrograms
	}
	return slices.MaxFunc(found, func(a, b Programs) int { return cmp.Compare(a.Major, b.Major) }), nil
}

var versionLine = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// programsIn checks that a folder has the server programs. Packages with the clients have only some of them.
func programsIn(ctx context.Context, folder string) (Programs, error) {
	for _, name := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(folder, name)); err != nil {
			return Programs{}, err
		}
	}
	output, err := exec.CommandContext(ctx, filepath.Join(folder, "postgres"), "--version").Output()
	if err != nil {
		return Programs{}, fmt.Errorf("asking %s/postgres for its version: %w", folder, err)
	}
	match := versionLine.FindSubmatch(output)
	if match == nil {
		return Programs{}, errors.New("no version")
	}
	major, err := strconv.Atoi(string(match[1]))
	return Programs{Folder: folder, Major: major}, err
}
