package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/jackc/pgx/v5"
)

// Backend is a child process of a Postgres server.
type Backend struct {
	PID  int
	Kind string // as in pg_stat_activity, for example client backend or checkpointer
	User string // of a client backend
}

// Kill kills the process without warning, as the kernel does when memory is short. The server then ends all other
// backends and recovers.
func (b Backend) Kill() error { return b.signal(syscall.SIGKILL) }

// Pause stops the process until [Backend.Resume].
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

// Backends are the processes that the server lists, in the order of their pids, without the one that answers this
// query.
func (p *Postgres) Backends(ctx context.Context) ([]Backend, error) {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return nil, fmt.Errorf("listing the processes of Postgres: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	return backends(ctx, conn)
}

func backends(ctx context.Context, conn *pgx.Conn) ([]Backend, error) {
	rows, err := conn.Query(ctx, `select pid, coalesce(backend_type, ''), coalesce(usename, '') from pg_stat_activity
		where pid <> pg_backend_pid() order by pid`)
	if err != nil {
		return nil, fmt.Errorf("listing the processes of Postgres: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Backend])
}

// Freeze stops the whole server, like a machine that is migrated or swaps: connections stay open, the kernel accepts
// new ones, and nobody answers. The returned function ends the freeze.
func (p *Postgres) Freeze(ctx context.Context) (resume func() error, err error) {
	conn, err := pgx.Connect(ctx, p.URL("postgres"))
	if err != nil {
		return nil, fmt.Errorf("freezing Postgres: %w", err)
	}
	// Stop the postmaster first, so that the list is complete.
	stopped := []Backend{{PID: p.process.PID(), Kind: "postmaster"}}
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
	for _, b := range append(all, Backend{PID: int(conn.PgConn().PID()), Kind: "client backend"}) {
		if err := b.Pause(); err != nil {
			return nil, errors.Join(err, resume())
		}
		stopped = append(stopped, b)
	}
	return resume, nil
}

// SaveLog copies the server's log into a file.
func (p *Postgres) SaveLog(file string) error { return copyFile(p.process.log, file) }

func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
