package nativestore

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Checkout is an order of an operator's own API that a payer confirms on a page. It is no transaction.
type Checkout struct {
	Operator  payments.Operator
	Reference string            // id of the order, and reference of the collection that it becomes
	Token     sandboxes.KeyHash // hash of the token that names the order on its page
	MadeWith  sandboxes.KeyHash // the API key; the page is valid as long as the key
	Amount    int64             // in whole units of the environment's currency
	Sent      json.RawMessage   // of the request, in the format of the operator's package
	Lifetime  time.Duration     // time until the expiry of a new order, in sandbox time
	ExpiresAt time.Time         // of an open order, in sandbox time
	Expired   bool              // of a stored order
	Ended     bool              // of a stored order: without a transaction
	Canceled  bool              // of an order that has ended: by its payer
	Tried     int               // of a stored order: how many one-time codes were tried
}

const (
	// MaxCheckouts is how many orders a sandbox may have at one operator.
	MaxCheckouts = 10_000
	// MaxCheckoutCodes is how many one-time codes may be tried for an order.
	MaxCheckoutCodes = 5
)

// OpenCheckout stores a new order, in place of one with the same id that has ended. It returns false if the id is
// that of an open order, or a reference of the sandbox. Beyond [MaxCheckouts], it deletes the oldest orders.
func (s *Store) OpenCheckout(ctx context.Context, tenant int64, o *Checkout) (opened bool, err error) {
	err = s.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		if err := q.SortNothing(ctx); err != nil {
			return err
		}
		rows, err := q.OpenNativeOrder(ctx, sqlc.OpenNativeOrderParams{
			Tenant: tenant, Operator: string(o.Operator), OrderID: o.Reference, TokenHash: o.Token[:], MadeWith: o.MadeWith[:],
			Amount: o.Amount, Sent: o.Sent, LifetimeMs: postgres.Milliseconds(o.Lifetime), Others: MaxCheckouts - 1,
		})
		opened = rows > 0
		return err
	})
	return opened, postgres.ClassifyWrite(err, "storing the order")
}

// FindCheckout returns the order with a token, or ledger.ErrNotFound.
func (s *Store) FindCheckout(
	ctx context.Context, tenant int64, operator payments.Operator, token sandboxes.KeyHash,
) (*Checkout, error) {
	row, err := s.core.Tenant(tenant).FindNativeOrder(ctx, tenant, string(operator), token[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ledgerdb.ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "looking up the order")
	}
	o := &row.NativeOrder
	return &Checkout{
		Operator: operator, Reference: o.OrderID, Token: token, MadeWith: sandboxes.KeyHash(o.MadeWith), Amount: o.Amount,
		Sent: o.Sent, Expired: row.Expired, Ended: o.Ended || !o.Confirmed && o.Codes >= MaxCheckoutCodes,
		Canceled: o.Canceled, Tried: int(o.Codes),
	}, nil
}

// ListOpenCheckouts returns the orders that wait for their payers, newest first, of the number newest of orders that
// were opened last at an operator. They have no Token, which is stored as a hash.
func (s *Store) ListOpenCheckouts(
	ctx context.Context, tenant int64, operator payments.Operator, newest int,
) (open []Checkout, err error) {
	err = s.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		if err := q.SortNothing(ctx); err != nil {
			return err
		}
		rows, err := q.ListOpenNativeOrders(ctx, tenant, string(operator), int32(newest), MaxCheckoutCodes)
		open = make([]Checkout, len(rows))
		for i, r := range rows {
			open[i] = Checkout{
				Operator: operator, Reference: r.OrderID, Amount: r.Amount, Sent: r.Sent, ExpiresAt: r.ExpiresAt,
			}
		}
		return err
	})
	return open, postgres.Classify(err, "listing the open orders")
}

// TryCheckoutCode counts a one-time code that is tried for an order, before it is compared. It returns how many may
// be tried after it, or ledger.ErrNotFound for an order that is not open any more.
func (s *Store) TryCheckoutCode(ctx context.Context, tenant int64, o *Checkout) (left int, err error) {
	tried, err := s.core.Tenant(tenant).TryNativeOrderCode(ctx, tenant, string(o.Operator), o.Token[:], MaxCheckoutCodes)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ledgerdb.ErrNotFound
	}
	return MaxCheckoutCodes - int(tried), postgres.ClassifyWrite(err, "counting the code")
}

// GiveBackCheckoutCode takes back what TryCheckoutCode has done, for a right code whose collection was not recorded.
func (s *Store) GiveBackCheckoutCode(ctx context.Context, tenant int64, o *Checkout) error {
	err := s.core.Tenant(tenant).GiveBackNativeOrderCode(ctx, tenant, string(o.Operator), o.Token[:])
	return postgres.ClassifyWrite(err, "giving the code back")
}

// EndCheckout ends an open order without a transaction. o.Canceled tells whether its payer ends it.
func (s *Store) EndCheckout(ctx context.Context, tenant int64, o *Checkout) error {
	err := s.core.Tenant(tenant).EndNativeOrder(ctx, o.Canceled, tenant, string(o.Operator), o.Token[:])
	return postgres.ClassifyWrite(err, "ending the order")
}
