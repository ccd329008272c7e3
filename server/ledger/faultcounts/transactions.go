package faultcounts

import (
	"context"
	"slices"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
)

// RequestInFaults returns two inputs for the matching of faults with a request: the sandbox's time, and the names of
// the faults that applied to the same reference before.
func (s *Faults) RequestInFaults(
	ctx context.Context, tenant int64, of faults.Set, reference string,
) (now time.Time, acted []string, err error) {
	row, err := s.core.Tenant(tenant).RequestInFaults(ctx, tenant, countNames(of), reference)
	return row.Now, namesOf(of, row.Acted), postgres.Classify(err, "reading what faults ask")
}

func countNames(of faults.Set) []string {
	names := make([]string, len(of))
	for i := range of {
		names[i] = of[i].CountName()
	}
	return names
}

// namesOf returns the names of the faults that are counted under some names.
func namesOf(of faults.Set, counted []string) (names []string) {
	for _, name := range counted {
		i := slices.IndexFunc(of, func(f faults.Fault) bool { return f.CountName() == name })
		names = append(names, of[i].Name) // the statement returns only names that it was given
	}
	return names
}

// AddTransactionFault adds a fault to the names of the faults that applied to a transaction, at most once.
func (s *Faults) AddTransactionFault(ctx context.Context, tenant int64, id payments.ID, fault string) error {
	err := s.core.Tenant(tenant).AddTransactionFault(ctx, fault, tenant, postgres.UUID(id))
	return postgres.ClassifyWrite(err, "writing down the fault of a transaction")
}

// UsedUpFaults returns the names of the faults that have applied as often as their `first` allows.
func (s *Faults) UsedUpFaults(ctx context.Context, tenant int64, of []*faults.Fault) ([]string, error) {
	var names []string
	var firsts []int64
	var set faults.Set
	for _, f := range of {
		if f.When.First != 0 {
			names, firsts, set = append(names, f.CountName()), append(firsts, f.When.First), append(set, *f)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	used, err := s.core.Tenant(tenant).UsedUpFaults(ctx, names, firsts, tenant)
	return namesOf(set, used), postgres.Classify(err, "reading the counts of faults")
}

// FirstCallback returns the status of a transaction. done is true if its callback was sent, or will never be sent.
func (s *Faults) FirstCallback(ctx context.Context, tenant int64, id payments.ID) (status payments.Status, done bool, err error) {
	row, err := s.core.Tenant(tenant).FirstCallback(ctx, tenant, postgres.UUID(id))
	return row.Status, row.Done, postgres.Classify(err, "reading the callback of the transaction")
}

// FirstAttempt returns the status of a transaction. done is true if an attempt to send its event was made, or if none
// will be made.
func (s *Faults) FirstAttempt(ctx context.Context, tenant int64, id payments.ID) (status payments.Status, done bool, err error) {
	row, err := s.core.Tenant(tenant).FirstAttempt(ctx, tenant, postgres.UUID(id))
	return row.Status, row.Done, postgres.Classify(err, "reading the event of the transaction")
}
