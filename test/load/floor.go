package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cauri-dev/cauri/test/system"
)

// floor is what Cauri is measured against, on a database of its own of the same Postgres.
type floor struct {
	bench    *bench
	database string
	sql      *pgxpool.Pool
}

// openFloor makes the floor's database.
func (b *bench) openFloor(ctx context.Context) (err error) {
	f := &floor{bench: b}
	if f.database, err = b.Postgres.NewDatabase(ctx); err != nil {
		return err
	}
	if f.sql, err = pgxpool.New(ctx, b.Postgres.URL(f.database)); err != nil {
		return err
	}
	b.floor = f
	_, err = f.run(ctx, "schema")
	return err
}

func (f *floor) close() {
	if f != nil {
		f.sql.Close()
	}
}

// done is what a part of the floor tells of itself.
type done struct {
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"`
}

// run runs a part of the floor to its end.
func (f *floor) run(ctx context.Context, part string, args ...string) (did done, err error) {
	command := exec.CommandContext(ctx, f.bench.programs.floor, append([]string{part}, args...)...)
	command.Env = append(os.Environ(), "DATABASE_URL="+f.bench.Postgres.URL(f.database))
	output, err := command.Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return done{}, fmt.Errorf("the floor's part %s: %w", part, err)
	}
	if len(output) > 0 {
		err = json.Unmarshal(output, &did)
	}
	return did, err
}

// serve starts a part of the floor that serves, and returns its address.
func (f *floor) serve(ctx context.Context, part string) (address string, err error) {
	port, err := f.bench.Port("floor " + part)
	if err != nil {
		return "", err
	}
	address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if _, err := f.bench.StartProgram("floor-"+part, f.bench.programs.floor, f.database, part, "-listen="+address); err != nil {
		return "", err
	}
	return address, system.Until(ctx, 10*time.Second, "the floor listens", func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
}

// booked counts what the floor has booked.
func (f *floor) booked(ctx context.Context) (n int64, err error) {
	err = f.sql.QueryRow(ctx, "select count(*) from payments").Scan(&n)
	return n, err
}

// books is a side that lets a part of the floor book for a round, and counts what is there afterwards.
func (f *floor) books(part string, args ...string) side {
	return side{"the floor", func(ctx context.Context) (measured, error) {
		before, err := f.booked(ctx)
		if err != nil {
			return measured{}, err
		}
		did, err := f.run(ctx, part, append(args, "-length="+f.bench.settings.Length.String())...)
		if err != nil {
			return measured{}, err
		}
		after, err := f.booked(ctx)
		if err == nil && after-before != did.Count {
			f.bench.problem("the floor's part %s says that it booked %d payments, and booked %d", part, did.Count, after-before)
		}
		return measured{rate: float64(after-before) / did.Seconds}, err
	}}
}
