package bench

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

	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// baseline is the baseline with its own database on the same Postgres.
type baseline struct {
	bench    *Bench
	database string
	SQL      *pgxpool.Pool
}

// OpenBaseline creates the database of the baseline.
func (b *Bench) OpenBaseline(ctx context.Context) (err error) {
	f := &baseline{bench: b}
	if f.database, err = b.Postgres.NewDatabase(ctx); err != nil {
		return err
	}
	if f.SQL, err = pgxpool.New(ctx, b.Postgres.URL(f.database)); err != nil {
		return err
	}
	b.Baseline = f
	_, err = f.Run(ctx, "schema")
	return err
}

func (f *baseline) Close() {
	if f != nil {
		f.SQL.Close()
	}
}

// done is the result that a part of the baseline prints.
type done struct {
	Count   int64   `json:"count"`
	Seconds float64 `json:"seconds"`
}

// Run runs a part of the baseline until it ends.
func (f *baseline) Run(ctx context.Context, part string, args ...string) (did done, err error) {
	command := exec.CommandContext(ctx, f.bench.Programs.baseline, append([]string{part}, args...)...)
	command.Env = append(os.Environ(), "DATABASE_URL="+f.bench.Postgres.URL(f.database))
	output, err := command.Output()
	if err != nil {
		if exit, ok := err.(*exec.ExitError); ok {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		return done{}, fmt.Errorf("the baseline's part %s: %w", part, err)
	}
	if len(output) > 0 {
		err = json.Unmarshal(output, &did)
	}
	return did, err
}

// Serve starts a serving part of the baseline and returns its address.
func (f *baseline) Serve(ctx context.Context, part string) (address string, err error) {
	port, err := f.bench.Port("baseline " + part)
	if err != nil {
		return "", err
	}
	address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if _, err := f.bench.StartProgram("baseline-"+part, f.bench.Programs.baseline, f.database, part, "-listen="+address); err != nil {
		return "", err
	}
	return address, system.Until(ctx, time.Minute, "the baseline listens", func(ctx context.Context) error {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
}

// booked counts the payments that the baseline has booked.
func (f *baseline) booked(ctx context.Context) (n int64, err error) {
	err = f.SQL.QueryRow(ctx, "select count(*) from payments").Scan(&n)
	return n, err
}

// Books is a side that runs a booking part of the baseline for a round and counts the result in the database.
func (f *baseline) Books(part string, args ...string) Side {
	return Side{"the baseline", func(ctx context.Context) (report.Measured, error) {
		before, err := f.booked(ctx)
		if err != nil {
			return report.Measured{}, err
		}
		did, err := f.Run(ctx, part, append(args, "-length="+f.bench.Settings.Length.String())...)
		if err != nil {
			return report.Measured{}, err
		}
		after, err := f.booked(ctx)
		if err == nil && after-before != did.Count {
			f.bench.Problem("the baseline's part %s reported %d booked payments, but booked %d", part, did.Count, after-before)
		}
		return report.Measured{Rate: float64(after-before) / did.Seconds}, err
	}}
}
