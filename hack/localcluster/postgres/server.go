// Package postgres finds or installs Postgres, runs databases on it, and makes the users of a database.
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
)

// Server is one Postgres: where its data are, who runs it, and the password of its superuser.
type Server struct {
	Programs Programs
	Account  Account
	Data     string // folder
	Password string
	Port     int
	// unsafe makes it forget the disk: faster, and the data are lost with the machine's power.
	unsafe bool
}

const superuser = "postgres"

// Initialise makes the data folder. It appears under its name only when it is complete.
func (s Server) Initialise(ctx context.Context) error {
	partial := s.Data + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("removing what an interrupted attempt left: %w", err)
	}
	if err := s.Account.makeFolder(partial); err != nil {
		return err
	}
	// A file, since another user may not open our standard input.
	password := s.Data + ".password"
	defer os.Remove(password)
	if err := errors.Join(host.WriteFile(password, []byte(s.Password+"\n")), s.Account.own(password)); err != nil {
		return err
	}
	args := []string{
		"--pgdata=" + partial, "--username=" + superuser, "--pwfile=" + password,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C",
	}
	if s.unsafe {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, s.Programs.program("initdb"), args...)
	cmd.Env = process.ChildEnvironment(nil)
	cmd.Dir = partial
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.Account.credential}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("making a Postgres database in %s: %w\n%s", partial, err, host.EndOf(output.String(), 15))
	}
	if err := os.Rename(partial, s.Data); err != nil {
		return fmt.Errorf("making a Postgres database: %w", err)
	}
	return nil
}

// args are those of the program postgres. Everything is said here and nothing in the data folder, so that a change of
// this program reaches databases that exist.
func (s Server) args() []string {
	settings := []string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(s.Port),
		"unix_socket_directories=", // one way in
		"max_connections=200",      // three roles, a test suite and a curious person
		"shared_buffers=128MB",
		"log_line_prefix=%m [%p] %u@%d ",
	}
	if s.unsafe {
		settings = append(
			settings,
			"fsync=off",
			"synchronous_commit=off",
			"full_page_writes=off",
			"max_connections=500",
		) // several packages of tests
	}
	args := []string{"-D", s.Data}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// URL is the address of a database for one of the roles.
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

// Component describes the running server.
func (s Server) Component() process.Component {
	return process.Component{
		Name:       process.PostgresName,
		Program:    s.Programs.program("postgres"),
		Args:       s.args(),
		Dir:        s.Data,
		Address:    host.Loopback(s.Port),
		Credential: s.Account.credential,
		StopSignal: syscall.SIGINT, // "fast": open connections are ended instead of being waited for
		StopWithin: 30 * time.Second,
		Ready: func(ctx context.Context) error {
			return pingDatabase(ctx, s.AdminURL())
		},
		ReadyWithin: 2 * time.Minute, // recovery after a crash takes its time
		Hint:        process.PurgeHint,
	}
}

// DataMajor returns the version that data were made by; 0 if there are none.
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

// State is what a set remembers of its Postgres.
type State struct {
	// Home is the folder that a purge removes. It is not always within the state folder.
	Home              string `json:"home"`
	SuperuserPassword string `json:"superuserPassword"`
	OwnerPassword     string `json:"ownerPassword"` // of the role that Cauri connects as
}

func (p State) Data() string { return filepath.Join(p.Home, "data") }

// ReadState reads what is remembered; its zero value if there is nothing.
func ReadState(d process.StateDir) (State, error) {
	content, err := os.ReadFile(d.File("postgres.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, fmt.Errorf("reading what is known of Postgres: %w", err)
	}
	var known State
	if err := json.Unmarshal(content, &known); err != nil {
		return State{}, fmt.Errorf("reading %s: %w", d.File("postgres.json"), err)
	}
	return known, nil
}

// EnsureState draws the passwords, once.
func EnsureState(d process.StateDir) (State, error) {
	known, err := ReadState(d)
	if err != nil || known.Home != "" {
		return known, err
	}
	known = State{Home: Home(d), SuperuserPassword: newPassword(), OwnerPassword: newPassword()}
	// Nobody knows the passwords of data that are there already: their state folder was removed by hand.
	if err := removeOrphan(known); err != nil {
		return State{}, err
	}
	content, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return State{}, fmt.Errorf("remembering Postgres: %w", err)
	}
	return known, host.WriteFile(d.File("postgres.json"), append(content, '\n'))
}

// removeOrphan removes data without an owner, unless a server still works on them.
func removeOrphan(known State) error {
	if working := process.ProcessesIn(known.Data()); len(working) > 0 {
		return fmt.Errorf(
			"a Postgres of a state folder that was removed still runs on %s: stop it with `kill -INT %d` and repeat",
			known.Data(),
			slices.Min(working),
		)
	}
	if err := os.RemoveAll(known.Data()); err != nil {
		return fmt.Errorf("removing the database of a state folder that is gone: %w", err)
	}
	return nil
}

// RecoverFromKill prepares the data of a server that was killed for the next one. Its connections may still be ending,
// and as long as its pid means any process (a zombie that nobody collects too) its lock file stops the next server.
// Postgres cannot know better; that nothing works in the data folder shows that the lock is void.
func (s Server) RecoverFromKill(ctx context.Context) error {
	lock := filepath.Join(s.Data, "postmaster.pid")
	if _, err := os.Stat(lock); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := host.Poll(ctx, host.PollFast, 20*time.Second, func(context.Context) error {
		if working := process.ProcessesIn(s.Data); len(working) > 0 {
			return fmt.Errorf("another Postgres works on %s: stop it with `kill -INT %d` and repeat", s.Data, slices.Min(working))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the lock of a Postgres that was killed: %w", err)
	}
	return nil
}

// newPassword has no characters that a URL or SQL treats in a special way.
func newPassword() string {
	random := make([]byte, 24)
	rand.Read(random) // never fails
	return hex.EncodeToString(random)
}
