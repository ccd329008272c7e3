package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// audit returns all problems at a moment when no client waits for anything. It checks the database, the public API, the
// receivers, and the status of the resources. Undelivered events are allowed.
func (w *fixture) audit(ctx context.Context) (problems []string, err error) {
	if problems, err = w.Audit(ctx); err != nil {
		return nil, err
	}
	for _, s := range w.shops {
		for _, look := range []func(context.Context) ([]string, error){s.auditDatabase, s.auditList, s.auditArrivals} {
			found, err := look(ctx)
			if err != nil {
				return nil, err
			}
			problems = append(problems, s.named(found)...)
		}
		if len(problems) > 0 {
			continue // a wrong status may never become right
		}
		if err := w.auditStatus(ctx, s); err != nil {
			problems = append(problems, s.named([]string{err.Error()})...)
		}
	}
	return problems, nil
}

// auditAll is the audit at the end. All events are delivered, and it checks the whole history.
func (w *fixture) auditAll(ctx context.Context) (problems []string, err error) {
	for _, s := range w.shops {
		err := system.Until(ctx, wholeWithin, "all events are delivered", func(ctx context.Context) error {
			left, err := s.Undelivered(ctx)
			if err == nil && left > 0 {
				err = fmt.Errorf("%d events are not delivered yet", left)
			}
			return err
		})
		if err != nil {
			problems = append(problems, s.named([]string{err.Error()})...)
		}
		found, err := s.AuditDeliveries(ctx, s.receiver)
		if err != nil {
			return nil, err
		}
		problems = append(problems, s.named(append(found, s.callbacks.Audit(s.told())...))...)
	}
	w.looksAtEverything()
	rest, err := w.audit(ctx)
	return slices.Concat(problems, w.auditRepetitions(), rest), err
}

// loss is a time in which a worker may have lost what it had sent before it recorded that.
type loss struct{ from, to time.Time }

// auditRepetitions returns the callbacks that came again although no worker can have lost them.
func (w *fixture) auditRepetitions() (problems []string) {
	for _, s := range w.shops {
		for reference, came := range s.callbacks.Repeated() {
			if !slices.ContainsFunc(w.losses, func(l loss) bool { return came.After(l.from) && came.Before(l.to) }) {
				problems = append(problems, s.named([]string{"the callback of " + reference + " came again, and no worker has lost it"})...)
			}
		}
	}
	return problems
}

// looksAtEverything makes the next audit read the whole list of payments.
func (w *fixture) looksAtEverything() {
	for _, s := range w.shops {
		s.audited, s.since = map[string]bool{}, time.Time{}
	}
}

func (s *shop) named(problems []string) []string {
	for i, problem := range problems {
		problems[i] = s.resource.Name + ": " + problem
	}
	return problems
}

// auditDatabase compares the rows with what clients were told. Clients know all outcomes, except of payments that their
// payer ignores.
func (s *shop) auditDatabase(ctx context.Context) ([]string, error) {
	told := s.told()
	problems, err := s.AuditTold(ctx, told)
	if err != nil {
		return nil, err
	}
	pending, err := s.Pending(ctx)
	if err != nil {
		return nil, err
	}
	want := int64(0)
	for _, t := range told {
		if t.Status == string(payments.Pending) {
			want++
		}
	}
	if pending != want {
		problems = append(problems, fmt.Sprintf("%d payments are pending; clients know of %d", pending, want))
	}
	return problems, nil
}

// auditList compares the new part of the public API's list with what clients were told.
func (s *shop) auditList(ctx context.Context) ([]string, error) {
	now, fresh := time.Now(), s.told()
	maps.DeleteFunc(fresh, func(reference string, _ system.Transaction) bool { return s.audited[reference] })
	problems, err := s.client.AuditTold(ctx, fresh, s.since)
	for reference := range fresh {
		s.audited[reference] = true
	}
	s.since = now
	return problems, err
}

func (s *shop) auditArrivals(ctx context.Context) ([]string, error) {
	return s.AuditDeliveriesSoFar(ctx, s.receiver)
}

