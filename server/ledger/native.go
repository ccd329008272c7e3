package ledger

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
)

// NativeRequest is a request of an operator's own API, kept beside the transaction that it made.
//
// In place of a hash, [RequestStamp] has the name of the call, see [NativeHash]. This name differs from every hash of a
// /v1 request, so no /v1 request is taken for a repetition of this request.
type NativeRequest struct {
	Operation      string          // empty: the request is recorded already
	Sent           json.RawMessage // the parts of the request that the operator's answers repeat
	Callbacks      []payments.PlannedCallback
	LatencyPercent int                   // of the sandbox, for the callbacks of a transaction that completes at once
	Checkout       *nativestore.Checkout // that its payer confirms: confirmed with the collection, or neither; nil for none
}

// NativeHash returns the value that is stored in place of the hash of a request.
func NativeHash(operation string) []byte { return []byte(operation) }

// writeRequest sends the statements that record the request and its callbacks, after the statement that records the transaction.
func (n *NativeRequest) writeRequest(ctx context.Context, q *sqlc.Queries, tenant int64, id payments.ID) error {
	urls, kinds, outcomes := n.plan()
	if n.Operation != "" {
		err := q.RecordNativeRequest(ctx, sqlc.RecordNativeRequestParams{
			Operation: n.Operation, Sent: n.Sent, Tenant: tenant, ID: postgres.UUID(id),
			CallbackUrls: urls, CallbackKinds: kinds, CallbackOutcomes: outcomes,
		})
		if err != nil {
			return err
		}
	}
	if len(urls) > 0 {
		err := q.RecordCallbacks(ctx, sqlc.RecordCallbacksParams{
			LatencyPercent: float64(n.LatencyPercent), Tenant: tenant, ID: postgres.UUID(id),
			CallbackUrls: urls, CallbackKinds: kinds, CallbackOutcomes: outcomes,
		})
		if err != nil {
			return err
		}
	}
	if n.Checkout != nil {
		return q.ConfirmNativeOrder(ctx, tenant, string(n.Checkout.Operator), n.Checkout.Token[:], postgres.UUID(id))
	}
	return nil
}

// afterRequest returns what is written after a statement that records the request itself, or nil if there is nothing.
func (n *NativeRequest) afterRequest() *NativeRequest {
	if n == nil || len(n.Callbacks) == 0 && n.Checkout == nil {
		return nil
	}
	return &NativeRequest{Callbacks: n.Callbacks, LatencyPercent: n.LatencyPercent, Checkout: n.Checkout}
}

// plan returns the columns of the planned callbacks. Kinds and outcomes are nil for the usual plan: one callback, of no
// kind, for both outcomes.
func (n *NativeRequest) plan() (urls, kinds, outcomes []string) {
	if len(n.Callbacks) == 1 && n.Callbacks[0] == (payments.PlannedCallback{URL: n.Callbacks[0].URL}) {
		return []string{n.Callbacks[0].URL}, nil, nil
	}
	for _, c := range n.Callbacks {
		urls, kinds, outcomes = append(urls, c.URL), append(kinds, c.Kind), append(outcomes, string(c.When))
	}
	return urls, kinds, outcomes
}

// record records a collection, and the request of an operator's own API that asks for it, in one statement. Two take
// more of Postgres' time: docs/performance.md has the figures.
func (n *NativeRequest) record(ctx context.Context, q *sqlc.Queries, p *sqlc.RecordCollectionParams) (sqlc.RecordCollectionRow, error) {
	if n == nil {
		return q.RecordCollection(ctx, *p)
	}
	all := nativeCollection(p)
	all.Operation, all.Sent = n.Operation, n.Sent
	all.CallbackUrls, all.CallbackKinds, all.CallbackOutcomes = n.plan()
	row, err := q.RecordNativeCollection(ctx, all)
	return sqlc.RecordCollectionRow(row), err
}

// FindNative returns the transaction that an operator's own API recorded with a reference, and NativeRequest.Sent, or
// [ErrNotFound].
func (l *Ledger) FindNative(ctx context.Context, tenant int64, reference string) (*payments.Transaction, json.RawMessage, error) {
	row, err := l.core.Tenant(tenant).FindNative(ctx, tenant, reference)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil, ErrNotFound
	}
	if err != nil {
		return nil, nil, postgres.Classify(err, "looking up the request")
	}
	t := ledgerdb.TransactionOf(&row.Transaction)
	t.NativeSent = row.Sent
	return t, row.Sent, nil
}

// FloatBalance returns the current balance of a float in minor units, or [ErrNotFound].
func (l *Ledger) FloatBalance(ctx context.Context, tenant int64, currency payments.Currency) (int64, error) {
	balance, err := l.core.Tenant(tenant).FloatBalance(ctx, tenant, string(currency))
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNotFound
	}
	return balance, postgres.Classify(err, "reading the float")
}

// NumberHolder is the SIM with a number.
type NumberHolder struct {
	Name    string
	Blocked bool
}

// FindHolder returns the SIM with a number that is of an operator in a country, or [ErrNotFound].
func (l *Ledger) FindHolder(
	ctx context.Context, tenant int64, operator payments.Operator, country payments.Country, msisdn string,
) (NumberHolder, error) {
	row, err := l.core.Tenant(tenant).FindSIM(ctx, tenant, msisdn)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !ledgerdb.SIMOf(&row).Of(operator, country) {
		return NumberHolder{}, ErrNotFound
	}
	return NumberHolder{Name: row.Name, Blocked: row.Blocked}, postgres.Classify(err, "looking up the SIM")
}
