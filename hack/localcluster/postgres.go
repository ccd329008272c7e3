package main

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
)

// server is one Postgres: where its data are, who runs it, and the password of its superuser.
type server struct {
	programs postgresPrograms
	account  account
	data     string // folder
	password string
	port     int
	// unsafe makes it forget the disk: faster, and the data are lost with the machine's power.
	unsafe bool
}

const superuser = "postgres"

// initialise makes the data folder. It appears under its name only when it is complete.
func (s server) initialise(ctx context.Context) error {
	partial := s.data + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return fmt.Errorf("removing what an interrupted attempt left: %w", err)
	}
	if err := s.account.makeFolder(partial); err != nil {
		return err
	}
	// A file, since another user may not open our standard input.
	password := s.data + ".password"
	defer os.Remove(password)
	if err := errors.Join(writeFile(password, []byte(s.password+"\n")), s.account.own(password)); err != nil {
		return err
	}
	args := []string{
		"--pgdata=" + partial, "--username=" + superuser, "--pwfile=" + password,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C",
	}
	if s.unsafe {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, s.programs.program("initdb"), args...)
	cmd.Env = childEnvironment(nil)
	cmd.Dir = partial
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.account.credential}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("making a Postgres database in %s: %w\n%s", partial, err, endOf(output.String(), 15))
	}
	if err := os.Rename(partial, s.data); err != nil {
		return fmt.Errorf("making a Postgres database: %w", err)
	}
	return nil
}

// args are those of the program postgres. Everything is said here and nothing in the data folder, so that a change of
// this program reaches databases that exist.
func (s server) args() []string {
	settings := []string{
		"listen_addresses=127.0.0.1",
		"port=" + strconv.Itoa(s.port),
		"unix_socket_directories=", // one way in
		"max_connections=200",      // three roles, a test suite and a curious person
		"shared_buffers=128MB",
		"log_line_prefix=%m [%p] %u@%d ",
	}
	if s.unsafe {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=500") // several packages of tests
	}
	args := []string{"-D", s.data}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// url is the address of a database for one of the roles.
func (s server) url(role, password, database string) string {
	address := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(role, password),
		Host:     loopback(s.port),
		Path:     database,
		RawQuery: "sslmode=disable",
	}
	return address.String()
}

func (s server) adminURL() string { return s.url(superuser, s.password, "postgres") }

// component describes the running server.
func (s server) component() component {
	return component{
		name:       postgresName,
		program:    s.programs.program("postgres"),
		args:       s.args(),
		dir:        s.data,
		address:    loopback(s.port),
		credential: s.account.credential,
		stopSignal: syscall.SIGINT, // "fast": open connections are ended instead of being waited for
		stopWithin: 30 * time.Second,
		ready: func(ctx context.Context) error {
			return pingDatabase(ctx, s.adminURL())
		},
		readyWithin: 2 * time.Minute, // recovery after a crash takes its time
		hint:        purgeHint,
	}
}

// dataMajor returns the version that data were made by; 0 if there are none.
func dataMajor(data string) (int, error) {
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

// postgresState is what a set remembers of its Postgres.
type postgresState struct {
	// Home is the folder that a purge removes. It is not always within the state folder.
	Home              string `json:"home"`
	SuperuserPassword string `json:"superuserPassword"`
	OwnerPassword     string `json:"ownerPassword"` // of the role that Cauri connects as
}

func (p postgresState) data() string { return filepath.Join(p.Home, "data") }

// postgresState reads what is remembered; its zero value if there is nothing.
func (d stateDir) postgresState() (postgresState, error) {
	content, err := os.ReadFile(d.file("postgres.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return postgresState{}, nil
	}
	if err != nil {
		return postgresState{}, fmt.Errorf("reading what is known of Postgres: %w", err)
	}
	var known postgresState
	if err := json.Unmarshal(content, &known); err != nil {
		return postgresState{}, fmt.Errorf("reading %s: %w", d.file("postgres.json"), err)
	}
	return known, nil
}

// ensurePostgresState draws the passwords, once.
func (d stateDir) ensurePostgresState() (postgresState, error) {
	known, err := d.postgresState()
	if err != nil || known.Home != "" {
		return known, err
	}
	known = postgresState{Home: d.postgresHome(), SuperuserPassword: newPassword(), OwnerPassword: newPassword()}
	// Nobody knows the passwords of data that are there already: their state folder was removed by hand.
	if err := removeOrphan(known); err != nil {
		return postgresState{}, err
	}
	content, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return postgresState{}, fmt.Errorf("remembering Postgres: %w", err)
	}
	return known, writeFile(d.file("postgres.json"), append(content, '\n'))
}

// removeOrphan removes data without an owner, unless a server still works on them.
func removeOrphan(known postgresState) error {
	if working := processesIn(known.data()); len(working) > 0 {
		return fmt.Errorf("a Postgres of a state folder that was removed still runs on %s: stop it with `kill -INT %d` and repeat", known.data(), slices.Min(working))
	}
	if err := os.RemoveAll(known.data()); err != nil {
		return fmt.Errorf("removing the database of a state folder that is gone: %w", err)
	}
	return nil
}

// recoverFromKill prepares the data of a server that was killed for the next one. Its connections may still be ending,
// and as long as its pid means any process (a zombie that nobody collects too) its lock file stops the next server.
// Postgres cannot know better; that nothing works in the data folder shows that the lock is void.
func (s server) recoverFromKill(ctx context.Context) error {
	lock := filepath.Join(s.data, "postmaster.pid")
	if _, err := os.Stat(lock); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := poll(ctx, pollFast, 20*time.Second, func(context.Context) error {
		if working := processesIn(s.data); len(working) > 0 {
			return fmt.Errorf("another Postgres works on %s: stop it with `kill -INT %d` and repeat", s.data, slices.Min(working))
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