// auditStatus waits until the status of the sandbox's resources matches the database and the public API. Its error
// describes the difference.
func (w *fixture) auditStatus(ctx context.Context, s *shop) error {
	held, err := s.books(ctx)
	if err != nil {
		return err
	}
	if want := expectedFloat(s.told()); held.float != want {
		return fmt.Errorf("the float is %d; what clients were told sums up to %d", held.float, want)
	}
	if err := s.compareBalances(ctx, held); err != nil {
		return err
	}
	return system.Until(ctx, wholeWithin, "the status of the resources matches the balances in the database", func(ctx context.Context) error {
		if err := w.ready(ctx, append(objects(s.sims), s.resource)...); err != nil {
			return err
		}
		return held.tells(s.resource, s.sims)
	})
}

// books are the balances and counts of a sandbox in the database.
type books struct {
	float, transactions, pending int64            // the float of all currencies
	sims                         map[string]int64 // balances by number
}

func (s *shop) books(ctx context.Context) (b books, err error) {
	b.sims = map[string]int64{}
	rows, err := s.sql.Query(ctx, "select msisdn, balance from sims where tenant = $1", s.Tenant)
	if err != nil {
		return b, err
	}
	var msisdn string
	var balance int64
	if _, err := pgx.ForEachRow(rows, []any{&msisdn, &balance}, func() error { b.sims[msisdn] = balance; return nil }); err != nil {
		return b, err
	}
	return b, s.sql.QueryRow(ctx, `select (select sum(balance)::bigint from floats where tenant = $1),
		count(*), count(*) filter (where status = 'PENDING') from transactions where tenant = $1`,
		s.Tenant).Scan(&b.float, &b.transactions, &b.pending)
}

// expectedFloat computes the float from what clients were told, without reading a ledger.
func expectedFloat(told map[string]system.Transaction) int64 {
	float := int64(2 * openingBalance) // of both currencies
	for _, t := range told {
		switch {
		case t.Status != string(payments.Success):
		case t.Type == string(payments.Collection):
			float += t.NetAmount
		default:
			float -= t.Amount
		}
	}
	return float
}

// compareBalances compares the balances of the permanent SIMs in the public API with the database.
func (s *shop) compareBalances(ctx context.Context, held books) error {
	for _, msisdn := range slices.Sorted(maps.Values(payers)) {
		answer, err := s.client.InsistOnGet(ctx, "/test_clients/"+msisdn)
		if err != nil {
			return err
		}
		var sim struct {
			Balance int64 `json:"balance"`
		}
		if err := json.Unmarshal(answer.Body, &sim); err != nil {
			return err
		}
		if sim.Balance != held.sims[msisdn] {
			return fmt.Errorf("%s has the balance %d in the public API, and %d in the database", msisdn, sim.Balance, held.sims[msisdn])
		}
	}
	return nil
}

// tells compares the status of resources with the books.
func (b books) tells(sandbox *v1alpha1.SandboxEnvironment, sims []*v1alpha1.TestClient) error {
	var errs []error
	status := sandbox.Status
	float := int64(0)
	for _, balance := range status.Balances {
		float += balance.Amount
	}
	if float != b.float {
		errs = append(errs, fmt.Errorf("the status has the balances %v; the database has %d", status.Balances, b.float))
	}
	if status.Transactions == nil || *status.Transactions != (v1alpha1.TransactionCounts{Total: b.transactions, Pending: b.pending}) {
		errs = append(
			errs,
			fmt.Errorf("the status has the transactions %+v; the database has %d, %d of them pending", status.Transactions, b.transactions, b.pending),
		)
	}
	for _, sim := range sims {
		if balance := sim.Status.Balance; balance == nil || *balance != b.sims[sim.Spec.MSISDN] {
			errs = append(errs, fmt.Errorf("the status of %s has a balance other than %d", sim.Name, b.sims[sim.Spec.MSISDN]))
		}
	}
	return errors.Join(errs...)
}
