// Package bench has the tools of the cases: an installation of the real programs, the baseline, load in turns, and an
// audit at the end.
package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// durable are the Postgres settings of the benchmark, in addition to those for durability. They avoid checkpoints in
// the middle of a round.
var durable = []string{"shared_buffers=1GB", "max_wal_size=8GB", "checkpoint_timeout=15min", "autovacuum_naptime=10s"}

// Statements turns on pg_stat_statements for the cases that need it, because it has a cost.
var Statements = []string{
	"shared_preload_libraries=pg_stat_statements",
	"pg_stat_statements.max=1000",
	"pg_stat_statements.track=all",
	"pg_stat_statements.track_planning=on",
}

// Programs are the built programs.
type Programs struct{ Cauri, baseline string }

// BuildPrograms builds the programs into a folder. It uses an existing cauri program as it is.
func BuildPrograms(ctx context.Context, folder, cauri string) (p Programs, err error) {
	p.Cauri = cauri
	if cauri == "" {
		p.Cauri, err = system.Build(ctx, folder)
	} else {
		p.Cauri, err = filepath.Abs(cauri)
	}
	if err != nil {
		return p, err
	}
	p.baseline, err = system.BuildProgram(ctx, folder, "./test/load/baseline")
	return p, err
}

// Bench is an installation to measure.
type Bench struct {
	*system.System
	report.Report
	Settings report.Settings
	Programs Programs
	Progress io.Writer

	targets  int       // number of series so far; each has its own references
	Baseline *baseline // nil if there is none
}

// Open starts an installation on its own Postgres, so that cases do not affect each other. The second result stops it.
func Open(
	ctx context.Context,
	p Programs,
	s report.Settings,
	progress io.Writer,
	postgresSettings ...string,
) (*Bench, func() error, error) {
	postgres, err := system.StartPostgres(ctx, append(durable, postgresSettings...)...)
	if err != nil {
		return nil, nil, err
	}
	installed, err := system.Open(ctx, postgres, p.Cauri)
	if err != nil {
		return nil, nil, errors.Join(err, postgres.Close())
	}
	b := &Bench{System: installed, Settings: s, Programs: p, Progress: progress}
	return b, func() error {
		b.Baseline.Close()
		return errors.Join(installed.Close(), postgres.Close())
	}, nil
}

// Audit checks everything that Cauri and the baseline booked.
func (b *Bench) Audit(ctx context.Context) error {
	problems, err := b.System.Audit(ctx)
	if err != nil {
		return err
	}
	b.Report.Problems = append(b.Report.Problems, problems...)
	if b.Baseline == nil {
		return nil
	}
	if _, err := b.Baseline.Run(ctx, "audit"); err != nil {
		b.Problem("%v", err)
	}
	return nil
}

// Apis starts apis.
func (b *Bench) Apis(ctx context.Context, count int, flags ...string) ([]*system.API, error) {
	var all []*system.API
	for n := range count {
		api, err := b.StartAPI(ctx, fmt.Sprintf("api-%d", n), flags...)
		if err != nil {
			return nil, err
		}
		all = append(all, api)
	}
	return all, nil
}

// Workers starts workers.
func (b *Bench) Workers(ctx context.Context, count int, flags ...string) ([]*system.Worker, error) {
	var all []*system.Worker
	for n := range count {
		worker, err := b.StartWorker(ctx, fmt.Sprintf("worker-%d", n), flags...)
		if err != nil {
			return nil, err
		}
		all = append(all, worker)
	}
	return all, nil
}

// AddressesOf returns the addresses of apis.
func AddressesOf(apis ...*system.API) (addresses []string) {
	for _, api := range apis {
		addresses = append(addresses, strings.TrimPrefix(api.URL, "http://"))
	}
	return addresses
}

// Memory adds the peak resident memory of each process to the report.
func (b *Bench) Memory(processes ...*system.Process) {
	for _, p := range processes {
		if peak, err := p.PeakMemory(); err == nil { // not every system reports it
			b.Target(p.Name+": peak memory", float64(peak>>20), "MiB", 150)
		}
	}
}

// Series returns a unique name.
func (b *Bench) Series(of string) string {
	b.targets++
	return of + strconv.Itoa(b.targets)
}

// InParallel calls f for 0 to n-1, with a limited number of calls at the same time. It returns the first error.
func InParallel(ctx context.Context, n, atOnce int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var group sync.WaitGroup
	for range atOnce {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
