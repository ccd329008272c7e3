package apidoc

import (
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/proof"
)

// ledgerParameterDescriptions describes the parameters of the list of accounts. [wire.LedgerParameters] reads them.
var ledgerParameterDescriptions = map[string]*huma.Param{
	"limit":  limitParameter("Accounts on a page."),
	"cursor": cursorParameter(),
	"verify": {
		Description: "`full`: a worker verifies the ledger from the first movement on before the answer, for up to 25 seconds.",
		Schema:      &huma.Schema{Type: huma.TypeString, Enum: []any{wire.VerifyFull}},
	},
}

func refineLedgerAccount(fields map[string]*huma.Schema) {
	// The schema is inlined, because a reference cannot be nullable.
	imbalance := *decode.Schemas.Map()["LedgerImbalance"]
	delete(decode.Schemas.Map(), "LedgerImbalance") // no other schema refers to it
	imbalance.Nullable, imbalance.Description = true, fields["imbalance"].Description
	fields["imbalance"] = &imbalance
	fields["kind"].Enum = []any{proof.FloatAccount, proof.TestClientAccount}
	fields["currency"].Enum = anyOf(payments.Currencies)
}

var ListAccounts = Operation{
	ID: "listLedgerAccounts", Method: http.MethodGet, Path: "/v1/ledger", Tag: tagLedger, Summary: "List balances with their proof",
	Description: "The floats and the test clients with what each kind of movement changed their balances by. The balance is the sum of " +
		"`opening`, `adjustments`, `collections`, `refunds` and `disbursements`: their signs say in which direction the money went. All numbers " +
		"of a page are of one moment.\n\n" +
		"Each movement of a balance has a number, without gaps. Workers verify that each balance is the one before, changed by the movement, " +
		"and that the last one is the balance: `verifiedUpTo`. If this is not so, `balanced` is `false`, and `imbalance` says by how much and " +
		"between which numbers.",
	Parameters: describedParameters(decode.LedgerParameters, ledgerParameterDescriptions, []string{"limit", "cursor", "verify"}),
	answers:    []described{{http.StatusOK, "A page.", ledgerAccountListSchema, nil}},
	errors:     []string{"invalid_params", "not_verified"},
	Examples: []Example{{
		name: "first", Summary: "The float", Status: http.StatusOK, Parameters: map[string]any{"limit": 1},
		Answer: exampleAccounts(),
	}},
}

func exampleAccounts() wire.LedgerAccountList {
	return wire.LedgerAccountList{
		Balanced: true, HasMore: true, NextCursor: new("UldGAAAAAAAAAAAAAAAAAHsBqzEwLzR-"),
		Data: []wire.LedgerAccount{view.LedgerAccountOf(&proof.AccountProof{
			Account: proof.Account{Currency: payments.RWF}, Opening: 1_000_000, Collections: 24_625, Refunds: -25_000, Disbursements: -10_000,
			Balance: 989_625, Movements: 5, VerifiedUpTo: 5, VerifiedAt: new(exampleTime.Add(5 * time.Minute)),
		})},
	}
}
