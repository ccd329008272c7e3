package image

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// entrypoint runs the script of the Postgres image with fake programs that record their calls.
type entrypoint struct {
	folder string
	env    []string
}

func newEntrypoint(t *testing.T, env ...string) entrypoint {
	t.Helper()
	folder := t.TempDir()
	e := entrypoint{folder: folder, env: append([]string{
		"PATH=" + folder + ":" + os.Getenv("PATH"), "PGDATA=" + pgdata(folder), "CALLS=" + filepath.Join(folder, "calls"), "TMPDIR=" + folder,
	}, env...)}
	for name, script := range map[string]string{
		"initdb": `for a; do case $a in --pgdata=*) d=${a#--pgdata=} ;; --pwfile=*) p=$(cat "${a#--pwfile=}") ;; --username=*) u=$a ;; esac; done
mkdir -p "$d"; echo 15 >"$d/PG_VERSION"; echo "initdb $u password=$p ${d##*/}" >>"$CALLS"`,
		"postgres": `case $1 in --single) echo "single $(cat)" >>"$CALLS" ;; *) echo "postgres ${2##*/} $3 $4" >>"$CALLS" ;; esac`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\nset -eu\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

func pgdata(folder string) string { return filepath.Join(folder, "volume", "pgdata") }

func (e entrypoint) run(args ...string) (calls, said string, err error) {
	if err := os.RemoveAll(filepath.Join(e.folder, "calls")); err != nil {
		return "", "", err
	}
	cmd := exec.Command("/bin/sh", append([]string{"postgres-entrypoint.sh"}, args...)...)
	cmd.Env = e.env
	output, err := cmd.CombinedOutput()
	content, _ := os.ReadFile(filepath.Join(e.folder, "calls")) // absent if nothing was called
	return string(content), string(output), err
}

func TestPostgresImageMakesItsDatabaseOnce(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("from a 'file'"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := newEntrypoint(t, "POSTGRES_USER=cauri", `POSTGRES_DB=my "db"`, "POSTGRES_PASSWORD_FILE="+secret)
	calls, said, err := e.run("postgres", "-c", "max_connections=7")
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	want := "initdb --username=cauri password=from a 'file' pgdata.partial\n" +
		`single CREATE DATABASE "my ""db"""` + "\npostgres pgdata -c max_connections=7\n"
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Error(diff)
	}
	settings, err := os.ReadFile(filepath.Join(pgdata(e.folder), "postgresql.conf"))
	if err != nil || !strings.Contains(string(settings), "listen_addresses = '*'") {
		t.Errorf("settings: %q, %v", settings, err)
	}
	if calls, _, err = e.run("-c", "jit=off"); err != nil || calls != "postgres pgdata -c jit=off\n" {
		t.Errorf("the second start called %q, %v", calls, err)
	}
}

func TestPostgresImageStartsOverWhatWasNotFinished(t *testing.T) {
	t.Parallel()
	e := newEntrypoint(t, "POSTGRES_PASSWORD=secret")
	if err := os.MkdirAll(filepath.Join(pgdata(e.folder)+".partial", "base"), 0o700); err != nil { // left by a killed pod
		t.Fatal(err)
	}
	calls, said, err := e.run("postgres", "-c", "a=b")
	want := "initdb --username=postgres password=secret pgdata.partial\npostgres pgdata -c a=b\n"
	if diff := cmp.Diff(want, calls); diff != "" || err != nil {
		t.Errorf("%s%v %s", diff, err, said)
	}
	if _, err := os.Stat(filepath.Join(pgdata(e.folder), "base")); err == nil {
		t.Error("what was not finished became part of the database")
	}
}

func TestPostgresImageWantsAPassword(t *testing.T) {
	t.Parallel()
	calls, said, err := newEntrypoint(t).run("postgres")
	if err == nil || calls != "" || !strings.Contains(said, "POSTGRES_PASSWORD_FILE") {
		t.Errorf("without a password: %v, called %q, said %q", err, calls, said)
	}
}

func TestPostgresImageRunsOtherPrograms(t *testing.T) {
	t.Parallel()
	calls, said, err := newEntrypoint(t).run("echo", "hello")
	if err != nil || calls != "" || said != "hello\n" {
		t.Errorf("echo: %v, called %q, said %q", err, calls, said)
	}
}
