package soak

import (
	"slices"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/generator"
)

// steady is a soak of n minutes in which only the rows grow.
func steady(count int) (minutes []minute) {
	for n := range count {
		minutes = append(minutes, minute{
			Seconds: float64(60 * n), APIMemory: 60, Worker: 70, Connections: 17, OldestDue: 0.4, Rows: int64(60_000 * n), Dead: 0.1,
			TableBytes: 2000, IndexBytes: 500, Balances: 100 << 10,
		})
	}
	return minutes
}

func TestASoakFindsWhatGrows(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(n int, m *minute)
		want   []string // figures that miss their target
	}{
		"nothing":              {func(int, *minute) {}, nil},
		"the api's memory":     {func(n int, m *minute) { m.APIMemory += 10 * float64(n) }, []string{"api: memory"}},
		"a peak in the middle": {func(n int, m *minute) { m.Worker += float64(n % 10 * 20) }, []string{"worker: memory"}},
		"a queue":              {func(n int, m *minute) { m.OldestDue += float64(n) }, []string{"what waited longest had been due"}},
		"connections":          {func(n int, m *minute) { m.Connections += int64(n * 1000) }, []string{"connections to the database"}},
		"dead rows": {
			func(n int, m *minute) { m.Dead += float64(n) / 10 },
			[]string{"dead rows of transactions and events, to live ones"},
		},
		"tables and indexes": {func(n int, m *minute) { m.TableBytes += float64(100 * n); m.IndexBytes += float64(50 * n) }, []string{
			"bytes of tables a transaction, to those of the first quarter", "bytes of indexes a transaction, to those of the first quarter"}},
		"balances": {
			func(n int, m *minute) { m.Balances *= int64(n + 1) },
			[]string{"size of the balances' tables, to that of the first quarter"},
		},
		"tables that took their shape in the first minutes": {func(n int, m *minute) { m.TableBytes += float64(1000 * min(n, 4)) }, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			minutes := steady(20)
			for n := range minutes {
				c.change(n, &minutes[n])
			}
			b := &bench.Bench{}
			judge(b, minutes)
			var broken []string
			for _, f := range b.Report.Figures {
				if !f.Holds() {
					broken = append(broken, f.Name)
				}
			}
			if !slices.Equal(broken, c.want) {
				t.Errorf("what does not hold is %q, want %q", broken, c.want)
			}
		})
	}
}

func TestASoakOfNoMinuteIsAProblem(t *testing.T) {
	t.Parallel()
	b := &bench.Bench{}
	if judge(b, nil); len(b.Report.Problems) == 0 {
		t.Error("nothing was measured, and nothing was said")
	}
}

func TestAMinuteAddsUpItsLoads(t *testing.T) {
	t.Parallel()
	var fast, slow generator.Result
	fast.Accepted, fast.Took = 300, time.Minute
	slow.Accepted, slow.Took = 100, time.Minute
	for range 300 {
		fast.Latency.Add(time.Millisecond)
	}
	for range 100 {
		slow.Latency.Add(time.Second)
	}
	var m minute
	if accepted := m.count([]generator.Result{fast, slow}); accepted != 400 {
		t.Errorf("%d requests were accepted, want 400", accepted)
	}
	if m.Rate < 6.6 || m.Rate > 6.7 || m.P50 < 1 || m.P50 > 1.1 || m.P99 < 1000 || m.P99 > 1010 {
		t.Errorf("%.2f/s, p50 %.2f ms, p99 %.2f ms; want 6.67, 1 and 1000", m.Rate, m.P50, m.P99)
	}
}
