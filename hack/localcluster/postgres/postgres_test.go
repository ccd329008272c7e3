package postgres

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/process/processtest"
	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

// fakePostgres creates a folder with programs that only print their version.
func fakePostgres(t *testing.T, root string, major int) {
	t.Helper()
	bin := filepath.Join(root, fmt.Sprint(major), "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"initdb", "postgres"} {
		script := fmt.Sprintf("#!/bin/sh\necho '%s (PostgreSQL) %d.4 (Debian)'\n", name, major)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindAndChoosePostgres(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PATH", root) // nothing is found there
	for _, major := range []int{9, 14, 16, 17, 15} {
		fakePostgres(t, root, major)
	}
	clientsOnly := filepath.Join(root, "18", "bin")
	if err := os.MkdirAll(clientsOnly, 0o755); err != nil {
		t.Fatal(err)
	}
	found := findPostgres(t.Context(), []string{filepath.Join(root, "*", "bin")})
	var majors []int
	for _, programs := range found {
		majors = append(majors, programs.Major)
	}
	if !slices.Equal(majors, []int{17, 16, 15}) {
		t.Fatalf("found %v", majors)
	}
	cases := map[string]struct{ data, want int }{"no data": {0, 17}, "older data": {15, 15}, "of one that is gone": {14, 0}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			chosen, err := choosePostgres(found, c.data)
			if chosen.Major != c.want || errors.Is(err, errNoSuchPostgres) != (c.want == 0) {
				t.Errorf("choosePostgres(%d) = %d, %v", c.data, chosen.Major, err)
			}
		})
	}
}

func TestDownloadsThatAreForbidden(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv(download.SwitchVariable, "off")
	testkit.WantAdvice(t, fetchPostgres(), download.SwitchVariable+"=off")
	t.Setenv(download.SwitchVariable, "never")
	testkit.WantAdvice(t, fetchPostgres(), download.SwitchVariable+"=never", "on or off")
}

func TestOnlyTheUnsafeServerForgetsTheDisk(t *testing.T) {
	t.Parallel()
	for _, unsafe := range []bool{false, true} {
		args := strings.Join(Server{Data: "/d", Port: 20001, unsafe: unsafe}.args(), " ")
		if strings.Contains(args, "fsync=off") != unsafe {
			t.Errorf("unsafe %t: %s", unsafe, args)
		}
		if !strings.Contains(args, "listen_addresses=127.0.0.1") {
			t.Errorf("not only on the loopback address: %s", args)
		}
	}
}

func TestPasswordsAreKept(t *testing.T) {
	t.Parallel()
	state := processtest.State(t)
	first, err := EnsureState(state)
	if err != nil {
		t.Fatal(err)
	}
	second, err := EnsureState(state)
	if err != nil {
		t.Fatal(err)
	}
	if first != second || first.SuperuserPassword == first.OwnerPassword || len(first.OwnerPassword) != 48 {
		t.Errorf("%+v, then %+v", first, second)
	}
}

// The temporary server starts like the permanent one: initialize, start, query and stop.
func TestPostgres(t *testing.T) {
	if len(findPostgres(t.Context(), postgresFolders)) == 0 {
		t.Skip("no Postgres is installed here, and a test does not install one")
	}
	err := withThrowawayPostgres(t.Context(), true, func(url string) error {
		for range 2 { // every up repeats it
			if err := EnsureOwner(t.Context(), url, "0123456789abcdef"); err != nil {
				return err
			}
		}
		if err := CheckOutsideDatabase(t.Context(), url); err != nil {
			return err
		}
		config, err := pgx.ParseConfig(url)
		if err != nil {
			return err
		}
		s := Server{Port: int(config.Port)}
		testkit.WantAdvice(
			t,
			CheckOutsideDatabase(t.Context(), s.URL(OwnerRole, "wrong", OwnerDatabase)),
			DatabaseVariable,
			"does not answer",
			"unset",
		)

		conn, err := connect(t.Context(), s.URL(OwnerRole, "0123456789abcdef", OwnerDatabase))
		if err != nil {
			return err
		}
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), "CREATE ROLE made_by_a_migration; CREATE TABLE t (id int)")
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestCheckOutsideDatabaseThatIsNone(t *testing.T) {
	t.Parallel()
	testkit.WantAdvice(t, CheckOutsideDatabase(t.Context(), "nonsense://x"), DatabaseVariable, "postgres://USER")
}
