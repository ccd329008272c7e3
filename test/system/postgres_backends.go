package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// Backend is one of the processes of a Postgres server, which it has started itself.
type Backend struct {
	PID  int
	Kind string // as pg_stat_activity names it, for example client backend or checkpointer
}

// Kill ends the process without a word, as the kernel does when memory is short. The server ends all its others then, and recovers.
func (b Backend) Kill() error { return b.signal(syscall.SIGKILL) }

// Pause stops the process where it is; [Backend.Resume] lets it go on.
func (b Backend) Pause() error { return b.signal(syscall.SIGSTOP) }

// Resume ends a pause.
func (b Backend) Resume() error { return b.signal(syscall.SIGCONT) }

// signal does nothing to a process that has ended.
func (b Backend) signal(signal syscall.Signal) error {
	if err := syscall.Kill(b.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("sending %s to the %s of Postgres: %w", signal, b.Kind, err)
	}
	return nil
}

// Backends are the processes of the server that know of it, in the order of their numbers, without the one that this question is asked of.
func (p *Postgres) Backends(ctx context.Context) ([]Backend, error) {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return nil, fmt.Errorf("asking for the processes of Postgres: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	return backends(ctx, conn)
}

func backends(ctx context.Context, conn *pgx.Conn) ([]Backend, error) {
	rows, err := conn.Query(ctx, "select pid, coalesce(backend_type, '') from pg_stat_activity where pid <> pg_backend_pid() order by pid")
	if err != nil {
		return nil, fmt.Errorf("asking for the processes of Postgres: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Backend])
}

// Freeze stops the whole server where it is, as a machine that is moved or swaps does: connections stay open, new ones are made by the
// kernel, and nobody answers. The function that it returns ends that.
func (p *Postgres) Freeze(ctx context.Context) (resume func() error, err error) {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return nil, fmt.Errorf("freezing Postgres: %w", err)
	}
	// First the one that starts the others, so that these are all.
	stopped := []Backend{{p.process.PID(), "postmaster"}}
	resume = func() error {
		var errs []error
		for _, b := range stopped {
			errs = append(errs, b.Resume())
		}
		_ = conn.Close(context.WithoutCancel(ctx))
		return errors.Join(errs...)
	}
	if err := p.process.Pause(); err != nil {
		return nil, errors.Join(err, resume())
	}
	all, err := backends(ctx, conn)
	if err != nil {
		return nil, errors.Join(err, resume())
	}
	for _, b := range append(all, Backend{int(conn.PgConn().PID()), "client backend"}) {
		if err := b.Pause(); err != nil {
			return nil, errors.Join(err, resume())
		}
		stopped = append(stopped, b)
	}
	return resume, nil
}

// SaveLog copies what the server wrote into a file.
func (p *Postgres) SaveLog(file string) error { return copyFile(p.process.log, file) }

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
