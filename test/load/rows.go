package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// row is one measurement: a line of the table of what Cauri has to be fast at, or several that belong together.
type row struct {
	name     string
	tells    string
	run      func(context.Context, *bench) error
	postgres []string // settings that the row needs beside [durable]
	smoke    bool     // part of the short run, at a tenth of the size
}

// rowLimit bounds a row in all: that of growth takes more than 20 minutes at 10,000,000 transactions.
const rowLimit = 45 * time.Minute

var rows = []row{
	{name: "create", tells: "POST /v1/payments, forced success, 100 sandboxes; floor: one call of a function a request, 100 merchants", run: create, smoke: true},
	{name: "hot", tells: "POST /v1/payments, forced success, one hot sandbox; floor: the same, one merchant", run: hot, smoke: true},
	{name: "pending", tells: "POST /v1/payments, payers of the registry, PENDING, 100 sandboxes; floor: as of create", run: pending, smoke: true},
	{name: "settle", tells: "settlement of one hot merchant, two workers; floor: two clients that book 50 a commit", run: settle, smoke: true},
	{name: "settle10k", tells: "10,000 payments of one merchant are due at one moment; two workers settle them and deliver their events", run: settle10k},
	{name: "payout", tells: "POST /v1/disbursements from one hot float; floor: eight clients that call a function of the database", run: payout, smoke: true},
	{name: "get", tells: "GET /v1/payments/{id}; floor: a bare handler with one look-up", run: get, smoke: true},
	{name: "list", tells: "GET /v1/payments, first page of 20, of one sandbox", run: list, smoke: true},
	{name: "deliver", tells: "webhooks to one endpoint, one worker; floor: a bare loop that takes 64, posts each, marks them", run: deliver, smoke: true},
	{name: "deliver500", tells: "500 events a second fall due for a minute; two workers deliver them", run: deliver500},
	{name: "pay500", tells: "500 payments a second for a minute through the api; two workers deliver their events", run: pay500},
	{name: "fair", tells: "a sandbox beside one with 100,000 events to send, one that hangs and 50 dead ones", run: fair},
	{name: "slowclients", tells: "POST /v1/payments beside 1,000 connections of slow clients without a key; floor: the same without them", run: slowClients, smoke: true},
	{name: "auth", tells: "what a key costs the database, and how long a revoked one works", run: auth, postgres: statements, smoke: true},
	{name: "memory", tells: "memory of api and worker while as much comes as they book and deliver", run: memory, smoke: true},
	{name: "start", tells: "an api from exec to its first answer", run: start, smoke: true},
	{name: "pgbouncer", tells: "creates through a PgBouncer in transaction mode; floor: an api that is connected to Postgres", run: pooled},
	{name: "growth", tells: "lists in databases of 10,000 transactions and more (-transactions says how many at most), and creates beside an empty one", run: grown},
	{name: "sandboxes", tells: "POST /v1/payments of 1 to 10,000 sandboxes; floor: as many merchants", run: manySandboxes},
	{name: "replicas", tells: "two apis and two workers on one database; floor: one of each", run: replicas},
	{name: "controller", tells: "many sandboxes, each with two test clients: made, found by a restart, left alone (-sandboxes says how many)", run: controller},
	{name: "generator", tells: "the load generator itself, on a server that does nothing", run: ceiling, smoke: true},
}

// selectRows finds rows by a regular expression, which has to match the whole name; an empty one finds all.
func selectRows(pattern string, smoke bool) ([]row, error) {
	expression, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	var selected []row
	for _, r := range rows {
		if (pattern == "" || expression.MatchString(r.name)) && (!smoke || r.smoke) {
			selected = append(selected, r)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("-run=%s: no row has such a name; -list shows them", pattern)
	}
	return selected, nil
}

// errCannotMeasure is of a row that needs what this machine does not have. The others are measured, and the run has missed a target.
var errCannotMeasure = errors.New("cannot be measured here")

// measure measures a row on a Postgres of its own, and audits what it left.
func (r row) measure(ctx context.Context, run *run) (result report, err error) {
	ctx, cancel := context.WithTimeout(ctx, rowLimit)
	defer cancel()
	result = report{Row: r.name, Tells: r.tells, Before: machineNow()}
	begun := time.Now()
	b, end, err := openBench(ctx, run.programs, run.settings, run.progress, r.postgres...)
	if err != nil && len(r.postgres) > 0 {
		return result, fmt.Errorf("%w: Postgres does not start with %v: %w", errCannotMeasure, r.postgres, err)
	}
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, end()) }()
	b.report = result
	if err := r.run(ctx, b); err != nil {
		return result, fmt.Errorf("%w\n%s", err, b.Logs(10))
	}
	if err := b.audit(ctx); err != nil {
		return result, err
	}
	b.report.After, b.report.Seconds = machineNow(), time.Since(begun).Seconds()
	return b.report, nil
}
