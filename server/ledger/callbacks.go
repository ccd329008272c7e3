package ledger

import (
	"context"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/queues"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// LeasedCallback is a callback of an operator's own API. Only the holder of the lease may send it.
type LeasedCallback struct {
	Tenant         int64
	ID             payments.ID
	Fence          int64 // the fencing token of the lease
	OrganizationID string
	TakenAt        time.Time // by the database's clock
	Now            time.Time // TakenAt in sandbox time
	payments.Callback
	URL           string
	Body          []byte // the body that every attempt sends
	Retries       int    // since it was queued, or last queued by hand
	SigningSecret string // of the sandbox's webhooks
	Problem       error  // why SigningSecret cannot be read; nil: it can

	Fault     *faults.Fault // the fault that applies to the callback; nil for none
	TimesSent int           // how often it was sent before because of Fault

	// These fields decide to which hosts the callback may go.
	Hosts       []string // nil: the defaults
	WebhookHost string
	Namespace   string
}

// TenantsToCallBack finds the sandboxes that have callbacks due.
func (s *Deliveries) TenantsToCallBack(ctx context.Context) ([]queues.DueTenant, error) {
	rows, err := s.core.Polling().TenantsToCallBack(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "looking for sandboxes with due callbacks")
	}
	due := make([]queues.DueTenant, len(rows))
	for i, row := range rows {
		due[i] = queues.DueTenant{Tenant: row.Tenant, SweepFailed: row.SweepFailed}
	}
	return due, nil
}

// BuildCallback makes the body of a callback. It returns nil if the operator sends no callbacks.
type BuildCallback func(*payments.Callback) []byte

// LeaseDueCallbacks leases due callbacks, at most from[i].Slots of each tenant. The result found has the number of due
// callbacks by tenant, including those that a fault delays and that are not leased. The function build makes the body
// of a callback that has none yet. The body is stored, so that every attempt sends the same bytes. A callback becomes
// due again if its lease ends before [Deliveries.FinishCallback] is called.
func (s *Deliveries) LeaseDueCallbacks(
	ctx context.Context, from []queues.SlotGrant, lease time.Duration, build BuildCallback,
) (leased []LeasedCallback, found map[int64]int, err error) {
	given := queues.ColumnsOf(from)
	var decided map[ledgerdb.Key]callbackFault
	err = s.core.InTx(ctx, func(q *sqlc.Queries) error {
		leased, found = nil, map[int64]int{}
		due, err := q.LockDueCallbacks(ctx, given.Tenants, given.Limits)
		if err != nil || len(due) == 0 {
			return err
		}
		about, err := transactionsOf(ctx, q, due)
		if err != nil {
			return err
		}
		if decided, err = decideCallbackFaults(ctx, q, due, about); err != nil {
			return err
		}
		var taken ledgerdb.Keys
		var bodies [][]byte
		for i := range due {
			row := &due[i]
			found[row.Tenant]++
			fault := decided[ledgerdb.KeyOf(row.Tenant, row.ID.Bytes)]
			if fault.postponed {
				continue
			}
			c := s.leasedCallback(row, about[ledgerdb.KeyOf(row.Tenant, row.TransactionID.Bytes)], build)
			c.Fault = fault.fault
			leased = append(leased, c)
			taken.Add(c.Tenant, row.ID)
			bodies = append(bodies, c.Body)
		}
		return q.LeaseCallbacks(ctx, postgres.Milliseconds(lease), taken.Tenants, taken.IDs, bodies)
	})
	if err != nil {
		return nil, nil, postgres.Classify(err, "taking due callbacks")
	}
	for of := range decided {
		s.core.Sandboxes.NoteActivity(of.Tenant)
	}
	return leased, found, nil
}

// aboutTransactions are the transactions of callbacks.
type aboutTransactions map[ledgerdb.Key]*sqlc.TransactionsOfCallbacksRow

func transactionsOf(ctx context.Context, q *sqlc.Queries, due []sqlc.LockDueCallbacksRow) (aboutTransactions, error) {
	var keys ledgerdb.Keys
	for i := range due {
		if due[i].TransactionID.Valid {
			keys.Add(due[i].Tenant, due[i].TransactionID)
		}
	}
	rows, err := q.TransactionsOfCallbacks(ctx, keys.Tenants, keys.IDs)
	about := aboutTransactions{}
	for i := range rows {
		about[ledgerdb.KeyOf(rows[i].Transaction.Tenant, rows[i].Transaction.ID.Bytes)] = &rows[i]
	}
	return about, err
}

func (s *Deliveries) leasedCallback(
	row *sqlc.LockDueCallbacksRow, about *sqlc.TransactionsOfCallbacksRow, build BuildCallback,
) LeasedCallback {
	c := LeasedCallback{
		Tenant: row.Tenant, ID: row.ID.Bytes, Fence: row.Fence + 1, OrganizationID: row.OrgID, TakenAt: row.TakenAt, Now: row.Present,
		Callback: payments.Callback{Operator: payments.Operator(ledgerdb.OrEmpty(row.Operator)), Kind: row.Kind, Sent: row.Sent},
		URL:      row.URL, Body: row.Body, Retries: int(row.Retries),
		TimesSent: int(row.TimesSent), Hosts: row.CallbackHosts, WebhookHost: row.WebhookHost, Namespace: row.Namespace,
	}
	if about != nil {
		c.Transaction, c.Sent, c.Vague = ledgerdb.TransactionOf(&about.Transaction), about.Sent, about.Vague
		c.Transaction.NativeSent = about.Sent
		c.Operator = c.Transaction.Operator
	}
	if c.Body == nil {
		c.Body = build(&c.Callback)
	}
	if row.SigningSecret != nil {
		c.SigningSecret, c.Problem = s.keys.Open(row.ResourceUid.String(), row.SigningSecret)
	}
	return c
}

// GiveBackCallbacks ends the leases of callbacks for which no attempt was made. They are due at once.
func (s *Deliveries) GiveBackCallbacks(ctx context.Context, callbacks []LeasedCallback) error {
	var keys ledgerdb.Keys
	fences := make([]int64, len(callbacks))
	for i := range callbacks {
		keys.Add(callbacks[i].Tenant, postgres.UUID(callbacks[i].ID))
		fences[i] = callbacks[i].Fence
	}
	return postgres.Classify(s.core.Unscoped().GiveBackCallbacks(ctx, keys.Tenants, keys.IDs, fences), "giving callbacks back")
}

// FinishCallback records an attempt and ends its lease. If the lease has expired, it returns false and writes nothing.
func (s *Deliveries) FinishCallback(ctx context.Context, c *LeasedCallback, a AttemptResult) (leaseHeld bool, err error) {
	rows, err := s.core.Unscoped().FinishCallback(ctx, sqlc.FinishCallbackParams{
		Tenant: c.Tenant, ID: postgres.UUID(c.ID), Fence: c.Fence, StartedAt: a.StartedAt, RealStartedAt: c.TakenAt,
		DurationMs: int32(a.Duration.Milliseconds()), ResponseStatus: int32(a.ResponseStatus), ResponseBody: a.ResponseBody, Error: a.Error,
		Copies: storedCopies(a.Copies), Fault: faultName(c.Fault), State: sqlc.EventState(a.State),
		RetryAfterMs: postgres.Milliseconds(a.RetryAfter),
	})
	s.core.Sandboxes.NoteActivity(c.Tenant)
	return rows == 1, postgres.Classify(err, "writing down a callback")
}
