package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"
)

const testDatabaseVariable = "CAURI_TEST_DATABASE_URL"

func newPostgresCommand() *cobra.Command {
	var noFsync bool
	cmd := &cobra.Command{
		Use:   "postgres -- COMMAND [ARGUMENTS]",
		Short: "Run a command beside a throw-away Postgres",
		Long: `postgres starts a Postgres that exists only while a command runs, for its tests. The command finds the address (superuser,
database postgres) in ` + testDatabaseVariable + `, and its exit code is that of localcluster. Where the variable is set already,
the command runs with that and nothing is started.`,
		Example: "  localcluster postgres -- go test ./...",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if os.Getenv(testDatabaseVariable) != "" {
				return runForwarding(args, nil)
			}
			return withThrowawayPostgres(cmd.Context(), noFsync, func(url string) error {
				return runForwarding(args, []string{testDatabaseVariable + "=" + url})
			})
		},
	}
	cmd.Flags().BoolVar(&noFsync, "no-fsync", false, "keep the data in memory, or do not wait for the disk: faster, and says nothing about real speed")
	return cmd
}

// withThrowawayPostgres calls use with the address of a Postgres that is gone afterwards.
func withThrowawayPostgres(ctx context.Context, noFsync bool, use func(url string) error) (err error) {
	s, folder, err := newThrowaway(ctx, noFsync)
	if folder != "" {
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	}
	if err != nil {
		return err
	}
	if err := s.initialise(ctx); err != nil {
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
	c := s.component()
	err = poll(ctx, pollFast, c.readyWithin, func(ctx context.Context) error {
		select {
		case <-exited:
			return hopeless{errors.New("ended right after its start")}
		default:
			return c.ready(ctx)
		}
	})
	if err != nil {
		return failure{name: postgresName, log: filepath.Join(folder, "log"), err: err}
	}
	return use(s.adminURL())
}

func newThrowaway(ctx context.Context, noFsync bool) (s server, folder string, err error) {
	programs, err := requirePostgres(ctx, os.Stderr, 0)
	if err != nil {
		return server{}, "", err
	}
	as, err := postgresAccount() // asked now: an installation may have made it
	if err != nil {
		return server{}, "", err
	}
	port, err := freePort(nil)
	if err != nil {
		return server{}, "", fmt.Errorf("choosing a port for Postgres: %w", err)
	}
	parent := as.temporaryFolder()
	if noFsync {
		parent = as.fastFolder()
	}
	folder, err = os.MkdirTemp(parent, "cauri-postgres-")
	if err != nil {
		return server{}, "", fmt.Errorf("making a folder for Postgres: %w", err)
	}
	return server{
		programs: programs, account: as, data: filepath.Join(folder, "data"), password: newPassword(), port: port, unsafe: noFsync,
	}, folder, as.own(folder)
}

// startThrowaway starts a Postgres that does not outlive this program, not even if that is killed.
func startThrowaway(s server, logFile string) (running *os.Process, exited <-chan struct{}, err error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the log of Postgres: %w", err)
	}
	defer log.Close()
	cmd := exec.Command(s.programs.program("postgres"), s.args()...)
	cmd.Env = childEnvironment(nil)
	cmd.Dir = s.data
	cmd.Stdout, cmd.Stderr = log, log
	// Not in the terminal's session: at Ctrl-C the command ends first.
	cmd.SysProcAttr = dieWithParent(&syscall.SysProcAttr{Setsid: true, Credential: s.account.credential})
	// "Parent" means the thread that starts it. This one is kept until the end of the program.
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

// runForwarding runs a command in the place of this program: with its terminal, its signals and its exit code.
func runForwarding(args, env []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	return forwarding(cmd, func(received os.Signal) { cmd.Process.Signal(received) }) // an error means that it has just ended
}

// forwarding runs a command with the terminal and the exit code of this program, and passes signals on.
func forwarding(cmd *exec.Cmd, pass func(os.Signal)) error {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("running %s: %w", cmd.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case received := <-signals:
			pass(received)
		case err := <-ended:
			return statusOf(err)
		}
	}
}

// statusOf turns the end of a command into our own: its code, or as shells say it, 128 and the signal that ended it.
func statusOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitStatus(128 + int(status.Signal()))
	}
	return exitStatus(exit.ExitCode())
}
