package faultcounts

import (
	"context"
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
	names := make([]string, len(of))
	for i := range of {
		names[i] = of[i].Name
	}
	row, err := s.core.Tenant(tenant).RequestInFaults(ctx, tenant, names, reference)
	return row.Now, row.Acted, postgres.Classify(err, "reading what faults ask")
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
	for _, f := range of {
		if f.When.First != 0 {
			names, firsts = append(names, f.Name), append(firsts, f.When.First)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	used, err := s.core.Tenant(tenant).UsedUpFaults(ctx, names, firsts, tenant)
	return used, postgres.Classify(err, "reading the counts of faults")
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
