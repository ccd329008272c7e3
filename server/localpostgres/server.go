//go:build unix

package localpostgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	mathrand "math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// superuser is the only user of a server.
const superuser = "postgres"

// startTimeout bounds the start of a server, with its recovery after a crash.
const startTimeout = time.Minute

// Server is a running Postgres. It listens on a free port of the loopback interface.
type Server struct {
	home     string // folder
	account  account
	port     int
	password string
	process  *os.Process
	ended    chan struct{} // closed when the process ended
}

// Options are the settings of a [Server].
type Options struct {
	Home *Home
	// Programs finds the server programs for data of a major version, 0 for new data.
	Programs func(ctx context.Context, major int) (Programs, error)
}

// Start starts the server of a home. It creates the data if there are none. It first stops the server of a program that
// was killed. The data of a temporary home do not survive a crash of the machine.
func Start(ctx context.Context, o Options) (*Server, error) {
	s := &Server{home: folderIn(o.Home.Path), ended: make(chan struct{})}
	var err error
	if s.account, err = findAccount(); err != nil {
		return nil, err
	}
	if err := s.makeHome(); err != nil {
		return nil, err
	}
	major, err := dataMajor(s.data())
	if err != nil {
		return nil, err
	}
	programs, err := o.Programs(ctx, major)
	if err != nil {
		if major != 0 {
			err = fmt.Errorf("the data in %s are of Postgres %d: %w", s.home, major, err)
		}
		return nil, err
	}
	if major == 0 {
		if err := s.initialize(ctx, programs); err != nil {
			return nil, err
		}
	}
	if err := s.readPassword(); err != nil {
		return nil, err
	}
	if err := s.account.endOrphan(ctx, o.Home.Path); err != nil {
		return nil, err
	}
	return s, s.start(ctx, programs, !o.Home.temporary)
}

// folderIn returns the folder of the server in a home, and dataIn the folder of its data.
func folderIn(home string) string { return filepath.Join(home, "postgres") }
func dataIn(home string) string   { return filepath.Join(folderIn(home), "data") }

func (s *Server) data() string         { return filepath.Join(s.home, "data") }
func (s *Server) passwordFile() string { return filepath.Join(s.home, "password") }
func (s *Server) logFile() string      { return filepath.Join(s.home, "log") }

func (s *Server) makeHome() error {
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		return fmt.Errorf("making the folder of Postgres: %w", err)
	}
	if err := CheckFolder(s.home, os.Geteuid()); err != nil {
		return err
	}
	parent := filepath.Dir(s.home)
	if s.account.Credential != nil { // the user of Postgres needs these folders to reach its data
		if err := errors.Join(os.Chmod(parent, 0o711), os.Chmod(s.home, 0o711)); err != nil {
			return fmt.Errorf("letting the user of Postgres into its folder: %w", err)
		}
	}
	return s.account.checkReach(parent)
}

func (s *Server) readPassword() error {
	text, err := os.ReadFile(s.passwordFile())
	if err != nil {
		return fmt.Errorf("reading the password of Postgres: %w", err)
	}
	s.password = strings.TrimSpace(string(text))
	return nil
}

