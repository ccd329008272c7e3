package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/localpostgres"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// server is a Postgres, as its superuser sees it. The names of what a test makes there begin with the prefix.
type server struct {
	*testing.T
	url    string
	prefix string
}

// run runs statements as a user, in a database; an empty user is the superuser. P_ stands for the prefix.
func (s server) run(user, database string, statements ...string) {
	s.Helper()
	if err := s.try(user, database, statements...); err != nil {
		s.Fatal(err)
	}
}

func (s server) try(user, database string, statements ...string) error {
	ctx := context.WithoutCancel(s.Context())
	conn, err := pgx.Connect(ctx, s.at(user, database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, strings.ReplaceAll(statement, "P_", s.prefix)); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// at is the URL of a database for a user, whose password is its name.
func (s server) at(user, database string) string {
	at, err := url.Parse(s.url)
	if err != nil {
		s.Fatal(err)
	}
	if user != "" {
		user = strings.ReplaceAll(user, "P_", s.prefix)
		at.User = url.UserPassword(user, user)
	}
	if database != "" {
		at.Path = "/" + strings.ReplaceAll(database, "P_", s.prefix)
	}
	return at.String()
}

// drop removes databases and roles when the test has ended.
func (s server) drop(databases, roles []string) {
	s.Cleanup(func() {
		for _, database := range databases {
			s.run("", "", "drop database if exists "+database+" with (force)")
		}
		for _, role := range roles {
			s.run("", "", "drop role if exists "+role)
		}
	})
}

// works migrates a database as its owner and lets each user do what it has to, and the owner everything, as with one URL for all.
func (s server) works(owner, database string, users []postgres.User) {
	s.Helper()
	if err := postgres.Migrate(s.Context(), s.at(owner, database)); err != nil {
		s.Fatal(err)
	}
	if err := postgres.Migrate(s.Context(), s.at(owner, database)); err != nil {
		s.Errorf("again: %v", err)
	}
	if err := postgres.EnsureUsers(s.Context(), s.at(owner, database), users); err != nil {
		s.Fatal(err)
	}
	s.served(s.at(owner, database), s.at(owner, database))
	roles := "cauri_" + strings.ReplaceAll(database, "P_", s.prefix)
	s.served(s.as(roles, "controller", database), s.as(roles, "api", database))
	if err := open(s.T, s.as(roles, "worker", database)).Ping(s.Context()); err != nil {
		s.Error(err)
	}
}

// as is the URL of the user that EnsureUsers made for a process.
func (s server) as(roles, process, database string) string {
	at, _ := url.Parse(s.at("", database))
	at.User = url.UserPassword(roles+"_"+process+"_user", process)
	return at.String()
}

// served configures a sandbox by one URL and reads in its scope by another, as controller and api do.
func (s server) served(controller, api string) {
	s.Helper()
	state, err := ledgertest.OpenWith(controller, ledgertest.Options{KeyRing: ledgertest.KeyRing(s.T)})
	if err != nil {
		s.Fatal(err)
	}
	defer state.Close()
	if _, err := state.ApplySandbox(s.Context(), sandboxes.Config{
		UID: "11111111-1111-1111-1111-111111111111", Namespace: "a", Name: "b",
	}); err != nil {
		s.Fatal(err)
	}
	var role string
	err = open(s.T, api).Tenant(1).QueryRow(s.Context(), "select current_role").Scan(&role)
	if err != nil || !strings.HasSuffix(role, "_tenant") {
		s.Errorf("the scope of a sandbox has the role %s, %v", role, err)
	}
}

var allUsers = []postgres.User{
	{Process: "api", Password: "api"}, {Process: "worker", Password: "worker"}, {Process: "controller", Password: "controller"},
}

func rolesOf(database string) (roles []string) {
	for _, process := range []string{"api", "worker", "controller"} {
		roles = append(roles, "cauri_"+database+"_"+process+"_user", "cauri_"+database+"_"+process)
	}
	return append(roles, "cauri_"+database+"_tenant")
}

// rights are the ways in which somebody gets a database for Cauri.
var rights = map[string]func(s server){
	"a superuser": func(s server) {
		s.drop([]string{"P_d"}, rolesOf("P_d"))
		s.run("", "", "create database P_d")
		s.works("", "P_d", allUsers)
	},
	"an owner who may create roles": func(s server) {
		s.drop([]string{"P_d"}, append(rolesOf("P_d"), "P_o"))
		s.run("", "", "create role P_o login createrole password 'P_o'", "create database P_d owner P_o")
		s.works("P_o", "P_d", allUsers)
	},
	// The administrator of a managed database is no superuser: these are the statements of docs/install.md.
	"an administrator who may create roles and databases": func(s server) {
		s.drop([]string{"P_d"}, append(rolesOf("P_d"), "P_o", "P_admin"))
		s.run("", "", "create role P_admin login createrole createdb password 'P_admin'")
		s.run("P_admin", "postgres", "create role P_o login createrole password 'P_o'", "grant P_o to P_admin", "create database P_d owner P_o")
		s.works("P_o", "P_d", allUsers)
	},
	// docs/security.md: the owner may create no roles.
	"roles made beforehand": func(s server) {
		s.drop([]string{"P_d"}, append(rolesOf("P_d"), "P_o"))
		s.run("", "", "create role P_o login password 'P_o'", "create database P_d owner P_o")
		if err := postgres.Migrate(s.Context(), s.at("P_o", "P_d")); err == nil ||
			!strings.Contains(err.Error(), "create role cauri_"+s.prefix+"d_tenant nologin noinherit") {
			s.Errorf("without the roles: %v", err)
		}
		s.run("", "",
			"create role cauri_P_d_tenant nologin noinherit", "create role cauri_P_d_api nologin noinherit in role cauri_P_d_tenant",
			"create role cauri_P_d_worker nologin noinherit", "create role cauri_P_d_controller nologin noinherit", "grant cauri_P_d_tenant to P_o")
		for _, process := range []string{"api", "worker", "controller"} {
			s.run("", "", fmt.Sprintf("create role cauri_P_d_%[1]s_user login password '%[1]s' in role cauri_P_d_%[1]s", process))
		}
		s.works("P_o", "P_d", nil)
	},
	"roles made beforehand that inherit": func(s server) {
		s.drop([]string{"P_d"}, append(rolesOf("P_d"), "P_o"))
		s.run("", "", "create role P_o login createrole password 'P_o'", "create database P_d owner P_o",
			"create role cauri_P_d_tenant", "create role cauri_P_d_api in role cauri_P_d_tenant")
		if err := postgres.Migrate(s.Context(), s.at("P_o", "P_d")); err == nil || !strings.Contains(err.Error(), "noinherit") {
			s.Errorf("an api that need not enter the scope of a sandbox: %v", err)
		}
	},
	"two databases of one server": func(s server) {
		s.drop([]string{"P_d", "P_e"}, append(append(rolesOf("P_d"), rolesOf("P_e")...), "P_o", "P_p"))
		for owner, database := range map[string]string{"P_o": "P_d", "P_p": "P_e"} {
			s.run("", "", fmt.Sprintf("create role %s login createrole password '%[1]s'", owner),
				fmt.Sprintf("create database %s owner %s", database, owner))
		}
		for owner, database := range map[string]string{"P_o": "P_d", "P_p": "P_e"} {
			s.works(owner, database, allUsers)
		}
		for database, other := range map[string]string{"P_d": "P_e", "P_e": "P_d"} {
			for _, process := range []string{"api", "worker", "controller"} {
				err := open(s.T, s.as("cauri_"+strings.ReplaceAll(database, "P_", s.prefix), process, other)).Ping(s.Context())
				if !errors.Is(err, postgres.ErrUnavailable) || postgres.AbsenceOf(err) != postgres.Refused {
					s.Errorf("the %s of %s at %s: %v", process, database, other, err)
				}
			}
		}
		if err := s.try("P_o", "P_e", "select 1"); err == nil {
			s.Error("the owner of one may connect to the other")
		}
	},
	// Other programs that use the database go on.
	"a database that is used already": func(s server) {
		s.drop([]string{"P_d"}, append(rolesOf("P_d"), "P_o", "P_other"))
		s.run("", "", "create role P_o login createrole password 'P_o'", "create database P_d owner P_o",
			"create role P_other login password 'P_other'")
		s.run("P_o", "P_d", "create schema shop", "create table shop.orders (id int)")
		s.works("P_o", "P_d", allUsers)
		s.run("P_other", "P_d", "select 1")
	},
}

// Each way works on each version of Postgres: on that of the tests, and with CAURI_TEST_WHOLE=1 on all that Cauri supports.
func TestMigrateWithFewRights(t *testing.T) {
	t.Parallel()
	servers := map[string]string{"": ledgertest.AdminURL(t)}
	if os.Getenv("CAURI_TEST_WHOLE") != "" {
		for major := localpostgres.Oldest; major <= localpostgres.Newest; major++ {
			servers[fmt.Sprint(major)] = startPostgres(t, major)
		}
		delete(servers, "")
	}
	for version, at := range servers {
		for name, way := range rights {
			t.Run(version+" "+name, func(t *testing.T) {
				t.Parallel()
				way(server{t, at, fmt.Sprintf("r%x%x_", os.Getpid(), crc32.ChecksumIEEE([]byte(name)))})
			})
		}
	}
}

// startPostgres starts a Postgres of a major version and returns the URL of its superuser.
func startPostgres(t *testing.T, major int) string {
	t.Helper()
	home, err := localpostgres.TemporaryHome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	programs := func(ctx context.Context, _ int) (localpostgres.Programs, error) {
		return localpostgres.Source{Say: t.Logf}.Programs(ctx, major)
	}
	s, err := localpostgres.Start(t.Context(), localpostgres.Options{Home: home, Programs: programs})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.Stop(0), home.Close()); err != nil {
			t.Error(err)
		}
	})
	return s.URL()
}
