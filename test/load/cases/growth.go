package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/growth"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
)

// smallest is the first size. The following sizes grow by factors of ten.
const smallest = 10_000

// drawnLists are the [growth.Lists] to measure at every size and to draw, one for each filter. The others are measured
// only at the largest size.
var drawnLists = []string{
	"unfiltered", "order_ref, three rows", "status TIMEOUT, 1 of 100 rows", "type refund, 1 of 25 rows", "country RW, 8 of 10 rows",
	"operator mtn, 6 of 10 rows",
}

// grown measures lists in databases of 10,000 transactions, ten times as many, and so on up to -transactions. It also
// measures creates in each, compared with an empty database.
func grown(ctx context.Context, b *bench.Bench) error {
	largest := int64(b.Settings.Size(b.Settings.Transactions))
	for total := min(smallest, largest); total <= largest; total *= 10 {
		if err := beside(ctx, b, func(g *bench.Bench) error { return grownTo(ctx, g, total, total*10 > largest) }); err != nil {
			return fmt.Errorf("%d transactions: %w", total, err)
		}
	}
	return nil
}

// beside calls f with a second installation on the same Postgres, audits it, and merges the problems.
func beside(ctx context.Context, b *bench.Bench, f func(*bench.Bench) error) (err error) {
	installed, err := system.Open(ctx, b.Postgres, b.Programs.Cauri)
	if err != nil {
		return err
	}
	other := &bench.Bench{System: installed, Settings: b.Settings, Programs: b.Programs, Progress: b.Progress}
	defer func() {
		other.Baseline.Close()
		err = errors.Join(err, installed.Close())
	}()
	if err := f(other); err != nil {
		return fmt.Errorf("%w\n%s", err, other.Logs(10))
	}
	if err := other.Audit(ctx); err != nil {
		return err
	}
	b.Report.Figures = append(b.Report.Figures, other.Report.Figures...)
	b.Report.Problems = append(b.Report.Problems, other.Report.Problems...)
	return nil
}

// grownTo fills the database and measures it. Only the largest size has targets.
func grownTo(ctx context.Context, b *bench.Bench, total int64, isLargest bool) error {
	size := growth.Size{Transactions: total, Sandboxes: max(2, total/10_000), Large: total / 10}
	conn, err := b.SQL.Acquire(ctx)
	if err != nil {
		return err
	}
	_, err = growth.Fill(ctx, conn.Conn(), size, func(string) {})
	conn.Release()
	if err != nil {
		return err
	}
	api, err := b.StartAPI(ctx, "api")
	if err != nil {
		return err
	}
	for _, of := range []group{
		{"growth-large", fmt.Sprintf("one that has %s", report.Number(float64(size.Large))), 1, 1, 100},
		{"growth-others", fmt.Sprintf("%d others", size.Sandboxes-1), 2, size.Sandboxes, 25},
	} {
		if err := pages(ctx, b, of, total, api, isLargest); err != nil {
			return err
		}
	}
	return beside(ctx, b, func(empty *bench.Bench) error { return grownCreates(ctx, b, empty, total, api, isLargest) })
}

// group is the large sandbox, or all others.
type group struct {
	chart    string
	name     string
	from, to int64
	limit    float64 // p99 of each page, in milliseconds
}

// pages measures the lists of a group of sandboxes. The table shows the slowest list, which has the target.
func pages(ctx context.Context, b *bench.Bench, of group, total int64, api *system.API, isLargest bool) error {
	prefix := fmt.Sprintf("%s transactions, lists of %s, ", report.Number(float64(total)), of.name)
	var slowest report.Sample
	for _, l := range growth.Lists {
		isDrawn := slices.Contains(drawnLists, l.Name)
		if !isLargest && !isDrawn {
			continue
		}
		p99, err := page(ctx, b, l, of, api)
		if err != nil {
			return err
		}
		if p99.Median >= slowest.Median {
			slowest = p99
		}
		f := b.Add(report.Figure{Name: prefix + l.Name + ", p99", Unit: "ms", Value: p99})
		if isDrawn {
			f.In(of.chart, l.Name, float64(total))
		}
	}
	if isLargest {
		b.Add(report.Figure{Name: fmt.Sprintf("%sslowest of %d, p99", prefix, len(growth.Lists)), Unit: "ms", Value: slowest}).
			WantAtMost(of.limit)
	}
	return nil
}

// page measures one list for each sandbox of a group in turns.
func page(ctx context.Context, b *bench.Bench, l growth.List, of group, api *system.API) (p99 report.Sample, err error) {
	heads, err := growth.Heads(ctx, bench.AddressesOf(api)[0], l, of.from, min(of.to, of.from+1000))
	if err != nil {
		return p99, err
	}
	results, err := b.InTurns(ctx, b.Open(reads(l.Name, heads, bench.AddressesOf(api)), 50))
	if err != nil {
		return report.Sample{}, err
	}
	return results[0].P99s(), nil
}

// grownCreates measures creates in the large database and in an empty one on the same server, in turns.
func grownCreates(ctx context.Context, b *bench.Bench, empty *bench.Bench, total int64, api *system.API, hasTarget bool) error {
	emptyAPI, err := empty.StartAPI(ctx, "api-empty")
	if err != nil {
		return err
	}
	var sides []bench.Side
	for _, s := range []struct {
		of   *bench.Bench
		name string
		api  *system.API
	}{{b, "in the large database", api}, {empty, "in the empty one", emptyAPI}} {
		sandboxes, err := s.of.AddSandboxes(ctx, b.Settings.Size(100), bench.Nobody)
		if err != nil {
			return err
		}
		if err := bench.Known(ctx, sandboxes, s.api); err != nil {
			return err
		}
		creates := s.of.Writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", s.api)
		creates.Name = s.name
		creates.Booked = func(ctx context.Context) (int64, error) { // use the primary key: other tenants do not change
			return s.of.Count(ctx, "select count(*) from transactions where tenant >= $1", sandboxes[0].Tenant)
		}
		sides = append(sides, s.of.Closed(creates, 8))
	}
	results, err := b.InTurns(ctx, sides...)
	if err != nil {
		return err
	}
	f := b.Against(fmt.Sprintf("created beside %s transactions, 8 connections; baseline: an empty database", report.Number(float64(total))), "/s", results[0].Rates(), results[1].Rates()).
		In("growth-creates", "beside so many", float64(total))
	if hasTarget {
		f.WantAtLeast(0.85)
	}
	return nil
}

// manySandboxes measures creates in 1, 10, and so on up to 10,000 sandboxes. The baseline has the same number of
// merchants.
func manySandboxes(ctx context.Context, b *bench.Bench) error {
	const most = 10_000
	for count := 1; count <= b.Settings.Size(most); count *= 10 {
		err := beside(ctx, b, func(g *bench.Bench) error {
			ours, theirs, err := creates(ctx, g, count, "success")
			if err != nil {
				return err
			}
			results, err := g.InTurns(ctx, g.Closed(ours, 32), g.Closed(theirs, 32))
			if err != nil {
				return err
			}
			name := "of " + report.Number(float64(count)) + ", 32 connections"
			g.Against(name, "/s", results[0].Rates(), results[1].Rates()).Show().In("sandboxes", "payments", float64(count))
			g.Against(name+", p99 while as many as possible come", "ms", results[0].P99s(), results[1].P99s())
			return nil
		})
		if err != nil {
			return fmt.Errorf("%d sandboxes: %w", count, err)
		}
	}
	return nil
}
