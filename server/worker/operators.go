package worker

import (
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// exchangeTimeout bounds what is said to an operator in one go: a token, a payment, a question.
const exchangeTimeout = 10 * time.Second

// OperatorAccess is how collections reach the operators' APIs.
type OperatorAccess struct {
	simulator func(namespace, sandbox string, operator payments.Operator) string
	trusted   *http.Client // goes to the simulator only
	guarded   *http.Client // goes where stores say
	tokens    *operators.Tokens
}

// NewOperatorAccess makes the access to the APIs that stores name, as far as the guard lets it, and to the simulator, whose
// address is the platform's own and needs no guard. The function simulator tells the base URL of a sandbox's operator there.
func NewOperatorAccess(guard webhooks.Guard, simulator func(namespace, sandbox string, operator payments.Operator) string, now func() time.Time) OperatorAccess {
	return OperatorAccess{
		simulator: simulator,
		trusted:   webhooks.Unguarded(exchangeTimeout),
		guarded:   guard.Client(exchangeTimeout),
		tokens:    operators.NewTokens(now),
	}
}

// anybody are the credentials with which a store that has none of its own comes to the simulator.
const anybody = "cauri"

// apiFor is the operator's API as the store of a collection has access to it. It returns an [operators.ErrRefused] where it
// has none.
func (a OperatorAccess) apiFor(f *store.Forward) (operators.API, error) {
	access := operators.Access{
		BaseURL: f.BaseURL, HTTP: a.guarded, Tokens: a.tokens,
		ClientID: anybody, ClientSecret: anybody, SubscriptionKey: anybody,
	}
	if f.BaseURL == "" {
		access.BaseURL, access.HTTP = a.simulator(f.Namespace, f.Sandbox, f.Transaction.Operator), a.trusted
	}
	switch c := f.Credentials; {
	case f.CredentialsWhy != nil:
		return nil, operators.ErrRefused{Why: f.CredentialsWhy.Error()}
	case c != nil:
		access.ClientID, access.ClientSecret, access.SubscriptionKey = c.ClientID, c.ClientSecret, c.SubscriptionKey
	case f.Transaction.Operator == payments.Airtel:
		return nil, operators.ErrRefused{Why: "the store has no credentials for this operator"}
	}
	return operators.NewAPI(f.Transaction.Operator, access), nil
}
