package postgres

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/process/processtest"
	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// A package with the right sum is only in the tests of the download itself, in server/localpostgres.
func TestProgramsThatAreMissing(t *testing.T) {
	requests := make(chan string, 9)
	registry := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { requests <- r.URL.Path }))
	defer registry.Close()
	t.Setenv(localpostgres.Variable, t.TempDir()) // nothing is found there
	t.Setenv(localpostgres.URLVariable, registry.URL)
	var said strings.Builder
	source := sourceOf(&said)
	source.Cache = t.TempDir()
	try := func(dataMajor int) error {
		_, err := findOrDownload(t.Context(), source, dataMajor)
		return err
	}

	testkit.WantAdvice(t, try(0), "sum", "it was not used", DatabaseVariable)
	if len(requests) != 1 || !strings.HasPrefix(<-requests, "/@embedded-postgres/") || !strings.Contains(said.String(), registry.URL) {
		t.Errorf("%d more requests, said %q", len(requests), said.String())
	}
	testkit.WantAdvice(t, try(localpostgres.Oldest-1), fmt.Sprint("Postgres ", localpostgres.Oldest-1), "--purge")
	t.Setenv(download.SwitchVariable, "off")
	testkit.WantAdvice(t, try(0), download.SwitchVariable+"=off", DatabaseVariable)
	if len(requests) != 0 {
		t.Error("programs were downloaded that cannot read the data, or although downloads are off")
	}
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
	if _, err := localpostgres.Find(t.Context(), 0); err != nil {
		t.Skip("no Postgres is installed here, and a test does not install one")
	}
	err := withThrowawayPostgres(t.Context(), 0, true, func(url string) error {
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
