package view

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
)

// PromptOf returns the view of a prompt.
func PromptOf(p *ledger.Prompt) wire.Prompt {
	return wire.Prompt{
		ID: p.ID.String(), Amount: p.Amount, CustomerTotal: p.CustomerTotal, Currency: p.Currency, Application: p.Store,
		Reference: p.Reference, Description: p.Description, CreatedAt: payments.FormatTime(p.CreatedAt),
		ExpiresAt: payments.FormatTime(p.ExpiresAt),
	}
}
