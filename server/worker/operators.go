package worker

import (
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// exchangeTimeout bounds all requests of one exchange with an operator: token, payment and status.
const exchangeTimeout = 10 * time.Second

// OperatorAccess connects to the operators' APIs in the settings of stores.
type OperatorAccess struct {
	client *http.Client
	tokens *adapter.Tokens
}

// NewOperatorAccess returns the access to the operators' APIs. It connects only to addresses that guard allows.
func NewOperatorAccess(guard egress.Guard, now func() time.Time) OperatorAccess {
	return OperatorAccess{client: guard.Client(egress.ClientOptions{Timeout: exchangeTimeout, Idle: 256, IdlePerHost: 32}),
		tokens: adapter.NewTokens(now)}
}

// apiFor returns the client of the operator's API in the settings of a collection's store.
func (a OperatorAccess) apiFor(f *ledger.Forward, c sandboxes.OperatorCredentials) adapter.Client {
	return operators.NewClient(f.Transaction.Operator, adapter.Access{
		BaseURL: f.BaseURL, HTTP: a.client, Tokens: a.tokens,
		ClientID: c.ClientID, ClientSecret: c.ClientSecret, SubscriptionKey: c.SubscriptionKey, MerchantKey: c.MerchantKey,
		ShortCode: c.ShortCode, Passkey: c.Passkey,
	})
}

// credentialsFor returns the store's credentials for the operator of a collection. They are empty if the operator needs
// none. If they are missing or unusable, credentialsFor returns an [adapter.ErrRefused].
func credentialsFor(f *ledger.Forward) (sandboxes.OperatorCredentials, error) {
	switch {
	case f.CredentialsReason != nil:
		return sandboxes.OperatorCredentials{}, adapter.ErrRefused{Reason: f.CredentialsReason.Error()}
	case f.Credentials != nil:
		return *f.Credentials, nil
	case operators.NeedsCredentials(f.Transaction.Operator):
		return sandboxes.OperatorCredentials{}, adapter.ErrRefused{Reason: "the store has no credentials for this operator"}
	}
	return sandboxes.OperatorCredentials{}, nil
}
