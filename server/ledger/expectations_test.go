package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

func linesOf(t *testing.T, text string) []expectations.Line {
	t.Helper()
	lines, err := expectations.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// allLines has a line of each kind, with each condition.
func allLines(t *testing.T) []expectations.Line {
	return linesOf(t, `[
		{"transactions":{"where":{"orderRef":"o1","type":"collection","status":"SUCCESS","reference":"r1"},"count":1}},
		{"transactions":{"where":{"status":"SUCCESS","application":"shop","msisdn":"+250788000001","createdAfter":"2020-01-01T00:00:00Z"},"count":1}},
		{"events":{"where":{"orderRef":"o1"},"state":"delivered","count":1,"maxAttempts":3}},
		{"events":{"where":{"event":"payment.completed","status":"SUCCESS"},"count":1}},
		{"events":{"where":{"event":"operator.callback"},"count":0}},
		{"float":{"currency":"RWF","equals":0}},
		{"testClient":{"msisdn":"+250788000001","balance":0}},
		{"refunds":{"of":"o1","total":0}},
		{"nothingElse":true}]`)
}

// observed says what the sandbox has for each line, in words.
func (w *fixture) observed(since *payments.ID, lines string) (said []string) {
	w.T.Helper()
	parsed := linesOf(w.T, lines)
	seen, err := w.Observe(w.T.Context(), w.Sandbox.Tenant, parsed, since)
	if err != nil {
		w.T.Fatal(err)
	}
	for i := range parsed {
		said = append(said, expectations.Check(nil, &parsed[i], &seen.Lines[i]).Observed)
	}
	return said
}

func TestObserve(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	first := w.attempted("r1", acknowledged)
	w.attempted("r3", refusedOnce)
	w.Create(w.Collection("r2", payments.PINInvalid, alice))
	w.Refunded(first, "refund", 3)
	w.Pending("r4", alice)
	other := w.beside("other")
	other.Create(other.Collection("r1", payments.Success, alice))
	const lines = `[
		{"transactions":{"count":0}},
		{"transactions":{"where":{"orderRef":"r1"},"count":0}},
		{"transactions":{"where":{"reference":"r1"},"count":0}},
		{"transactions":{"where":{"reference":"unknown"},"count":0}},
		{"transactions":{"where":{"status":"SUCCESS","type":"collection"},"count":0}},
		{"transactions":{"where":{"operator":"mtn","msisdn":"+250788000001"},"count":0}},
		{"transactions":{"where":{"msisdn":"+250788000002"},"count":0}},
		{"transactions":{"where":{"createdBefore":"2020-01-01T00:00:00Z"},"count":0}},
		{"events":{"count":0}},
		{"events":{"state":"delivered","count":0,"maxAttempts":3}},
		{"events":{"where":{"reference":"r3"},"state":"delivered","count":0,"maxAttempts":0}},
		{"events":{"where":{"event":"payment.refunded"},"count":0}},
		{"events":{"where":{"event":"operator.callback"},"count":0}},
		{"transactions":{"where":{"application":"shop"},"count":0}},
		{"transactions":{"where":{"application":"shpo"},"count":0}},
		{"events":{"where":{"application":"shpo"},"count":0}},
		{"refunds":{"of":"r1","total":0}},
		{"refunds":{"of":"r2","total":0}},
		{"testClient":{"msisdn":"+250788000002","balance":0}},
		{"float":{"currency":"XOF","equals":0}}]`
	if diff := cmp.Diff([]string{
		"5 transactions", "2 transactions", "1 transaction", "0 transactions", "2 transactions", "5 transactions", "0 transactions", "0 transactions",
		"4 events", "1 event, at most 1 attempt each", "0 events, at most 1 attempt each", "1 event", "0 events",
		"5 transactions", "the sandbox has no application shpo", "the sandbox has no application shpo",
		"3", "0", "the sandbox has no test client with this number", "0",
	}, w.observed(nil, lines)); diff != "" {
		t.Error(diff)
	}
	const balances = `[{"float":{"currency":"RWF","equals":0}},{"testClient":{"msisdn":"+250788000001","balance":0}}]`
	float := w.Count("select balance from floats where tenant = $1 and currency = 'RWF'", w.Sandbox.Tenant)
	seen, err := w.Observe(t.Context(), w.Sandbox.Tenant, linesOf(t, balances), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []expectations.Observation{{Amount: new(int64(float))}, {Amount: new(w.Balance(alice))}}
	if diff := cmp.Diff(want, seen.Lines); diff != "" {
		t.Error(diff)
	}
}

func TestObserveSince(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	const lines = `[{"transactions":{"count":0}},{"transactions":{"where":{"status":"SUCCESS"},"count":0}},{"events":{"count":0}},
		{"refunds":{"of":"r1","total":0}},{"nothingElse":true}]`
	seen, err := w.Observe(t.Context(), w.Sandbox.Tenant, linesOf(t, lines), nil)
	if err != nil || seen.Newest != nil {
		t.Fatalf("the newest transaction is %v, with the error %v", seen.Newest, err)
	}
	first := w.Create(w.Collection("r1", payments.Success, alice))
	last := w.Refunded(first.ID, "refund", 3)
	seen, err = w.Observe(t.Context(), w.Sandbox.Tenant, linesOf(t, lines), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&last.ID, seen.Newest); diff != "" {
		t.Error(diff)
	}
	if time.Since(seen.At).Abs() > time.Minute {
		t.Errorf("it is %s", seen.At)
	}
	if diff := cmp.Diff([]string{"0 transactions", "0 transactions", "0 events", "0", "no other transaction"}, w.observed(&last.ID, lines)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"1 transaction", "1 transaction", "1 event", "3"}, w.observed(&first.ID, lines)[:4]); diff != "" {
		t.Error(diff)
	}
}

func TestObserveWhatNoLineCounts(t *testing.T) {
	w := newFixture(t)
	w.Client("alice", alice, 5_000)
	w.Create(w.Collection("r1", payments.Success, alice))
	pending := w.Pending("r2", alice)
	failed := w.Create(w.Collection("r3", payments.PINInvalid, alice))
	for text, want := range map[string]expectations.Observation{
		`[{"nothingElse":true},{"transactions":{"where":{"orderRef":"r1"},"count":1}},{"transactions":{"where":{"status":"PIN_INVALID"},"count":1}}]`: {
			Count: 1, Example: &pending.ID,
		},
		`[{"nothingElse":true},{"events":{"where":{"orderRef":"r1"},"count":1}}]`: {Count: 2, Example: &failed.ID, Ended: true},
		`[{"nothingElse":true},{"transactions":{"count":">=1"}}]`:                 {},
	} {
		seen, err := w.Observe(t.Context(), w.Sandbox.Tenant, linesOf(t, text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, seen.Lines[0], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

// A statement that takes too long is ended, and its connection serves on.
func TestObservationIsBounded(t *testing.T) {
	w := newFixture(t)
	tx, err := w.SQL.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "lock table floats in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	_, err = w.Observe(t.Context(), w.Sandbox.Tenant, linesOf(t, `[{"float":{"currency":"RWF","equals":0}}]`), nil)
	if !errors.Is(err, observations.ErrTooManyRows) {
		t.Errorf("the error is %v", err)
	}
}

// The observations of a sandbox come one after the other, and leave room for those of another.
func TestObservationsTakeTurns(t *testing.T) {
	w := newFixture(t)
	lines := linesOf(t, `[{"float":{"currency":"RWF","equals":0}}]`)
	tenant := w.Sandbox.Tenant
	if err := w.Observing().Acquire(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := w.Observe(soon, tenant, lines, nil); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("a second observation: %v", err)
	}
	if err := w.Observing().Acquire(t.Context(), tenant+1); err != nil {
		t.Errorf("another sandbox: %v", err)
	}
	w.Observing().Release(tenant)
	if _, err := w.Observe(t.Context(), tenant, lines, nil); err != nil {
		t.Error(err)
	}
}

func TestObserveAllKindsOfLines(t *testing.T) {
	w := newFixture(t)
	seen, err := w.Observe(t.Context(), w.Sandbox.Tenant, allLines(t), new(payments.ID))
	if err != nil || len(seen.Lines) != len(allLines(t)) {
		t.Errorf("%d lines were observed, with the error %v", len(seen.Lines), err)
	}
}
