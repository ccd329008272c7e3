package system

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Pause stops all processes of the server, like a machine that hangs: its kernel still accepts connections and
// acknowledges packets, and nobody answers. [Postgres.Resume] ends the pause. Linux only.
func (p *Postgres) Pause() error {
	if err := p.process.Pause(); err != nil { // the postmaster first, so that it starts no other process
		return err
	}
	return p.signalBackends(syscall.SIGSTOP)
}

// Running reports whether the server is running.
func (p *Postgres) Running() bool { return p.process.Running() }

// Resume ends a pause of the whole server.
func (p *Postgres) Resume() error {
	return errors.Join(p.signalBackends(syscall.SIGCONT), p.process.Resume())
}

// signalBackends sends a signal to all child processes of the postmaster.
func (p *Postgres) signalBackends(signal syscall.Signal) error {
	first := strconv.Itoa(p.process.PID())
	list, err := os.ReadFile(filepath.Join("/proc", first, "task", first, "children"))
	if err != nil {
		return fmt.Errorf("listing the processes of Postgres: %w", err)
	}
	for _, text := range strings.Fields(string(list)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("listing the processes of Postgres: %w", err)
		}
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("sending %s to a process of Postgres: %w", signal, err)
		}
	}
	return nil
}

// DatabaseURL is the address of the database for a kind of process: api, worker or controller.
func (s *System) DatabaseURL(process string) string { return s.urlFor(userIn(process)) }
