package ledger

import (
	"context"
	"errors"

	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Scoped are the queries that run in the scope of a tenant.
func (l *Ledger) Scoped(tenant int64) *sqlc.Queries { return l.core.Tenant(tenant) }

// BookTogether books collections of one float as a batch that takes all of them at once, and returns the result of each, and the order
// in which they were booked: those that were not booked with the others are tried alone, after them.
func (l *Ledger) BookTogether(ctx context.Context, tenant int64, all []*NewCollection) ([]error, []int) {
	booked, err := l.bookCollections(ctx, postgres.QueueKey{Tenant: tenant, Name: floatOf(&all[0].Transaction)}, all)
	return oneByOne(all, booked, err, func(n *NewCollection) error { return l.CreateCollection(ctx, tenant, n) })
}

// DisburseTogether is BookTogether for disbursements.
func (l *Ledger) DisburseTogether(ctx context.Context, tenant int64, all []*NewDisbursement) ([]error, []int) {
	booked, err := l.bookDisbursements(ctx, postgres.QueueKey{Tenant: tenant, Name: floatOf(&all[0].Transaction)}, all)
	return oneByOne(all, booked, err, func(n *NewDisbursement) error { return l.CreateDisbursement(ctx, tenant, n) })
}

// oneByOne tries alone what was not booked together.
func oneByOne[T any](all []T, booked []bool, err error, create func(T) error) (errs []error, order []int) {
	errs = make([]error, len(all))
	var after []int
	unknown := errors.Is(postgres.Classify(err, "booking"), postgres.ErrUnavailable)
	for i, n := range all {
		switch {
		case unknown:
			errs[i] = err
			order = append(order, i)
		case err != nil || !booked[i]:
			errs[i] = create(n)
			after = append(after, i)
		default:
			order = append(order, i)
		}
	}
	return errs, append(order, after...)
}

// CollectionsWaiting is how many collections wait for a float, and LookUpsWaiting how many look-ups for others.
func (l *Ledger) CollectionsWaiting() int { return l.collections.Waiting() }
func (l *Ledger) LookUpsWaiting() int     { return l.sandboxLookups.Waiting() + l.sharedLookups.Waiting() }
