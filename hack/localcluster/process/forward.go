package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// ExitStatus is the exit code of a command that was run for the user and that has said itself what was wrong.
type ExitStatus int

func (s ExitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// RunForwarding runs a command in the place of this program: with its terminal, its signals and its exit code.
func RunForwarding(args, env []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), env...)
	return Forward(cmd, func(received os.Signal) { cmd.Process.Signal(received) }) // an error means that it has just ended
}

// Forward runs a command with the terminal and the exit code of this program, and passes signals on.
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

// statusOf turns the end of a command into our own: its code, or as shells say it, 128 and the signal that ended it.
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
