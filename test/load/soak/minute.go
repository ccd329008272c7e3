package soak

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// minute has the measurements of one minute of a soak.
type minute struct {
	Seconds     float64 `json:"seconds"` // from the start to the end of the minute
	Rate        float64 `json:"rate"`    // accepted per second
	P50         float64 `json:"p50"`     // milliseconds
	P99         float64 `json:"p99"`
	APIMemory   float64 `json:"apiMemory"` // MiB
	Worker      float64 `json:"workerMemory"`
	Connections int64   `json:"connections"` // to the database, of all processes
	OldestDue   float64 `json:"oldestDue"`   // longest time in the minute that anything had been due, in seconds
	Rows        int64   `json:"rows"`        // transactions
	Dead        float64 `json:"dead"`        // ratio of dead to live rows of transactions and events
	TableBytes  float64 `json:"tableBytes"`  // of all tables, per transaction
	IndexBytes  float64 `json:"indexBytes"`  // of all indexes, per transaction
	Balances    int64   `json:"balances"`    // bytes of the tables of floats and SIMs, whose number of rows is constant
}

const minuteHead = "seconds     /s   p50 ms   p99 ms  api MiB  worker MiB  connections  oldest due s       rows   dead  table B/row  index B/row  balances KiB"

// String is a line of the table of minutes.
func (m minute) String() string {
	return fmt.Sprintf(
		"%7.0f  %5.0f  %7.2f  %7.2f  %7.0f  %10.0f  %11d  %12.2f  %9d  %5.2f  %11.0f  %11.0f  %12d",
		m.Seconds,
		m.Rate,
		m.P50,
		m.P99,
		m.APIMemory,
		m.Worker,
		m.Connections,
		m.OldestDue,
		m.Rows,
		m.Dead,
		m.TableBytes,
		m.IndexBytes,
		m.Balances>>10,
	)
}

// count adds up the generators' results of the minute and returns the number of accepted requests.
func (m *minute) count(results []generator.Result) (accepted int64) {
	var times generator.Histogram
	for _, r := range results {
		accepted += r.Accepted
		m.Rate += r.Rate()
		times.Merge(&r.Latency)
	}
	m.P50, m.P99 = report.Milliseconds(times.Percentile(50)), report.Milliseconds(times.Percentile(99))
	return accepted
}

// watch reads the queues every second for a duration. Its result waits for the end and returns the longest time that
// anything had been due.
func watch(ctx context.Context, l *bench.Assembly, length time.Duration) (oldest func() (float64, error)) {
	type seen struct {
		oldest float64
		err    error
	}
	done := make(chan seen, 1)
	go func() {
		var s seen
		for end := time.Now().Add(length); s.err == nil && time.Now().Before(end); system.Rest(ctx, time.Second) {
			var now float64
			s.err = l.Bench.SQL.QueryRow(ctx, `select extract(epoch from greatest(
				now() - (select min(due_at) from events where due_at is not null),
				now() - (select min(due_at) from transactions where due_at is not null),
				interval '0'))::float8`).Scan(&now)
			s.oldest = max(s.oldest, now)
		}
		done <- s
	}()
	return func() (float64, error) {
		s := <-done
		return s.oldest, s.err
	}
}

// endOfMinute measures the processes and the database.
func endOfMinute(ctx context.Context, l *bench.Assembly, oldest float64) (m minute, err error) {
	m.OldestDue = oldest
	for _, p := range []struct {
		process *system.Process
		memory  *float64
	}{{l.Apis[0].Process, &m.APIMemory}, {l.Workers[0].Process, &m.Worker}} {
		bytes, err := p.process.Memory()
		if err != nil {
			return m, err
		}
		*p.memory = float64(bytes) / (1 << 20)
	}
	err = l.Bench.SQL.QueryRow(ctx, `with size as (
			select sum(pg_table_size(relid)) as tables, sum(pg_indexes_size(relid)) as indexes,
				sum(n_dead_tup) filter (where relname in ('transactions', 'events')) as dead,
				sum(n_live_tup) filter (where relname in ('transactions', 'events')) as live,
				sum(pg_table_size(relid)) filter (where relname in ('floats', 'sims')) as balances
			from pg_stat_user_tables
		), made as (select count(*) as rows from transactions)
		select (select count(*) from pg_stat_activity where datname = current_database() and usename like 'test_%'), rows,
			coalesce(dead::float8 / nullif(live, 0), 0), (tables / greatest(rows, 1))::float8,
			(indexes / greatest(rows, 1))::float8, balances::bigint
		from size, made`).Scan(&m.Connections, &m.Rows, &m.Dead, &m.TableBytes, &m.IndexBytes, &m.Balances)
	return m, err
}

// judge adds the figures with limits.
func judge(b *bench.Bench, minutes []minute) {
	if len(minutes) == 0 {
		b.Problem("no minute was measured")
		return
	}
	// After the first quarter, tables and indexes have a steady shape.
	early, last := minutes[len(minutes)/4], minutes[len(minutes)-1]
	var most minute
	for _, m := range minutes {
		most.APIMemory, most.Worker = max(most.APIMemory, m.APIMemory), max(most.Worker, m.Worker)
		most.Connections, most.OldestDue = max(most.Connections, m.Connections), max(most.OldestDue, m.OldestDue)
		most.P99, most.Dead = max(most.P99, m.P99), max(most.Dead, m.Dead)
	}
	b.Figure("p99 of the worst minute", most.P99, "ms")
	b.Target("api: memory", most.APIMemory, "MiB", 150)
	b.Target("worker: memory", most.Worker, "MiB", 150)
	b.Target(
		"connections to the database",
		float64(most.Connections),
		"",
		float64(2*4*runtime.GOMAXPROCS(0)+2),
	) // two pools, and the controller's pool
	b.Target("what waited longest had been due", most.OldestDue, "s", 5)
	b.Target("dead rows of transactions and events, to live ones", most.Dead, "", 0.5)
	b.Target("bytes of tables a transaction, to those of the first quarter", last.TableBytes/early.TableBytes, "", 1.2)
	b.Target("bytes of indexes a transaction, to those of the first quarter", last.IndexBytes/early.IndexBytes, "", 1.2)
	b.Target("size of the balances' tables, to that of the first quarter", float64(last.Balances)/float64(early.Balances), "", 2)
}
