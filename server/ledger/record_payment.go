package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// RequestStamp has the stored fields of a request, and the configuration that the request was checked against.
type RequestStamp struct {
	RequestHash   []byte // of the request as sent
	ConfigVersion int64
	Clocked       bool // the sandbox has a clock: see [sandboxes.Sandbox]
	Unfollowed    bool // no stream followed the sandbox in that configuration
}

// NewCollection is a collection that is to be recorded.
type NewCollection struct {
	RequestStamp
	Transaction payments.Transaction // the ledger fills in its times and balances, and its id in a sandbox with a clock
	Optional    OptionalFields
	AnswerAfter time.Duration // until a pending collection settles, or the event of a terminal one is due
	ExpireAfter time.Duration // until a pending collection without an answer of the payer expires

	// ByPayer has the status for each state of the payer. At the insert, the statement picks one by the SIM registry.
	// The ledger then fills in Transaction.Status, its latency and AnswerAfter. nil: Transaction.Status is already
	// decided.
	ByPayer *StatusByPayer
	// TestBehavior is the payer's behavior with a pending collection if the number is a test number without a SIM; else
	// empty.
	TestBehavior payments.Behavior
	// Presumed: operator and country come from the number's prefix; the registry may have others.
	Presumed bool
}

// StatusByPayer has the status of a collection for each state of its payer. None of them is Success.
type StatusByPayer [payments.PayerStates]StatusAndLatency

// StatusAndLatency is a status and the latency until it is reached.
type StatusAndLatency struct {
	Status  payments.Status
	Latency Latency
}

// CreateCollection records a collection, with the money that it moves and the event that it owes, in one database
// transaction and one round trip, and completes its Transaction.
//
// A collection that would raise the float beyond [payments.MaxBalance] ends with LIMIT_EXCEEDED.
//
// It returns [*ErrReferenceTaken] if the reference belongs to a transaction already, [ErrQuotaExceeded] if the
// sandbox's quota is used up, [ErrMarketKnown] if the market was presumed and the registry knows another, [ErrOrderEnded],
// and [postgres.ErrConfigChanged] if the outcome has to be decided again. An error other than [postgres.ErrUncertain] means
// that nothing was recorded.
func (l *Ledger) CreateCollection(ctx context.Context, tenant int64, n *NewCollection) (err error) {
	succeeds := n.ByPayer == nil && n.Transaction.Status == payments.Success
	if succeeds {
		at := postgres.QueueKey{Tenant: tenant, Name: floatOf(&n.Transaction)}
		if n.Clocked || !n.Optional.none() {
			err = l.bookCollection(ctx, at, n, false)
		} else {
			err = l.collections.Do(ctx, at, n)
		}
	}
	if exceedsMaxBalance(err) {
		n.Transaction.Status, succeeds = payments.LimitExceeded, false
	}
	if !succeeds {
		err = l.recordCollection(ctx, tenant, n)
	}
	if err != nil {
		err = l.whyNotRecorded(ctx, tenant, n.Transaction.Reference, err)
	}
	l.noteRecorded(tenant, err)
	return err
}

// noteRecorded notes an activity, so that the status of the sandbox's resource is updated, if a transaction was
// recorded. It also does so if the answer of the database was lost.
func (l *Ledger) noteRecorded(tenant int64, err error) {
	if err == nil || errors.Is(err, postgres.ErrUncertain) {
		l.core.Sandboxes.NoteActivity(tenant)
	}
}

// whyNotRecorded returns the reason why a statement recorded nothing. The parameter err is the error of the statement.
func (l *Ledger) whyNotRecorded(ctx context.Context, tenant int64, reference string, err error) error {
	if violates(err, "native_orders_one_end") {
		return ErrOrderEnded
	}
	if !errors.Is(err, pgx.ErrNoRows) && !violates(err, "transactions_reference") {
		return postgres.ClassifyWrite(err, "recording the transaction")
	}
	transaction, hash, err := l.FindReference(ctx, tenant, reference)
	switch {
	case err == nil:
		return &ErrReferenceTaken{Transaction: transaction, RequestHash: hash}
	case !errors.Is(err, ErrNotFound):
		return err
	}
	if err := l.CheckQuota(ctx, tenant); err != nil {
		return err
	}
	return postgres.ErrConfigChanged
}

// CheckQuota returns [ErrQuotaExceeded] if a sandbox's quota is used up, and [postgres.ErrConfigChanged] for a sandbox that is gone.
func (l *Ledger) CheckQuota(ctx context.Context, tenant int64) error {
	usage, err := l.core.Tenant(tenant).QuotaUsed(ctx, tenant)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return postgres.ErrConfigChanged
	case err != nil:
		return postgres.Classify(err, "reading the quota")
	case usage.Quota != nil && usage.Used >= *usage.Quota:
		return ErrQuotaExceeded{Quota: *usage.Quota}
	}
	return nil
}

