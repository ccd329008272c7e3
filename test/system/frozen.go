package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
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

// PauseBackend stops the one process of the server that has served a user of Cauri's longest in this database, and returns what lets
// it go on.
func (s *System) PauseBackend(ctx context.Context, process string) (resume func() error, err error) {
	var pid int
	err = s.SQL.QueryRow(ctx, `select pid from pg_stat_activity where datname = current_database() and usename = $1
		order by state = 'active' desc, backend_start limit 1`, userIn(process)).Scan(&pid)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("the %s has no connection", process)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for a connection of the %s: %w", process, err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return nil, fmt.Errorf("stopping a connection of the %s: %w", process, err)
	}
	return func() error { return syscall.Kill(pid, syscall.SIGCONT) }, nil
}

// DatabaseURL is the address of the database for a kind of process: api, worker or controller.
func (s *System) DatabaseURL(process string) string { return s.urlFor(userIn(process)) }
