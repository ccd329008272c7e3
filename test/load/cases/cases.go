// Package cases has the measurements of the benchmark, one file each.
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

// Case is one measurement. It fills one or more related lines of the table of performance targets.
type Case struct {
	Name     string
	Tells    string
	run      func(context.Context, *bench.Bench) error
	postgres []string // Postgres settings of the case, in addition to [durable]
	smoke    bool     // part of the smoke run, at a tenth of the size
}

// caseLimit is the timeout of a case. The case growth takes more than 20 minutes with 10,000,000 transactions.
const caseLimit = 45 * time.Minute

// All are the cases in the order of their measurement.
var All = []Case{
	{
		Name:  "create",
		Tells: "POST /v1/payments, forced success, 100 sandboxes; baseline: one function call for each request, 100 merchants",
		run:   create,
		smoke: true,
	},
	{Name: "hot", Tells: "POST /v1/payments, forced success, one hot sandbox; baseline: the same, one merchant", run: hot, smoke: true},
	{
		Name:  "pending",
		Tells: "POST /v1/payments, payers with a SIM, PENDING, 100 sandboxes; baseline: as in create",
		run:   pending,
		smoke: true,
	},
	{
		Name:  "requesttopay",
		Tells: "requesttopay of MTN's own API, payers with a SIM, PENDING, 100 sandboxes; baseline: POST /v1/payments of the same",
		run:   requestToPay,
		smoke: true,
	},
	{
		Name:  "settle",
		Tells: "settlement of one hot merchant, two workers; baseline: two clients that book 50 payments in each commit",
		run:   settle,
		smoke: true,
	},
	{
		Name:  "settle10k",
		Tells: "10,000 payments of one merchant that are due at the same moment; two workers settle them and deliver their events",
		run:   settle10k,
	},
	{
		Name:  "payout",
		Tells: "POST /v1/disbursements from one hot float; baseline: eight clients that call a database function",
		run:   payout,
		smoke: true,
	},
	{Name: "get", Tells: "GET /v1/payments/{id}; baseline: a minimal handler with one look-up", run: get, smoke: true},
	{Name: "list", Tells: "GET /v1/payments, first page of 20, of one sandbox", run: list, smoke: true},
	{
		Name:  "deliver",
		Tells: "webhooks to one endpoint, one worker; baseline: a minimal loop that takes 64 events, posts and marks them",
		run:   deliver,
		smoke: true,
	},
	{Name: "deliver500", Tells: "500 events a second for a minute; two workers deliver them", run: deliver500},
	{Name: "pay500", Tells: "500 payments a second for a minute through the api; two workers deliver their events", run: pay500},
	{
		Name:  "stream",
		Tells: "500 payments a second for a minute in 10 sandboxes, each with a stream that tells them",
		run:   streamed,
		smoke: true,
	},
	{Name: "fair", Tells: "a sandbox next to one with 100,000 queued events, one with a hanging endpoint, and 50 with dead endpoints", run: fair},
	{
		Name:  "clock",
		Tells: "POST /v1/clock/advance by 3 h with all retries of an event, and by 24 h of 1,000 payments, and by 1 h beside slow sandboxes; baseline: the same posts made directly",
		run:   clock,
		smoke: true,
	},
	{
		Name:  "slowclients",
		Tells: "POST /v1/payments with 1,000 connections of slow clients without a key; baseline: the same without them",
		run:   slowClients,
		smoke: true,
	},
	{
		Name: "attacked",
		Tells: "POST /v1/payments of a sandbox during attacks by strangers, a guest and a payer, each 100 connections and 1,500 requests a second; " +
			"baseline: before and after",
		run: attacked,
	},
	{
		Name:     "auth",
		Tells:    "database statements for each key check, and how long a revoked key still works",
		run:      auth,
		postgres: bench.Statements,
		smoke:    true,
	},
	{Name: "memory", Tells: "memory of api and worker at the highest load", run: memory, smoke: true},
	{Name: "start", Tells: "time of an api from exec to its first answer", run: start, smoke: true},
	{Name: "pgbouncer", Tells: "creates through PgBouncer in transaction mode; baseline: an api with a direct connection to Postgres", run: pooled},
	{
		Name:  "growth",
		Tells: "lists in databases of 10,000 to -transactions transactions, and creates; baseline of creates: an empty database",
		run:   grown,
	},
	{
		Name: "console",
		Tells: "pages of the console of a sandbox with -transactions transactions, and creates beside ten open consoles; " +
			"baseline of creates: no console",
		run: console,
	},
	{Name: "sandboxes", Tells: "POST /v1/payments of 1 to 10,000 sandboxes; baseline: the same number of merchants", run: manySandboxes},
	{Name: "replicas", Tells: "two apis and two workers on one database; baseline: one of each", run: replicas},
	{
		Name:  "controller",
		Tells: "-sandboxes sandboxes with two test clients each: creation, restart of the controller, idle time",
		run:   controller,
	},
	{
		Name: "whole",
		Tells: "POST /v1/payments, forced success, with all processes of `make up`, 100 sandboxes, on a new, an emptied and an analyzed database; " +
			"baseline: as in create",
		run:      whole,
		postgres: untuned,
	},
	{
		Name: "starts",
		Tells: "ten starts of all processes of `make up` on a new database, each with a minute of 8 and then of 32 connections, 100 sandboxes: " +
			"processor time of Postgres for a payment, second by second",
		run: starts,
	},
	{
		Name:  "status",
		Tells: "as many payments as possible in 100 sandboxes made through Kubernetes: writes of the status, their age, and a quiet sandbox beside them",
		run:   status,
	},
	{Name: "generator", Tells: "the load generator itself, with a server that does nothing", run: ceiling, smoke: true},
	{
		Name:  "idle",
		Tells: "processor time of 1,000 sandboxes with two test clients each and no traffic, by process and by what it asks of Postgres",
		run:   idle,
		smoke: true,
	},
	{
		Name:  "expectations",
		Tells: "processor time of 1,000 open Expectations of 100 sandboxes without traffic, beside the same sandboxes without them",
		run:   expectations,
	},
	{
		Name:  "heavy",
		Tells: "until an Expectation is Met, beside 60 heavy ones of a sandbox with 12,000 transactions; baseline: alone",
		run:   heavy,
	},
	{
		Name:  "pins",
		Tells: "50 payments a second of a sandbox, while another one sends PINs to Airtel's own API over 20 connections; baseline: before and after",
		run:   pins,
	},
	{
		Name: "switches",
		Tells: "50 payments a second of a sandbox among 10,000, while another one sets and removes faults as fast as it may; " +
			"baseline: before and after",
		run: switches,
	},
}

// Select returns the cases whose whole name matches a regular expression. An empty expression matches all.
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
		return nil, fmt.Errorf("-run=%s: no case matches; -list shows all cases", pattern)
	}
	return selected, nil
}

// measure runs a case on its own Postgres and audits the result.
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
