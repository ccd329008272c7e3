package main

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
	"time"

	"github.com/cauri-dev/cauri/test/system"
)

// durable are the settings of the Postgres that is measured, beside those that make it keep what it commits: room enough that it does not
// write checkpoints in the middle of a round.
var durable = []string{"shared_buffers=1GB", "max_wal_size=8GB", "checkpoint_timeout=15min", "autovacuum_naptime=10s"}

// statements lets Postgres count its statements, where that is wanted: it costs a little.
var statements = []string{
	"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.max=1000", "pg_stat_statements.track=all", "pg_stat_statements.track_planning=on",
}

// settings are how a run measures.
type settings struct {
	Rounds       int      `json:"rounds"`
	Length       duration `json:"length"`       // of a round of one side
	Sandboxes    int      `json:"sandboxes"`    // of the row controller
	Transactions int      `json:"transactions"` // of the row growth
	Small        bool     `json:"small"`        // a tenth of everything: to see that it works, not for figures
}

// duration is a time that JSON has as 5s.
type duration time.Duration

func (d duration) String() string               { return time.Duration(d).String() }
func (d duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }
func (d *duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)
	return err
}

// size is a number of things, a tenth of it where little is measured.
func (s settings) size(n int) int {
	if s.Small {
		return max(1, n/10)
	}
	return n
}

// programs are the built ones.
type programs struct{ cauri, floor string }

// buildPrograms builds what is measured into a folder. A program cauri that is there is taken as it is.
func buildPrograms(ctx context.Context, folder, cauri string) (p programs, err error) {
	p.cauri = cauri
	if cauri == "" {
		p.cauri, err = system.Build(ctx, folder)
	} else {
		p.cauri, err = filepath.Abs(cauri)
	}
	if err != nil {
		return p, err
	}
	p.floor, err = system.BuildProgram(ctx, folder, "./test/load/floor")
	return p, err
}

// bench is an installation that is measured.
type bench struct {
	*system.System
	settings settings
	programs programs
	progress io.Writer
	report   report

	targets int    // made so far: each has references of its own
	floor   *floor // nil where there is none
}

// openBench starts an installation on a Postgres of its own, so that no row finds what another one left. Its second result ends it.
func openBench(ctx context.Context, p programs, s settings, progress io.Writer, postgresSettings ...string) (*bench, func() error, error) {
	postgres, err := system.StartPostgres(ctx, append(durable, postgresSettings...)...)
	if err != nil {
		return nil, nil, err
	}
	installed, err := system.Open(ctx, postgres, p.cauri)
	if err != nil {
		return nil, nil, errors.Join(err, postgres.Close())
	}
	b := &bench{System: installed, settings: s, programs: p, progress: progress}
	return b, func() error {
		b.floor.close()
		return errors.Join(installed.Close(), postgres.Close())
	}, nil
}

// audit checks everything that was booked, by Cauri and by the floor.
func (b *bench) audit(ctx context.Context) error {
	problems, err := b.Audit(ctx)
	if err != nil {
		return err
	}
	b.report.Problems = append(b.report.Problems, problems...)
	if b.floor == nil {
		return nil
	}
	if _, err := b.floor.run(ctx, "audit"); err != nil {
		b.problem("%v", err)
	}
	return nil
}

// apis starts apis.
func (b *bench) apis(ctx context.Context, count int, flags ...string) ([]*system.API, error) {
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

// workers starts workers.
func (b *bench) workers(ctx context.Context, count int, flags ...string) ([]*system.Worker, error) {
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

// addressesOf is where apis listen.
func addressesOf(apis ...*system.API) (addresses []string) {
	for _, api := range apis {
		addresses = append(addresses, strings.TrimPrefix(api.URL, "http://"))
	}
	return addresses
}

// memory adds the most that each process had resident.
func (b *bench) memory(processes ...*system.Process) {
	for _, p := range processes {
		if peak, err := p.PeakMemory(); err == nil { // not every system tells
			b.target(p.Name+": peak memory", float64(peak>>20), "MiB", 150)
		}
	}
}

// series makes a name that no other has.
func (b *bench) series(of string) string {
	b.targets++
	return of + strconv.Itoa(b.targets)
}

// inParallel calls f for 0 to n-1, so many at one time, and returns the first error.
func inParallel(ctx context.Context, n, atOnce int, f func(ctx context.Context, i int) error) error {
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
