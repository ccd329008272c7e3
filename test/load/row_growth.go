package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cauri-dev/cauri/test/load/generator"
	"github.com/cauri-dev/cauri/test/load/growth"
	"github.com/cauri-dev/cauri/test/system"
)

// smallest is where growth begins: it goes on by factors of ten.
const smallest = 10_000

// drawnLists are those of [growth.Lists] that are measured at every size and drawn, one of each filter; the others are at the largest size.
var drawnLists = []string{
	"unfiltered", "order_ref, three rows", "status TIMEOUT, 1 of 100 rows", "type refund, 1 of 25 rows", "country RW, 8 of 10 rows",
	"operator mtn, 6 of 10 rows",
}

// grown measures lists in databases of 10,000 transactions, ten times as many, and so on up to -transactions, and creates in each
// beside an empty one.
func grown(ctx context.Context, b *bench) error {
	largest := int64(b.settings.size(b.settings.Transactions))
	for total := min(smallest, largest); total <= largest; total *= 10 {
		if err := b.beside(ctx, func(g *bench) error { return g.grownTo(ctx, total, total*10 > largest) }); err != nil {
			return fmt.Errorf("%d transactions: %w", total, err)
		}
	}
	return nil
}

// beside calls f with a further installation on the same Postgres, audits it, and takes over what was found with it.
func (b *bench) beside(ctx context.Context, f func(*bench) error) (err error) {
	installed, err := system.Open(ctx, b.Postgres, b.programs.cauri)
	if err != nil {
		return err
	}
	other := &bench{System: installed, settings: b.settings, programs: b.programs, progress: b.progress}
	defer func() {
		other.floor.close()
		err = errors.Join(err, installed.Close())
	}()
	if err := f(other); err != nil {
		return fmt.Errorf("%w\n%s", err, other.Logs(10))
	}
	if err := other.audit(ctx); err != nil {
		return err
	}
	b.report.Figures = append(b.report.Figures, other.report.Figures...)
	b.report.Problems = append(b.report.Problems, other.report.Problems...)
	return nil
}

// grownTo fills the database and measures it. Its targets are those of the largest.
func (b *bench) grownTo(ctx context.Context, total int64, isLargest bool) error {
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
		{"growth-large", fmt.Sprintf("one that has %s", number(float64(size.Large))), 1, 1, 100},
		{"growth-others", fmt.Sprintf("%d others", size.Sandboxes-1), 2, size.Sandboxes, 25},
	} {
		if err := b.pages(ctx, of, total, api, isLargest); err != nil {
			return err
		}
	}
	return b.beside(ctx, func(empty *bench) error { return b.grownCreates(ctx, empty, total, api, isLargest) })
}

// group is the large sandbox, or all others.
type group struct {
	chart    string
	name     string
	from, to int64
	limit    float64 // of a page's p99, in milliseconds
}

// pages measures the lists of a group of sandboxes. The table has the slowest of them, which all are held to.
func (b *bench) pages(ctx context.Context, of group, total int64, api *system.API, isLargest bool) error {
	prefix := fmt.Sprintf("%s transactions, lists of %s, ", number(float64(total)), of.name)
	var slowest sample
	for _, l := range growth.Lists {
		isDrawn := slices.Contains(drawnLists, l.Name)
		if !isLargest && !isDrawn {
			continue
		}
		p99, err := b.page(ctx, l, of, api)
		if err != nil {
			return err
		}
		if p99.Median >= slowest.Median {
			slowest = p99
		}
		f := b.add(figure{Name: prefix + l.Name + ", p99", Unit: "ms", Value: p99})
		if isDrawn {
			f.in(of.chart, l.Name, float64(total))
		}
	}
	if isLargest {
		b.add(figure{Name: fmt.Sprintf("%sslowest of %d, p99", prefix, len(growth.Lists)), Unit: "ms", Value: slowest}).atMost(of.limit)
	}
	return nil
}

// page measures one list, of each sandbox of a group in turns.
func (b *bench) page(ctx context.Context, l growth.List, of group, api *system.API) (p99 sample, err error) {
	var heads []string
	for n := of.from; n <= min(of.to, of.from+1000); n++ {
		heads = append(heads, generator.Head("GET", "/v1"+l.Path, growth.Key(n)))
	}
	results, err := b.inTurns(ctx, b.open(reads(l.Name, heads, addressesOf(api)), 50))
	if err != nil {
		return sample{}, err
	}
	return results[0].p99s(), nil
}

// grownCreates measures creates in the large database and in an empty one on the same server, in turns.
func (b *bench) grownCreates(ctx context.Context, empty *bench, total int64, api *system.API, hasTarget bool) error {
	emptyAPI, err := empty.StartAPI(ctx, "api-empty")
	if err != nil {
		return err
	}
	var sides []side
	for _, s := range []struct {
		of   *bench
		name string
		api  *system.API
	}{{b, "in the large database", api}, {empty, "in the empty one", emptyAPI}} {
		sandboxes, err := s.of.addSandboxes(ctx, b.settings.size(100), nobody)
		if err != nil {
			return err
		}
		if err := known(ctx, sandboxes, s.api); err != nil {
			return err
		}
		creates := s.of.writes("/v1/payments", 201, sandboxes, []string{system.Unregistered}, "success", s.api)
		creates.name = s.name
		creates.booked = func(ctx context.Context) (int64, error) { // along the key: the others stay as they are
			return s.of.Count(ctx, "select count(*) from transactions where tenant >= $1", sandboxes[0].Tenant)
		}
		sides = append(sides, s.of.closed(creates, 8))
	}
	results, err := b.inTurns(ctx, sides...)
	if err != nil {
		return err
	}
	f := b.against(fmt.Sprintf("created beside %s transactions, 8 connections; floor: an empty database", number(float64(total))), "/s", results[0].rates(), results[1].rates()).
		in("growth-creates", "beside so many", float64(total))
	if hasTarget {
		f.atLeast(0.85)
	}
	return nil
}

// manySandboxes measures creates of 1 sandbox, of 10, and so on up to 10,000, beside the floor with as many merchants.
func manySandboxes(ctx context.Context, b *bench) error {
	const most = 10_000
	for count := 1; count <= b.settings.size(most); count *= 10 {
		err := b.beside(ctx, func(g *bench) error {
			ours, theirs, err := g.creates(ctx, count, "success")
			if err != nil {
				return err
			}
			results, err := g.inTurns(ctx, g.closed(ours, 32), g.closed(theirs, 32))
			if err != nil {
				return err
			}
			name := "of " + number(float64(count)) + ", 32 connections"
			g.against(name, "/s", results[0].rates(), results[1].rates()).shown().in("sandboxes", "payments", float64(count))
			g.against(name+", p99 while as many as possible come", "ms", results[0].p99s(), results[1].p99s())
			return nil
		})
		if err != nil {
			return fmt.Errorf("%d sandboxes: %w", count, err)
		}
	}
	return nil
}
