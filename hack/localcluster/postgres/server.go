// Package postgres finds or installs Postgres, runs databases, and creates the users of a database.
package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// Server is one Postgres: its data, its user, and the password of its superuser.
type Server struct {
	Programs localpostgres.Programs
	Account  Account
	Data     string // folder
	Password string
	Port     int
	// unsafe turns off fsync. This is faster, but a power failure loses the data.
	unsafe bool
}

const superuser = "postgres"

// Initialise creates the data folder. It creates the folder under another name, and renames it when it is complete.
func (s Server) Initialise(ctx context.Context) error {
	partial := s.Data + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("removing an incomplete data folder: %w", err)
	}
	if err := s.Account.makeFolder(partial); err != nil {
		return err
	}
	// The password is in a file, because another user may not open this process's standard input.
	password := s.Data + ".password"
	defer os.Remove(password)
	if err := errors.Join(host.WriteFile(password, []byte(s.Password+"\n")), s.Account.own(password)); err != nil {
		return err
	}
	args := []string{
		"--pgdata=" + partial, "--username=" + superuser, "--pwfile=" + password, "--encoding=UTF8", "--locale=C",
	}
	if s.unsafe {
		// The tests open thousands of connections, and SCRAM takes milliseconds for each.
		args = append(args, "--no-sync", "--auth=md5")
	} else {
		args = append(args, "--auth=scram-sha-256")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(s.Programs.Folder, "initdb"), args...)
	cmd.Env = process.ChildEnvironment(nil)
	cmd.Dir = partial
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.Account.credential}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("creating a Postgres database in %s: %w\n%s", partial, err, host.EndOf(output.String(), 15))
	}
	if err := os.Rename(partial, s.Data); err != nil {
		return fmt.Errorf("creating a Postgres database: %w", err)
	}
	return nil
}

// args returns the arguments of postgres. All settings are arguments, not in the data folder, so that changes also
// apply to existing databases.
func (s Server) args() []string {
	settings := []string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(s.Port),
		"unix_socket_directories=", // no Unix socket, only TCP
		"max_connections=200",      // enough for three roles, a test suite and a few users
		"shared_buffers=128MB",
		"log_line_prefix=%m [%p] %u@%d ",
	}
	if s.unsafe {
		settings = append(
			settings,
			"fsync=off",
			"synchronous_commit=off",
			"full_page_writes=off",
			"max_connections=1000",
			"password_encryption=md5",
		) // several test packages run concurrently
	}
	args := []string{"-D", s.Data}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// URL returns the address of a database for one of the roles.
func (s Server) URL(role, password, database string) string {
	address := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(role, password),
		Host:     host.Loopback(s.Port),
		Path:     database,
		RawQuery: "sslmode=disable",
	}
	return address.String()
}

func (s Server) AdminURL() string { return s.URL(superuser, s.Password, "postgres") }

// Component returns the component of the running server.
func (s Server) Component() process.Component {
	return process.Component{
		Name:       process.PostgresName,
		Program:    filepath.Join(s.Programs.Folder, "postgres"),
		Args:       s.args(),
		Dir:        s.Data,
		Address:    host.Loopback(s.Port),
		Credential: s.Account.credential,
		StopSignal: syscall.SIGINT, // fast shutdown, which does not wait for open connections
		StopWithin: 30 * time.Second,
		Ready: func(ctx context.Context) error {
			return pingDatabase(ctx, s.AdminURL())
		},
		ReadyWithin: 2 * time.Minute, // recovery after a crash can take long
		Hint:        process.PurgeHint,
	}
}

// DataMajor returns the major version that created the data, or 0 if there is none.
func DataMajor(data string) (int, error) {
	content, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the version of the database: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("reading the version of the database in %s: %w", data, err)
	}
	return major, nil
}

// State is the stored state of the Postgres of one set of processes.
type State struct {
	// Home is the folder that a purge removes. It may be outside the state folder.
	Home              string `json:"home"`
	SuperuserPassword string `json:"superuserPassword"`
	OwnerPassword     string `json:"ownerPassword"` // password of OwnerRole
}

func (p State) Data() string { return filepath.Join(p.Home, "data") }

// ReadState reads the stored state. It returns the zero value if there is none.
func ReadState(d process.StateDir) (State, error) {
	content, err := os.ReadFile(d.File("postgres.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("reading the state of Postgres: %w", err)
	}
	var known State
	if err := json.Unmarshal(content, &known); err != nil {
		return State{}, fmt.Errorf("reading %s: %w", d.File("postgres.json"), err)
	}
	return known, nil
}

// EnsureState generates the passwords once.
func EnsureState(d process.StateDir) (State, error) {
	known, err := ReadState(d)
	if err != nil || known.Home != "" {
		return known, err
	}
	known = State{Home: Home(d), SuperuserPassword: newPassword(), OwnerPassword: newPassword()}
	// The passwords of existing data are lost, because the state folder was deleted by hand.
	if err := removeOrphan(known); err != nil {
		return State{}, err
	}
	content, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return State{}, fmt.Errorf("saving the state of Postgres: %w", err)
	}
	return known, host.WriteFile(d.File("postgres.json"), append(content, '\n'))
}

// removeOrphan removes data without a state folder. It returns an error if a server uses the data.
func removeOrphan(known State) error {
	if working := process.ProcessesIn(known.Data()); len(working) > 0 {
		return fmt.Errorf(
			"a Postgres of a deleted state folder still runs on %s: stop it with `kill -INT %d` and repeat",
			known.Data(),
			slices.Min(working),
		)
	}
	if err := os.RemoveAll(known.Data()); err != nil {
		return fmt.Errorf("removing the database of a deleted state folder: %w", err)
	}
	return nil
}

// RecoverFromKill prepares the data of a killed server for the next server. It waits for the end of the killed server's
// child processes, and removes its lock file. The lock file would block the next server as long as any process has the
// old pid, even a zombie. It returns an error if processes still use the data after 20 seconds.
func (s Server) RecoverFromKill(ctx context.Context) error {
	lock := filepath.Join(s.Data, "postmaster.pid")
	if _, err := os.Stat(lock); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := host.Poll(ctx, host.PollFast, 20*time.Second, func(context.Context) error {
		if working := process.ProcessesIn(s.Data); len(working) > 0 {
			return fmt.Errorf("another Postgres uses %s: stop it with `kill -INT %d` and repeat", s.Data, slices.Min(working))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the lock of a killed Postgres: %w", err)
	}
	return nil
}

// newPassword returns a password without characters that are special in URLs or SQL.
func newPassword() string {
	random := make([]byte, 24)
	rand.Read(random) // never fails
	return hex.EncodeToString(random)
}
