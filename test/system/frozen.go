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

// Pause stops all processes of the server where they are, as a machine that hangs does: its kernel goes on accepting connections and
// acknowledging packets, and nobody answers. [Postgres.Resume] lets them go on. Linux only.
func (p *Postgres) Pause() error {
	if err := p.process.Pause(); err != nil { // the first one first, so that no other is started meanwhile
		return err
	}
	return p.signalBackends(syscall.SIGSTOP)
}

// Running reports whether the server has not ended.
func (p *Postgres) Running() bool { return p.process.Running() }

// Resume ends a pause of the whole server.
func (p *Postgres) Resume() error {
	return errors.Join(p.signalBackends(syscall.SIGCONT), p.process.Resume())
}

// signalBackends sends a signal to all processes that the first one has started.
func (p *Postgres) signalBackends(signal syscall.Signal) error {
	first := strconv.Itoa(p.process.PID())
	list, err := os.ReadFile(filepath.Join("/proc", first, "task", first, "children"))
	if err != nil {
		return fmt.Errorf("looking for the processes of Postgres: %w", err)
	}
	for _, text := range strings.Fields(string(list)) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("looking for the processes of Postgres: %w", err)
		}
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("sending %s to a process of Postgres: %w", signal, err)
		}
	}
	return nil
}

// DatabaseURL is the address of the database for a kind of process: api, worker or controller.
func (s *System) DatabaseURL(process string) string { return s.urlFor(userIn(process)) }
