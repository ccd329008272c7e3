package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// NativeOrder is an order of an operator's own API that a payer confirms on a page. It is no transaction.
type NativeOrder struct {
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
	// MaxNativeOrders is how many orders a sandbox may have at one operator.
	MaxNativeOrders = 10_000
	// MaxNativeOrderCodes is how many one-time codes may be tried for an order.
	MaxNativeOrderCodes = 5
)

// OpenNativeOrder stores a new order, in place of one with the same id that has ended. It returns false if the id is
// that of an open order, or a reference of the sandbox. Beyond [MaxNativeOrders], it deletes the oldest orders.
func (l *Ledger) OpenNativeOrder(ctx context.Context, tenant int64, o *NativeOrder) (opened bool, err error) {
	err = l.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		if err := q.SortNothing(ctx); err != nil {
			return err
		}
		rows, err := q.OpenNativeOrder(ctx, sqlc.OpenNativeOrderParams{
			Tenant: tenant, Operator: string(o.Operator), OrderID: o.Reference, TokenHash: o.Token[:], MadeWith: o.MadeWith[:],
			Amount: o.Amount, Sent: o.Sent, LifetimeMs: postgres.Milliseconds(o.Lifetime), Others: MaxNativeOrders - 1,
		})
		opened = rows > 0
		return err
	})
	return opened, postgres.ClassifyWrite(err, "storing the order")
}

// FindNativeOrder returns the order with a token, or [ErrNotFound].
func (l *Ledger) FindNativeOrder(
	ctx context.Context, tenant int64, operator payments.Operator, token sandboxes.KeyHash,
) (*NativeOrder, error) {
	row, err := l.core.Tenant(tenant).FindNativeOrder(ctx, tenant, string(operator), token[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, postgres.Classify(err, "looking up the order")
	}
	o := &row.NativeOrder
	return &NativeOrder{
		Operator: operator, Reference: o.OrderID, Token: token, MadeWith: sandboxes.KeyHash(o.MadeWith), Amount: o.Amount,
		Sent: o.Sent, Expired: row.Expired, Ended: o.Ended || !o.Confirmed && o.Codes >= MaxNativeOrderCodes,
		Canceled: o.Canceled, Tried: int(o.Codes),
	}, nil
}

// ListOpenNativeOrders returns the orders that wait for their payers, newest first, of the number newest of orders that
// were opened last at an operator. They have no Token, which is stored as a hash.
func (l *Ledger) ListOpenNativeOrders(
	ctx context.Context, tenant int64, operator payments.Operator, newest int,
) (open []NativeOrder, err error) {
	err = l.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		if err := q.SortNothing(ctx); err != nil {
			return err
		}
		rows, err := q.ListOpenNativeOrders(ctx, tenant, string(operator), int32(newest), MaxNativeOrderCodes)
		open = make([]NativeOrder, len(rows))
		for i, r := range rows {
			open[i] = NativeOrder{
				Operator: operator, Reference: r.OrderID, Amount: r.Amount, Sent: r.Sent, ExpiresAt: r.ExpiresAt,
			}
		}
		return err
	})
	return open, postgres.Classify(err, "listing the open orders")
}

// TryNativeOrderCode counts a one-time code that is tried for an order, before it is compared. It returns how many may
// be tried after it, or [ErrNotFound] for an order that is not open any more.
func (l *Ledger) TryNativeOrderCode(ctx context.Context, tenant int64, o *NativeOrder) (left int, err error) {
	tried, err := l.core.Tenant(tenant).TryNativeOrderCode(ctx, tenant, string(o.Operator), o.Token[:], MaxNativeOrderCodes)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNotFound
	}
	return MaxNativeOrderCodes - int(tried), postgres.ClassifyWrite(err, "counting the code")
}

// GiveBackNativeOrderCode takes back what TryNativeOrderCode has done, for a right code whose collection was not recorded.
func (l *Ledger) GiveBackNativeOrderCode(ctx context.Context, tenant int64, o *NativeOrder) error {
	err := l.core.Tenant(tenant).GiveBackNativeOrderCode(ctx, tenant, string(o.Operator), o.Token[:])
	return postgres.ClassifyWrite(err, "giving the code back")
}

// EndNativeOrder ends an open order without a transaction. o.Canceled tells whether its payer ends it.
func (l *Ledger) EndNativeOrder(ctx context.Context, tenant int64, o *NativeOrder) error {
	err := l.core.Tenant(tenant).EndNativeOrder(ctx, o.Canceled, tenant, string(o.Operator), o.Token[:])
	return postgres.ClassifyWrite(err, "ending the order")
}

// oneTimeCode returns the code of a SIM, six digits. It follows from the id of the SIM, which nobody can guess who does
// not read the sandbox, and from the number of its last movement, so that a code pays once. Nothing stores it.
func oneTimeCode(row *sqlc.Sim) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %x %d", row.Tenant, row.SimID.Bytes, row.Movements))
	return fmt.Sprintf("%06d", binary.BigEndian.Uint64(sum[:])%1_000_000)
}
