// Package bench is what cases measure with: an installation of the real programs, what they are compared with, load in turns, and an audit
// at the end.
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

// durable are the settings of the Postgres that is measured, beside those that make it keep what it commits: room enough that it does not
// write checkpoints in the middle of a round.
var durable = []string{"shared_buffers=1GB", "max_wal_size=8GB", "checkpoint_timeout=15min", "autovacuum_naptime=10s"}

// Statements lets Postgres count its statements, where that is wanted: it costs a little.
var Statements = []string{
	"shared_preload_libraries=pg_stat_statements",
	"pg_stat_statements.max=1000",
	"pg_stat_statements.track=all",
	"pg_stat_statements.track_planning=on",
}

// Programs are the built ones.
type Programs struct{ Cauri, baseline string }

// BuildPrograms builds what is measured into a folder. A program cauri that is there is taken as it is.
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

// Bench is an installation that is measured.
type Bench struct {
	*system.System
	report.Report
	Settings report.Settings
	Programs Programs
	Progress io.Writer

	targets  int       // made so far: each has references of its own
	Baseline *baseline // nil where there is none
}

// Open starts an installation on a Postgres of its own, so that no case finds what another one left. Its second result ends it.
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

// Audit checks everything that was booked, by Cauri and by the baseline.
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

// AddressesOf is where apis listen.
func AddressesOf(apis ...*system.API) (addresses []string) {
	for _, api := range apis {
		addresses = append(addresses, strings.TrimPrefix(api.URL, "http://"))
	}
	return addresses
}

// Memory adds the most that each process had resident.
func (b *Bench) Memory(processes ...*system.Process) {
	for _, p := range processes {
		if peak, err := p.PeakMemory(); err == nil { // not every system tells
			b.Target(p.Name+": peak memory", float64(peak>>20), "MiB", 150)
		}
	}
}

// Series makes a name that no other has.
func (b *Bench) Series(of string) string {
	b.targets++
	return of + strconv.Itoa(b.targets)
}

// InParallel calls f for 0 to n-1, so many at one time, and returns the first error.
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
