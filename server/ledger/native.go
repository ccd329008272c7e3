package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cauri-dev/cauri/server/ledger/ledgerdb"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/postgres"
	"github.com/cauri-dev/cauri/server/postgres/sqlc"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// NativeRequest is a request of an operator's own API, kept beside the transaction that it made.
//
// In place of a hash, [RequestStamp] has the name of the call, see [NativeHash]. This name differs from every hash of a
// /v1 request, so no /v1 request is taken for a repetition of this request.
type NativeRequest struct {
	Operation      string          // empty: the request is recorded already
	Sent           json.RawMessage // the parts of the request that the operator's answers repeat
	Callbacks      []payments.PlannedCallback
	LatencyPercent int          // of the sandbox, for the callbacks of a transaction that completes at once
	Order          *NativeOrder // that its payer confirms: confirmed with the collection, or neither; nil for none
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
	if n.Order != nil {
		return q.ConfirmNativeOrder(ctx, tenant, string(n.Order.Operator), n.Order.Token[:], postgres.UUID(id))
	}
	return nil
}

// afterRequest returns what is written after a statement that records the request itself, or nil if there is nothing.
func (n *NativeRequest) afterRequest() *NativeRequest {
	if n == nil || len(n.Callbacks) == 0 && n.Order == nil {
		return nil
	}
	return &NativeRequest{Callbacks: n.Callbacks, LatencyPercent: n.LatencyPercent, Order: n.Order}
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
func (n *NativeRequest) record(ctx context.Context, q *sqlc.Queries, p sqlc.RecordCollectionParams) (sqlc.RecordCollectionRow, error) {
	if n == nil {
		return q.RecordCollection(ctx, p)
	}
	urls, kinds, outcomes := n.plan()
	row, err := q.RecordNativeCollection(ctx, sqlc.RecordNativeCollectionParams{
		Tenant: p.Tenant, Reference: p.Reference, ConfigVersion: p.ConfigVersion, Presumed: p.Presumed, MSISDN: p.MSISDN,
		Operator: p.Operator, Country: p.Country, TestBehavior: p.TestBehavior, NetAmount: p.NetAmount, Commission: p.Commission,
		Scenario: p.Scenario, FloatCurrency: p.FloatCurrency, Statuses: p.Statuses, Latencies: p.Latencies, AfterMs: p.AfterMs, ID: p.ID,
		RequestHash: p.RequestHash, OrderRef: p.OrderRef, OrderURL: p.OrderURL, URLProtected: p.URLProtected, Store: p.Store,
		Description: p.Description, EnvID: p.EnvID, Currency: p.Currency, Amount: p.Amount, AbsorptionPct: p.AbsorptionPct,
		ExpireAfterMs: p.ExpireAfterMs, Operation: n.Operation, Sent: n.Sent,
		CallbackUrls: urls, CallbackKinds: kinds, CallbackOutcomes: outcomes,
	})
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

// NativeUser is a user of an operator's own API that a request to that API created.
type NativeUser struct {
	Operator     payments.Operator
	ID           payments.ID
	MadeWith     sandboxes.KeyHash // the API key; the user is valid as long as the key
	SecretHash   []byte            // nil for a user without a password
	CallbackHost string
}

// MaxNativeUsers is how many users with a valid API key a sandbox may have at one operator.
const MaxNativeUsers = 100

// ErrTooManyUsers is returned for a user beyond [MaxNativeUsers].
var ErrTooManyUsers = errors.New("the sandbox has as many users as it may have")

// AddNativeUser adds a user. It returns false if a user has this id.
func (l *Ledger) AddNativeUser(ctx context.Context, tenant int64, u NativeUser) (added bool, err error) {
	var row sqlc.AddNativeUserRow
	err = l.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) (err error) {
		if err := q.LockNativeUsers(ctx, tenant); err != nil {
			return err
		}
		if err := q.RemoveEndedNativeUsers(ctx, tenant, string(u.Operator)); err != nil {
			return err
		}
		row, err = q.AddNativeUser(ctx, sqlc.AddNativeUserParams{
			Tenant: tenant, Operator: string(u.Operator), UserID: postgres.UUID(u.ID), MadeWith: u.MadeWith[:], CallbackHost: u.CallbackHost,
			Most: MaxNativeUsers,
		})
		return err
	})
	if err == nil && !row.Added && !row.Taken {
		err = ErrTooManyUsers
	}
	return row.Added, postgres.ClassifyWrite(err, "making the user")
}

