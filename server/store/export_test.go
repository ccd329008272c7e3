package store

import (
	"context"

	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// Behind are the queries that run behind the tenant wall.
func (s *Store) Behind(tenant int64) *sqlc.Queries { return s.tenant(tenant) }

// UUIDOf is the form in which the queries take an id.
var UUIDOf = uuidOf

// SealSecret encrypts a secret, and OpenSecret decrypts it.
var (
	SealSecret = (*KeyRing).seal
	OpenSecret = (*KeyRing).open
)

// SigningSecret is the signing secret that is stored for a sandbox.
func (s *Store) SigningSecret(ctx context.Context, sandboxUID string) (string, error) {
	stored, err := s.StoredCredentials(ctx, sandboxUID)
	return stored.SigningSecret, err
}

// NeedSchema has a store need another version of the schema than this program does.
func (s *Store) NeedSchema(version int64) { s.schema.needs = version }

// MigrateFrom is Migrate with the migrations of a folder.
var MigrateFrom = migrate

// ScramVerifier is what Postgres keeps of a password.
var ScramVerifier = scramVerifier

// BookTogether books collections of one float as a backlog does that takes all of them at once, and returns what each is told, and
// the order in which they were booked: those that were not booked with the others are tried alone, after them.
func (s *Store) BookTogether(ctx context.Context, tenant int64, all []*NewCollection) ([]error, []int) {
	verdict := together(s.bookCollections(ctx, floatKey{tenant, floatOf(&all[0].Transaction)}, all))
	return oneByOne(all, verdict, func(n *NewCollection) error { return s.CreateCollection(ctx, tenant, n) })
}

// DisburseTogether is BookTogether for disbursements.
func (s *Store) DisburseTogether(ctx context.Context, tenant int64, all []*NewDisbursement) ([]error, []int) {
	verdict := together(s.bookDisbursements(ctx, floatKey{tenant, floatOf(&all[0].Transaction)}, all))
	return oneByOne(all, verdict, func(n *NewDisbursement) error { return s.CreateDisbursement(ctx, tenant, n) })
}

// oneByOne tries alone what was not booked together.
func oneByOne[T any](all []T, verdict func(int) news, create func(T) error) (errs []error, order []int) {
	errs = make([]error, len(all))
	var after []int
	for i, n := range all {
		told := verdict(i)
		if errs[i] = told.err; told.alone {
			errs[i] = create(n)
			after = append(after, i)
		} else {
			order = append(order, i)
		}
	}
	return errs, append(order, after...)
}

// Backlogged is how many collections wait for a float, and LookUpsWaiting how many look-ups for others.
func (s *Store) Backlogged() int     { return waiting(&s.collections) }
func (s *Store) LookUpsWaiting() int { return waiting(&s.lookups) + waiting(&s.trips) }

func waiting[T any](b *backlog[T]) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.lanes {
		n += len(l.queue)
	}
	return n
}

// Prepared tells whether a connection has statements that were prepared under a name.
func (s *Store) Prepared(ctx context.Context) (prepared bool, err error) {
	err = s.pool.QueryRow(ctx, "select exists (select from pg_prepared_statements where statement like '%transactions%')").Scan(&prepared)
	return prepared, err
}
