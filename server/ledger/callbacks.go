package ledger

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// LeasedCallback is a callback of an operator's own API that the caller alone may send until its lease ends.
type LeasedCallback struct {
	Tenant         int64
	Fence          int64 // of the lease
	OrganizationID string
	Transaction    *payments.Transaction // with its outcome
	Sent           json.RawMessage
	URL            string
	Vague          bool // failures are told without their reason

	// What decides where it may go.
	Hosts       []string // nil: the defaults
	WebhookHost string
	Namespace   string
}

// TenantsToCallBack finds the sandboxes that have callbacks due.
func (s *Deliveries) TenantsToCallBack(ctx context.Context) ([]DueTenant, error) {
	rows, err := s.system().TenantsToCallBack(ctx)
	if err != nil {
		return nil, postgres.Classify(err, "looking for sandboxes with due callbacks")
	}
	due := make([]DueTenant, len(rows))
	for i, row := range rows {
		due[i] = DueTenant{Tenant: row.Tenant, SweepFailed: row.SweepFailed}
	}
	return due, nil
}

// LeaseDueCallbacks takes due callbacks for the length of lease, of each due tenant up to its share, and tells how many it found in each.
// A callback whose lease ends without [Deliveries.FinishCallback] becomes due again.
func (s *Deliveries) LeaseDueCallbacks(
	ctx context.Context, from []Share, lease time.Duration,
) (leased []LeasedCallback, found map[int64]int, err error) {
	given := sharesOf(from)
	rows, err := s.system().LeaseCallbacks(ctx, postgres.Milliseconds(lease), given.tenants, given.limits)
	if err != nil {
		return nil, nil, postgres.Classify(err, "taking due callbacks")
	}
	found = map[int64]int{}
	for i := range rows {
		row := &rows[i]
		found[row.Transaction.Tenant]++
		c := LeasedCallback{
			Tenant: row.Transaction.Tenant, Fence: row.Fence, OrganizationID: row.OrgID, Transaction: transactionOf(&row.Transaction),
			Sent: row.Sent, URL: *row.CallbackURL, Vague: row.Vague, Hosts: row.CallbackHosts, WebhookHost: row.WebhookHost,
			Namespace: row.Namespace,
		}
		leased = append(leased, c)
	}
	return leased, found, nil
}

// GiveBackCallbacks ends leases that nothing was done with: their callbacks are due at once.
func (s *Deliveries) GiveBackCallbacks(ctx context.Context, callbacks []LeasedCallback) error {
	var keys rowKeys
	fences := make([]int64, len(callbacks))
	for i := range callbacks {
		keys.add(callbacks[i].Tenant, postgres.UUID(callbacks[i].Transaction.ID))
		fences[i] = callbacks[i].Fence
	}
	return postgres.Classify(s.system().GiveBackCallbacks(ctx, keys.tenants, keys.ids, fences), "giving callbacks back")
}

// FinishCallback writes down what an attempt came to. It reports false, and writes nothing, if the lease was lost.
func (s *Deliveries) FinishCallback(ctx context.Context, c *LeasedCallback, status int, failure string) (kept bool, err error) {
	rows, err := s.system().FinishCallback(ctx, sqlc.FinishCallbackParams{
		Error: postgres.Text(failure), ResponseStatus: int32(status), Tenant: c.Tenant, ID: postgres.UUID(c.Transaction.ID), Fence: c.Fence,
	})
	return rows == 1, postgres.Classify(err, "writing down a callback")
}