// FindNativeUser returns a user, or [ErrNotFound].
func (l *Ledger) FindNativeUser(ctx context.Context, tenant int64, operator payments.Operator, id payments.ID) (NativeUser, error) {
	row, err := l.core.Tenant(tenant).FindNativeUser(ctx, tenant, string(operator), postgres.UUID(id))
	if errors.Is(err, pgx.ErrNoRows) {
		return NativeUser{}, ErrNotFound
	}
	if err != nil {
		return NativeUser{}, postgres.Classify(err, "looking up the user")
	}
	return NativeUser{
		Operator: operator, ID: id, MadeWith: sandboxes.KeyHash(row.MadeWith), SecretHash: row.SecretHash, CallbackHost: row.CallbackHost,
	}, nil
}

// SetNativeUserSecret gives a user a password, or returns [ErrNotFound].
func (l *Ledger) SetNativeUserSecret(ctx context.Context, tenant int64, operator payments.Operator, id payments.ID, hash []byte) error {
	rows, err := l.core.Tenant(tenant).SetNativeUserSecret(ctx, hash, tenant, string(operator), postgres.UUID(id))
	if err == nil && rows == 0 {
		return ErrNotFound
	}
	return postgres.ClassifyWrite(err, "giving the user a password")
}

// NativeToken is an access token of an operator's own API.
type NativeToken struct {
	Hash         sandboxes.KeyHash // of the token
	Operator     payments.Operator
	Product      string
	UserID       string
	MadeWith     sandboxes.KeyHash // the API key; the token is valid as long as the key
	CallbackHost string            // the user's callback host; empty: any that the sandbox allows
	Lifetime     time.Duration     // time until the expiry, in sandbox time
}

// MaxNativeTokens is how many tokens a sandbox may have at one operator.
const MaxNativeTokens = 1000

// NativeTokenKnown is the maximum time for which a process may use a token without looking it up again.
const NativeTokenKnown = 10 * time.Second

// AddNativeToken stores a token. Beyond [MaxNativeTokens], it ends the oldest tokens, after [NativeTokenKnown] unless the
// sandbox is clocked, so that every process refuses a token from the same moment.
func (l *Ledger) AddNativeToken(ctx context.Context, tenant int64, t NativeToken, clocked bool) error {
	known := NativeTokenKnown
	if clocked {
		known = 0 // its tokens are always looked up, and its time may stand
	}
	err := l.core.InTenantTx(ctx, tenant, func(q *sqlc.Queries) error {
		if err := q.SortNothing(ctx); err != nil {
			return err
		}
		return q.AddNativeToken(ctx, sqlc.AddNativeTokenParams{
			Tenant: tenant, Hash: t.Hash[:], Operator: string(t.Operator), Product: t.Product, UserID: t.UserID, MadeWith: t.MadeWith[:],
			CallbackHost: t.CallbackHost, LifetimeMs: postgres.Milliseconds(t.Lifetime), Others: MaxNativeTokens - 1,
			KnownMs: postgres.Milliseconds(known),
		})
	})
	return postgres.ClassifyWrite(err, "storing the token")
}

// ErrTokenExpired is the [ErrNotFound] of a token that has expired in sandbox time.
var ErrTokenExpired = fmt.Errorf("%w: the token has expired", ErrNotFound)

// FindNativeToken returns a valid token, [ErrTokenExpired], or another [ErrNotFound]. The field Lifetime is the time until
// the token expires.
func (l *Ledger) FindNativeToken(
	ctx context.Context, tenant int64, operator payments.Operator, hash sandboxes.KeyHash,
) (NativeToken, error) {
	row, err := l.core.Tenant(tenant).FindNativeToken(ctx, tenant, string(operator), hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return NativeToken{}, ErrNotFound
	}
	if err != nil {
		return NativeToken{}, postgres.Classify(err, "looking up the token")
	}
	if row.RemainsMs <= 0 {
		return NativeToken{}, ErrTokenExpired
	}
	return NativeToken{
		Hash: hash, Operator: operator, Product: row.Product, UserID: row.UserID,
		MadeWith: sandboxes.KeyHash(row.MadeWith), CallbackHost: row.CallbackHost, Lifetime: postgres.FromMilliseconds(row.RemainsMs),
	}, nil
}
