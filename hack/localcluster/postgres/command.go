package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

const TestDatabaseVariable = "CAURI_TEST_DATABASE_URL"

func NewCommand() *cobra.Command {
	var noFsync bool
	var version int
	cmd := &cobra.Command{
		Use:   "postgres -- COMMAND [ARGUMENTS]",
		Short: "Run a command with a temporary Postgres",
		Long: `postgres starts a Postgres that exists only while a command runs, for tests. The command finds the address (superuser,
database postgres) in ` + TestDatabaseVariable + `, and localcluster returns its exit code. If the variable is already set,
the command uses that database, and localcluster starts nothing.`,
		Example: "  localcluster postgres -- go test ./...",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if os.Getenv(TestDatabaseVariable) != "" {
				return process.RunForwarding(args, nil)
			}
			return withThrowawayPostgres(cmd.Context(), version, noFsync, func(url string) error {
				return process.RunForwarding(args, []string{TestDatabaseVariable + "=" + url})
			})
		},
	}
	cmd.Flags().IntVar(&version, "version", 0,
		fmt.Sprintf("major version, %d to %d, which is downloaded if the machine does not have it; 0: the newest of the machine",
			localpostgres.Oldest, localpostgres.Newest))
	cmd.Flags().
		BoolVar(&noFsync, "no-fsync", false, "keep the data in memory, or do not wait for the disk: faster, but not for measurements")
	return cmd
}

// withThrowawayPostgres calls use with the address of a temporary Postgres and removes it afterwards.
func withThrowawayPostgres(ctx context.Context, version int, noFsync bool, use func(url string) error) (err error) {
	s, folder, err := newThrowaway(ctx, version, noFsync)
	if folder != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	}
	if err != nil {
		return err
	}
	if err := s.Initialise(ctx); err != nil {
		return err
	}
	running, exited, err := startThrowaway(s, filepath.Join(folder, "log"))
	if err != nil {
		return err
	}
	defer func() {
		running.Signal(syscall.SIGINT) // it may have ended by itself
		<-exited
	}()
	c := s.Component()
	err = host.Poll(ctx, host.PollFast, c.ReadyWithin, func(ctx context.Context) error {
		select {
		case <-exited:
			return host.Hopeless(errors.New("ended right after its start"))
		default:
			return c.Ready(ctx)
		}
	})
	if err != nil {
		return process.Failure{Name: process.PostgresName, Log: filepath.Join(folder, "log"), Err: err}
	}
	return use(s.AdminURL())
}

// programsOf returns the programs of a major version; 0 means the newest of the machine.
func programsOf(ctx context.Context, version int) (localpostgres.Programs, error) {
	if version == 0 {
		return Require(ctx, os.Stderr, 0)
	}
	found, err := sourceOf(os.Stderr).Programs(ctx, version)
	if err == nil && found.Major != version {
		err = fmt.Errorf("%s has Postgres %d, not %d", localpostgres.Variable, found.Major, version)
	}
	return found, err
}

func newThrowaway(ctx context.Context, version int, noFsync bool) (s Server, folder string, err error) {
	programs, err := programsOf(ctx, version)
	if err != nil {
		return Server{}, "", err
	}
	as, err := FindAccount() // after the installation, which may have created the user
	if err != nil {
		return Server{}, "", err
	}
	port, err := host.FreePort(nil)
	if err != nil {
		return Server{}, "", fmt.Errorf("choosing a port for Postgres: %w", err)
	}
	parent := as.temporaryFolder()
	if noFsync {
		parent = as.fastFolder()
	}
	folder, err = os.MkdirTemp(parent, "cauri-postgres-")
	if err != nil {
		return Server{}, "", fmt.Errorf("creating a folder for Postgres: %w", err)
	}
	// The account gets access only through the folder, not to it: root also writes files there, and must not follow
	// links of the account.
	if as.credential != nil {
		err = os.Chmod(folder, 0o711)
	}
	return Server{
		Programs: programs, Account: as, Data: filepath.Join(folder, "data"), Password: newPassword(), Port: port, unsafe: noFsync,
	}, folder, err
}

// startThrowaway starts a Postgres that ends with this program, even if the program is killed.
func startThrowaway(s Server, logFile string) (running *os.Process, exited <-chan struct{}, err error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the log of Postgres: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(filepath.Join(s.Programs.Folder, "postgres"), s.args()...)
	cmd.Env = process.ChildEnvironment(nil)
	cmd.Dir = s.Data
	cmd.Stdout, cmd.Stderr = log, log
	// Postgres has a new session, so that Ctrl-C ends the command first.
	cmd.SysProcAttr = process.DieWithParent(&syscall.SysProcAttr{Setsid: true, Credential: s.Account.credential})
	// The parent death signal depends on the thread that starts Postgres, so this thread must run until the program
	// ends.
	runtime.LockOSThread()
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("starting Postgres: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		cmd.Wait()
		close(ended)
	}()
	return cmd.Process, ended, nil
}
