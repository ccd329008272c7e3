package apidoc

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

const (
	MediaJSON = "application/json"
	MediaCSV  = "text/csv"
)

// Tags group the operations.
const (
	tagCollections  = "Collections"
	tagPayouts      = "Payouts"
	tagEvents       = "Events"
	tagStream       = "Stream"
	tagTestClients  = "Test clients"
	tagClock        = "Clock"
	tagFaults       = "Faults"
	tagRequests     = "Requests"
	tagExpectations = "Expectations"
	tagLedger       = "Ledger"
	tagConsole      = "Console"
	tagService      = "Service"
	tagWebhooks     = "Webhooks"
)

// NewDocument returns the API's description. The URLs of its servers are relative.
func NewDocument() *huma.OpenAPI {
	d := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Cauri", Version: wire.APIVersion, Description: documentDescription,
			License: &huma.License{Name: "Apache License 2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"},
			Contact: &huma.Contact{Name: "Cauri", URL: "https://github.com/cauri-dev/cauri"},
		},
		Servers:  serversAt("", ""),
		Webhooks: describedWebhooks(),
		Components: &huma.Components{
			Schemas:    decode.Schemas,
			Headers:    responseHeaders,
			Parameters: map[string]*huma.Param{wire.RequestIDHeader: requestIDParameter},
			SecuritySchemes: map[string]*huma.SecurityScheme{BearerScheme: {
				Type: "http", Scheme: "bearer",
				Description: "The sandbox's API key, `api-key` in its Secret. It is a server-side secret: keep it out of browsers and apps.",
			}},
		},
		Security: []map[string][]string{{BearerScheme: {}}},
		Tags: []*huma.Tag{
			{Name: tagCollections, Description: "Money from a customer to the merchant."},
			{Name: tagPayouts, Description: "Money from the merchant to a customer: refunds of a collection, and disbursements to any number."},
			{Name: tagEvents, Description: "What was sent to the merchant, what failed, and sending it again."},
			{Name: tagStream, Description: "What changes in the sandbox, as it happens."},
			{Name: tagTestClients, Description: "The customers' phones: who can pay, acting as the payer, and the test numbers."},
			{Name: tagFaults, Description: "What goes wrong, while the sandbox runs."},
			{Name: tagClock, Description: "The sandbox's time, which a test may move."},
			{Name: tagExpectations, Description: "Whether what happened in the sandbox is what a test expects."},
			{Name: tagRequests, Description: "What your code sent, and what was answered."},
			{Name: tagLedger, Description: "The balances with their proof, and the double entries behind them."},
			{Name: tagConsole, Description: "Who may look at the sandbox in a browser."},
			{Name: tagService, Description: "Version, capabilities and health of the service. No key is needed."},
			{Name: tagWebhooks, Description: "What the service sends to the merchant."},
		},
	}
	for _, o := range Operations {
		d.AddOperation(o.Describe())
	}
	return d
}

const BearerScheme = "bearer"

const documentDescription = "Mobile-money sandboxes: payments that settle, realistic failures, signed webhooks, and balances that are " +
	"always " +
	"exact. No money moves.\n\n" +
	"All amounts are whole units of their currency, written as JSON integers, also where a currency has decimals. Times are ISO 8601 in UTC. " +
	"Unknown fields in requests, and unknown parameters of lists, are ignored, and the header `X-Cauri-Ignored` of the response names them. " +
	"Refused are those that were probably meant as a known one: `orderRef` for `order_ref` in both, and in a list also a field of its rows that is " +
	"no filter, and a name that differs from a filter by two letters at most. Responses may get new fields: ignore those that you do not know.\n\n" +
	"A `reference` is an idempotency key. It is unique in a sandbox, over all types of transaction. The same request with the same " +
	"reference " +
	"returns the transaction as it is now, with the header `Idempotent-Replayed: true`. A different request with the same reference is " +
	"refused " +
	"with `duplicate_reference`. If a response does not arrive, send the same request again.\n\n" +
	"A payment that fails is not an HTTP error: the outcome is the transaction's `status`. Reconcile on `netAmount`, once the status is final."