// dataMajor returns the major version of data, 0 if there are none.
func dataMajor(data string) (int, error) {
	text, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the version of the data: %w", err)
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// initialize creates the data. It renames the folder when the data are complete.
func (s *Server) initialize(ctx context.Context, programs Programs) error {
	partial := s.data() + ".partial"
	if err := os.RemoveAll(partial); err != nil { // left by a start that was killed
		return fmt.Errorf("removing incomplete data: %w", err)
	}
	if err := os.Mkdir(partial, 0o700); err != nil {
		return fmt.Errorf("making the folder of the data: %w", err)
	}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // never fails
	if err := os.WriteFile(s.passwordFile(), []byte(hex.EncodeToString(secret)+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the password of Postgres: %w", err)
	}
	if err := s.account.own(partial, s.passwordFile()); err != nil {
		return err
	}
	initdb := exec.CommandContext(ctx, filepath.Join(programs.Folder, "initdb"), "--pgdata="+partial, "--username="+superuser,
		"--pwfile="+s.passwordFile(), "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.Env, initdb.SysProcAttr = s.home, environment(), s.account.attributes()
	if output, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("creating a database: %w\n%s", err, bytes.TrimSpace(output))
	}
	return os.Rename(partial, s.data())
}

// environment returns the environment of the programs. Variables such as PGPORT would change what they do.
func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}

// settings returns the settings of a server for one developer: little memory, no replication, few connections.
func (s *Server) settings(lasting bool) []string {
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(s.port), "unix_socket_directories=", "max_connections=60",
		"shared_buffers=32MB", "wal_level=minimal", "max_wal_senders=0", "jit=off", "huge_pages=off", "log_line_prefix=%m [%p] ",
	}
	if !lasting {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off")
	}
	return settings
}

func (s *Server) start(ctx context.Context, programs Programs, lasting bool) (err error) {
	if s.port, err = freePort(ctx); err != nil {
		return err
	}
	args := []string{"-D", s.data()}
	for _, setting := range s.settings(lasting) {
		args = append(args, "-c", setting)
	}
	command := exec.Command(filepath.Join(programs.Folder, "postgres"), args...)
	command.Dir, command.Env, command.SysProcAttr = s.data(), environment(), s.account.attributes()
	log, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log of Postgres: %w", err)
	}
	defer func() { _ = log.Close() }()
	command.Stdout, command.Stderr = log, log
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the server ends with the thread that started it
		err := command.Start()
		started <- err
		if err == nil {
			_ = command.Wait()
		}
		close(s.ended)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting Postgres: %w", err)
	}
	s.process = command.Process
	if err := s.awaitReady(ctx); err != nil {
		_ = s.Stop(0)
		return err
	}
	return nil
}

func (s *Server) awaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, s.URL())
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-s.ended:
			return fmt.Errorf("the Postgres that was started has ended at once:\n%s", s.lastLines())
		case <-ctx.Done():
			return fmt.Errorf("the Postgres that was started does not answer: %w\n%s", err, s.lastLines())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// lastLines returns the end of the server's log.
func (s *Server) lastLines() string {
	const most = 2000 // bytes
	text, _ := os.ReadFile(s.logFile())
	return strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

// freePort returns a port of the loopback interface that no socket is bound to, also none that does not listen yet. The
// port is below the range of outgoing connections, which could take the port before the server listens.
func freePort(ctx context.Context) (int, error) {
	config := net.ListenConfig{Control: withoutReuse}
	for range 100 {
		port := 20_000 + mathrand.IntN(10_000)
		if listener, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, listener.Close()
		}
	}
	return 0, errors.New("choosing a port for Postgres: none of 100 ports was free")
}

// withoutReuse makes a socket that conflicts with each other socket of its address.
func withoutReuse(_, _ string, socket syscall.RawConn) (err error) {
	controlErr := socket.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 0)
	})
	return errors.Join(controlErr, err)
}

// URL returns the URL of the server's database, with the password.
func (s *Server) URL() string {
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, s.password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path: "/postgres", RawQuery: "sslmode=disable",
	}
	return address.String()
}

// Ended returns a channel that is closed when the server has ended.
func (s *Server) Ended() <-chan struct{} { return s.ended }

// Stop stops the server and returns when it has ended. If a fast shutdown takes longer than the parameter within, Stop
// makes an immediate shutdown.
func (s *Server) Stop(within time.Duration) error {
	if within > 0 {
		_ = s.process.Signal(syscall.SIGINT) // it may have ended by itself
		select {
		case <-s.ended:
			return nil
		case <-time.After(within):
		}
	}
	_ = s.process.Signal(syscall.SIGQUIT) // immediate shutdown, like a crash; the next start recovers the data
	select {
	case <-s.ended:
		return nil
	case <-time.After(5 * time.Second):
		return errors.New("the Postgres that was started does not end")
	}
}
