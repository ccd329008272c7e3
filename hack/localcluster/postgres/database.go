package postgres

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// DatabaseVariable is the environment variable with the URL of a database. If it is set, localcluster uses that
// database and runs no Postgres.
const DatabaseVariable = "CAURI_DATABASE_URL"

const (
	// OwnerRole is the role with which Cauri connects. It is not a superuser, but may create the group roles of the
	// migrations.
	OwnerRole     = "cauri"
	OwnerDatabase = "cauri"
)

// connect opens one connection. A wrong address fails within seconds.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	config, err := pgx.ParseConfig(url)
	before, behind, _ := strings.Cut(url, "@")
	if err != nil || strings.Contains(behind, "@") || behind != "" && strings.Count(before, "/") > 2 {
		return nil, errMalformed
	}
	return pgx.ConnectConfig(ctx, config)
}

// errMalformed is returned for a URL that cannot be read, or whose password has a special character that is not encoded. The
// error of pgx would show parts of the password.
var errMalformed = errors.New("it cannot be read: what is special in the password has to be encoded (%40 for @)")

func pingDatabase(ctx context.Context, url string) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return conn.Ping(ctx)
}

// EnsureOwner creates Cauri's role and database if they are missing, and sets the role's password.
func EnsureOwner(ctx context.Context, adminURL, password string) error {
	conn, err := connect(ctx, adminURL)
	if err != nil {
		return fmt.Errorf("connecting to Postgres: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))

	role, database := pgx.Identifier{OwnerRole}.Sanitize(), pgx.Identifier{OwnerDatabase}.Sanitize()
	exists, err := isThere(ctx, conn, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", OwnerRole)
	if err != nil {
		return err
	}
	if !exists {
		if _, err := conn.Exec(ctx, "CREATE ROLE "+role); err != nil {
			return fmt.Errorf("creating the role %s: %w", OwnerRole, err)
		}
	}
	// Utility statements have no parameters. The password has only hexadecimal digits, so it needs no quoting.
	if _, err := conn.Exec(ctx, "ALTER ROLE "+role+" LOGIN CREATEROLE NOSUPERUSER PASSWORD '"+password+"'"); err != nil {
		return fmt.Errorf("setting up the role %s: %w", OwnerRole, err)
	}
	exists, err = isThere(ctx, conn, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", OwnerDatabase)
	if err != nil || exists {
		return err
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+database+" OWNER "+role); err != nil {
		return fmt.Errorf("creating the database %s: %w", OwnerDatabase, err)
	}
	return nil
}

// users are the database users of the processes, each with the group that has the necessary rights. The migrations
// create the groups.
var users = map[string]struct{ name, group string }{
	process.ControllerName: {"cauri_controller_user", "cauri_controller"},
	process.APIName:        {"cauri_api_user", "cauri_api"},
	process.WorkerName:     {"cauri_worker_user", "cauri_worker"},
}

// EnsureUsers creates missing users and returns the database URL of each process.
func (s Server) EnsureUsers(ctx context.Context, ownerPassword string) (urls map[string]string, err error) {
	conn, err := connect(ctx, s.AdminURL())
	if err != nil {
		return nil, fmt.Errorf("connecting to Postgres: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	urls = map[string]string{}
	for process, user := range users {
		exists, err := isThere(ctx, conn, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1)", user.name)
		if err != nil {
			return nil, err
		}
		password := passwordOf(ownerPassword, user.name)
		statements := []string{"ALTER ROLE " + user.name + " LOGIN PASSWORD '" + password + "'", "GRANT " + user.group + " TO " + user.name}
		if !exists {
			statements = slices.Insert(statements, 0, "CREATE ROLE "+user.name)
		}
		for _, statement := range statements { // names and digits need no quoting
			if _, err := conn.Exec(ctx, statement); err != nil {
				return nil, fmt.Errorf("setting up the user %s: %w", user.name, err)
			}
		}
		urls[process] = s.URL(user.name, password, OwnerDatabase)
	}
	return urls, nil
}

// passwordOf derives the password of a user from one secret. Neither the secret nor another password can be derived
// from a password.
func passwordOf(ownerPassword, user string) string {
	mac := hmac.New(sha256.New, []byte(ownerPassword))
	mac.Write([]byte(user))
	return hex.EncodeToString(mac.Sum(nil))
}

func isThere(ctx context.Context, conn *pgx.Conn, query, name string) (bool, error) {
	var exists bool
	if err := conn.QueryRow(ctx, query, name).Scan(&exists); err != nil {
		return false, fmt.Errorf("looking for %s: %w", name, err)
	}
	return exists, nil
}

// CheckOutsideDatabase returns an error if Cauri cannot use the user's database.
func CheckOutsideDatabase(ctx context.Context, url string) error {
	advice := "check the address, or unset " + DatabaseVariable + " to run a Postgres here"
	conn, err := connect(ctx, url)
	if errors.Is(err, errMalformed) {
		return fmt.Errorf("%s is not the address of a Postgres (postgres://USER:PASSWORD@HOST:PORT/DATABASE): %w", DatabaseVariable, err)
	}
	if err != nil {
		return fmt.Errorf("the database of %s does not answer: %w; %s", DatabaseVariable, err, advice)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return fmt.Errorf("reading the version of the database of %s: %w", DatabaseVariable, err)
	}
	if major := version / 10000; major < localpostgres.Oldest {
		return fmt.Errorf(
			"the database of %s is Postgres %d, Cauri needs %d or newer: use another one, or %s",
			DatabaseVariable,
			major,
			localpostgres.Oldest,
			advice,
		)
	}
	return nil
}