// bookCollection books one collection, which succeeds at once and moves its money.
func (l *Ledger) bookCollection(ctx context.Context, at postgres.QueueKey, n *NewCollection, _ bool) error {
	t := &n.Transaction
	q, err := recorder(ctx, l.core.DB.VersionChecked(at.Tenant).Unfollowed(n.Unfollowed), n.Clocked, n.Optional, at.Tenant, t.ID)
	if err != nil {
		return err
	}
	p := sqlc.BookCollectionParams{
		Tenant: at.Tenant, ConfigVersion: n.ConfigVersion, AnswerAfterMs: postgres.Milliseconds(n.AnswerAfter),
	}
	setBookCollection(&p, t, n.RequestHash)
	row, err := q.BookCollection(ctx, p)
	if err != nil {
		return err
	}
	n.complete(row)
	return nil
}

// complete copies the recorded values into n.
func (n *NewCollection) complete(row sqlc.BookCollectionRow) {
	t := &n.Transaction
	t.ID, t.CreatedAt, t.CompletedAt = row.ID.Bytes, row.CreatedAt, row.CompletedAt
	t.MerchantBalanceAfter, t.SIMBalanceAfter = row.MerchantBalanceAfter, row.SimBalanceAfter
	n.Optional.complete(t)
}

// recordCollection records a collection that moves no money, because it is pending or has failed.
func (l *Ledger) recordCollection(ctx context.Context, tenant int64, n *NewCollection) error {
	t, byPayer := &n.Transaction, n.statusByPayer()
	statuses, latencies, after := byPayer.all()
	rest := n.Optional
	rest.Native = rest.Native.afterRequest()
	q, err := recorder(ctx, l.core.DB.VersionChecked(tenant).Unfollowed(n.Unfollowed), n.Clocked, rest, tenant, t.ID)
	if err != nil {
		return err
	}
	p := sqlc.RecordCollectionParams{
		Tenant: tenant, ConfigVersion: n.ConfigVersion, Presumed: n.Presumed, Statuses: statuses, Latencies: latencies, AfterMs: after,
		ExpireAfterMs: postgres.Milliseconds(n.ExpireAfter), TestBehavior: postgres.Optional(string(n.TestBehavior)),
	}
	setRecordCollection(&p, t, n.RequestHash)
	row, err := n.Optional.Native.record(ctx, q, &p)
	if errors.Is(err, pgx.ErrNoRows) && n.Presumed {
		return l.checkMarket(ctx, tenant, t)
	}
	if err != nil {
		return err
	}
	latency := byPayer[row.PayerState-1].Latency
	t.Status, t.Latency, n.AnswerAfter = row.Status, latency.Simulated, latency.Waited
	t.ID, t.CreatedAt, t.CompletedAt = row.ID.Bytes, row.CreatedAt, row.CompletedAt
	if t.Status == payments.Pending && payments.PayerState(row.PayerState-1) == payments.PayerUnknown {
		t.TestBehavior = n.TestBehavior
	}
	n.Optional.complete(t)
	return nil
}

// statusByPayer returns one status for each state of the payer. If the status is already decided, all are equal.
func (n *NewCollection) statusByPayer() *StatusByPayer {
	if n.ByPayer != nil {
		return n.ByPayer
	}
	var same StatusByPayer
	for state := range same {
		same[state] = StatusAndLatency{Status: n.Transaction.Status, Latency: Latency{Simulated: n.Transaction.Latency, Waited: n.AnswerAfter}}
	}
	return &same
}

// checkMarket returns [ErrMarketKnown] if a collection was not recorded because its market was presumed and the
// registry has another, else [pgx.ErrNoRows].
func (l *Ledger) checkMarket(ctx context.Context, tenant int64, t *payments.Transaction) error {
	sim, err := l.FindSIM(ctx, tenant, t.MSISDN)
	switch {
	case err != nil:
		return err
	case sim != nil && (sim.Operator != t.Operator || sim.Country != t.Country):
		return ErrMarketKnown
	}
	return pgx.ErrNoRows
}

// all returns the statuses, and the latencies in milliseconds, as arguments of the statement.
func (s *StatusByPayer) all() (statuses []string, simulated []int32, waited []float64) {
	for _, one := range s {
		statuses = append(statuses, string(one.Status))
		simulated = append(simulated, int32(one.Latency.Simulated.Milliseconds()))
		waited = append(waited, postgres.Milliseconds(one.Latency.Waited))
	}
	return statuses, simulated, waited
}

// FindReference returns the transaction that has a reference. It also returns the hash of the request that recorded it.
// It returns [ErrNotFound] for an unknown reference.
func (l *Ledger) FindReference(ctx context.Context, tenant int64, reference string) (*payments.Transaction, []byte, error) {
	row, err := l.core.Tenant(tenant).FindReference(ctx, tenant, reference)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, ErrNotFound
	}
	if err != nil {
		return nil, nil, postgres.Classify(err, "looking up the reference")
	}
	return ledgerdb.TransactionOf(&row), row.RequestHash, nil
}

// FindSIM returns the SIM with a number, or nil if the tenant's registry has none.
func (l *Ledger) FindSIM(ctx context.Context, tenant int64, msisdn string) (*payments.SIM, error) {
	row, err := l.core.Tenant(tenant).FindSIM(ctx, tenant, msisdn)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, postgres.Classify(err, "looking up the SIM")
	}
	return ledgerdb.SIMOf(&row), nil
}

// floatOf returns the currency of the float that a transaction belongs to.
func floatOf(t *payments.Transaction) string { return string(payments.CanonicalCurrency(t.Currency)) }
