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

// exchangeTimeout bounds what is said to an operator in one go: a token, a payment, a question.
const exchangeTimeout = 10 * time.Second

// OperatorAccess is how collections reach the operators' APIs that stores name.
type OperatorAccess struct {
	client *http.Client
	tokens *adapter.Tokens
}

// NewOperatorAccess makes the access to the APIs that stores name, as far as the guard lets it.
func NewOperatorAccess(guard egress.Guard, now func() time.Time) OperatorAccess {
	return OperatorAccess{client: guard.Client(egress.ClientOptions{Timeout: exchangeTimeout, Idle: 256, IdlePerHost: 32}),
		tokens: adapter.NewTokens(now)}
}

// apiFor is the operator's API that the store of a collection names.
func (a OperatorAccess) apiFor(f *ledger.Forward, c sandboxes.OperatorCredentials) adapter.Client {
	return operators.NewClient(f.Transaction.Operator, adapter.Access{
		BaseURL: f.BaseURL, HTTP: a.client, Tokens: a.tokens,
		ClientID: c.ClientID, ClientSecret: c.ClientSecret, SubscriptionKey: c.SubscriptionKey,
	})
}

// credentialsFor are the store's credentials for the operator of a collection, empty where it needs none. It returns an
// [adapter.ErrRefused] where they cannot be used, or are missing.
func credentialsFor(f *ledger.Forward) (sandboxes.OperatorCredentials, error) {
	switch {
	case f.CredentialsWhy != nil:
		return sandboxes.OperatorCredentials{}, adapter.ErrRefused{Why: f.CredentialsWhy.Error()}
	case f.Credentials != nil:
		return *f.Credentials, nil
	case operators.NeedsCredentials(f.Transaction.Operator):
		return sandboxes.OperatorCredentials{}, adapter.ErrRefused{Why: "the store has no credentials for this operator"}
	}
	return sandboxes.OperatorCredentials{}, nil
}
