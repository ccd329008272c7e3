package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// ExitStatus is the exit code of a user's command that has already reported its error.
type ExitStatus int

func (s ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// RunForwarding runs a command with this program's terminal and signals, and returns its exit code as an error.
func RunForwarding(args, env []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	return Forward(cmd, func(received os.Signal) { cmd.Process.Signal(received) }) // an error means that the command has just ended
}

// Forward runs a command with this program's terminal and passes signals to it.
func Forward(cmd *exec.Cmd, pass func(os.Signal)) error {
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

// statusOf converts the end of a command to an exit code as shells do: its code, or 128 plus the signal.
func statusOf(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return ExitStatus(128 + int(status.Signal()))
	}
	return ExitStatus(exit.ExitCode())
}
