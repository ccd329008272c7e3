// Package cases has the measurements of the bench, one file each.
package cases

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/cauri-dev/cauri/test/load/bench"
	"github.com/cauri-dev/cauri/test/load/report"
)

// Case is one measurement: a line of the table of what Cauri has to be fast at, or several that belong together.
type Case struct {
	Name     string
	Tells    string
	run      func(context.Context, *bench.Bench) error
	postgres []string // settings that the case needs beside [durable]
	smoke    bool     // part of the short run, at a tenth of the size
}

// caseLimit bounds a case in all: that of growth takes more than 20 minutes at 10,000,000 transactions.
const caseLimit = 45 * time.Minute

// All are the cases, in the order in which they are measured.
var All = []Case{
	{
		Name:  "create",
		Tells: "POST /v1/payments, forced success, 100 sandboxes; baseline: one call of a function a request, 100 merchants",
		run:   create,
		smoke: true,
	},
	{Name: "hot", Tells: "POST /v1/payments, forced success, one hot sandbox; baseline: the same, one merchant", run: hot, smoke: true},
	{
		Name:  "pending",
		Tells: "POST /v1/payments, payers of the registry, PENDING, 100 sandboxes; baseline: as of create",
		run:   pending,
		smoke: true,
	},
	{
		Name:  "settle",
		Tells: "settlement of one hot merchant, two workers; baseline: two clients that book 50 a commit",
		run:   settle,
		smoke: true,
	},
	{
		Name:  "settle10k",
		Tells: "10,000 payments of one merchant are due at one moment; two workers settle them and deliver their events",
		run:   settle10k,
	},
	{
		Name:  "payout",
		Tells: "POST /v1/disbursements from one hot float; baseline: eight clients that call a function of the database",
		run:   payout,
		smoke: true,
	},
	{Name: "get", Tells: "GET /v1/payments/{id}; baseline: a bare handler with one look-up", run: get, smoke: true},
	{Name: "list", Tells: "GET /v1/payments, first page of 20, of one sandbox", run: list, smoke: true},
	{
		Name:  "deliver",
		Tells: "webhooks to one endpoint, one worker; baseline: a bare loop that takes 64, posts each, marks them",
		run:   deliver,
		smoke: true,
	},
	{Name: "deliver500", Tells: "500 events a second fall due for a minute; two workers deliver them", run: deliver500},
	{Name: "pay500", Tells: "500 payments a second for a minute through the api; two workers deliver their events", run: pay500},
	{Name: "fair", Tells: "a sandbox beside one with 100,000 events to send, one that hangs and 50 dead ones", run: fair},
	{
		Name:  "slowclients",
		Tells: "POST /v1/payments beside 1,000 connections of slow clients without a key; baseline: the same without them",
		run:   slowClients,
		smoke: true,
	},
	{
		Name:     "auth",
		Tells:    "what a key costs the database, and how long a revoked one works",
		run:      auth,
		postgres: bench.Statements,
		smoke:    true,
	},
	{Name: "memory", Tells: "memory of api and worker while as much comes as they book and deliver", run: memory, smoke: true},
	{Name: "start", Tells: "an api from exec to its first answer", run: start, smoke: true},
	{Name: "pgbouncer", Tells: "creates through a PgBouncer in transaction mode; baseline: an api that is connected to Postgres", run: pooled},
	{
		Name:  "growth",
		Tells: "lists in databases of 10,000 transactions and more (-transactions says how many at most), and creates beside an empty one",
		run:   grown,
	},
	{Name: "sandboxes", Tells: "POST /v1/payments of 1 to 10,000 sandboxes; baseline: as many merchants", run: manySandboxes},
	{Name: "replicas", Tells: "two apis and two workers on one database; baseline: one of each", run: replicas},
	{
		Name:  "controller",
		Tells: "many sandboxes, each with two test clients: made, found by a restart, left alone (-sandboxes says how many)",
		run:   controller,
	},
	{Name: "generator", Tells: "the load generator itself, on a server that does nothing", run: ceiling, smoke: true},
}

// Select finds cases by a regular expression, which has to match the whole name; an empty one finds all.
func Select(pattern string, smoke bool) ([]Case, error) {
	expression, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var selected []Case
	for _, c := range All {
		if (pattern == "" || expression.MatchString(c.Name)) && (!smoke || c.smoke) {
			selected = append(selected, c)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("-run=%s: no case has such a name; -list shows them", pattern)
	}
	return selected, nil
}

// measure measures a case on a Postgres of its own, and audits what it left.
func (c Case) measure(ctx context.Context, run *Run) (result report.Report, err error) {
	ctx, cancel := context.WithTimeout(ctx, caseLimit)
	defer cancel()
	result = report.Report{Case: c.Name, Tells: c.Tells, Before: report.MachineNow()}
	begun := time.Now()
	b, end, err := bench.Open(ctx, run.programs, run.Settings, run.Progress, c.postgres...)
	if err != nil && len(c.postgres) > 0 {
		return result, fmt.Errorf("%w: Postgres does not start with %v: %w", report.ErrCannotMeasure, c.postgres, err)
	}
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, end()) }()
	b.Report = result
	if err := c.run(ctx, b); err != nil {
		return result, fmt.Errorf("%w\n%s", err, b.Logs(10))
	}
	if err := b.Audit(ctx); err != nil {
		return result, err
	}
	b.Report.After, b.Report.Seconds = report.MachineNow(), time.Since(begun).Seconds()
	return b.Report, nil
}
