package apidoc

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// Event describes the body of an event. Package webhooks builds the body. A test compares the two.
type Event struct {
	Event                 string          `json:"event" enum:"payment.completed,payment.refunded,disbursement.completed" doc:"Branch on it, so that a refund is not read as a payment."`
	TxID                  string          `json:"tx_id" doc:"Transaction id. Match on it."`
	OrgID                 string          `json:"org_id" doc:"The sandbox's organization."`
	EnvID                 string          `json:"env_id" doc:"The environment."`
	Country               string          `json:"country" doc:"ISO 3166 alpha-2."`
	Operator              string          `json:"operator" doc:"mtn, orange, moov, airtel or mpesa."`
	Amount                string          `json:"amount" pattern:"^[0-9]+$" doc:"Gross amount, an integer written as text."`
	Commission            string          `json:"commission" pattern:"^[0-9]+\\.[0-9]{2}$" doc:"With two decimal places, as all amounts that follow."`
	NetAmount             string          `json:"net_amount" pattern:"^[0-9]+\\.[0-9]{2}$" doc:"Reconcile on it."`
	CustomerTotal         string          `json:"customer_total" pattern:"^[0-9]+\\.[0-9]{2}$" doc:"Debited from the payer, or paid to the recipient."`
	MerchantAbsorptionPct int             `json:"merchant_absorption_pct" doc:"Percentage of the commission that the merchant absorbs."`
	MerchantShare         string          `json:"merchant_share" pattern:"^[0-9]+\\.[0-9]{2}$" doc:"Commission that the merchant bears."`
	CustomerShare         string          `json:"customer_share" pattern:"^[0-9]+\\.[0-9]{2}$" doc:"Commission that the customer bears."`
	CommissionMode        string          `json:"commission_mode" enum:"customer,merchant" doc:"Who bears the larger share."`
	Currency              string          `json:"currency" doc:"As sent."`
	MSISDN                string          `json:"msisdn" doc:"The customer's number."`
	Reference             string          `json:"reference" doc:"For your records; match on tx_id."`
	OrderRef              string          `json:"order_ref" doc:"Falls back to the reference."`
	OrderURL              *string         `json:"order_url" doc:"Link to the order."`
	Status                string          `json:"status" doc:"Final. Check it as well as the event's name: a payment that failed is completed too."`
	LatencyMs             int64           `json:"latency_ms" doc:"Simulated operator latency in milliseconds."`
	CreatedAt             string          `json:"created_at" format:"date-time" doc:"ISO 8601, UTC."`
	CompletedAt           string          `json:"completed_at" format:"date-time" doc:"ISO 8601, UTC."`
	Scenario              *string         `json:"scenario" doc:"The forced outcome, null for none."`
	ProviderTxID          string          `json:"provider_tx_id" doc:"The operator's id of the transaction."`
	Description           *string         `json:"description" doc:"As sent."`
	ParentTxID            string          `json:"parent_tx_id,omitempty" doc:"The payment that was refunded; on refunds only."`
	Raw                   json.RawMessage `json:"raw" doc:"The operator-native payload."`
}

func refineEvent(fields map[string]*huma.Schema) {
	fields["status"] = statusRef(fields["status"].Description)
	fields["raw"] = rawSchema(fields["raw"].Description)
}

// ExampleSecret signs the examples, so that a receiver can be tested with them.
const ExampleSecret = "whsec_ZXhhbXBsZS1zZWNyZXQtZm9yLWRvY3VtZW50YXRpb24="

// DescribedEvent is an event as the document shows it.
type DescribedEvent struct {
	summary     string
	Description string
	Transaction *payments.Transaction
}

var Events = []DescribedEvent{
	{"A payment is final", "Sent when a collection reaches a final status: at once, when it settles, or when it expires.",
		settledCollection()},
	{"A refund is final", "Sent when a refund is recorded.", partialRefund()},
	{"A disbursement is final", "Sent when a disbursement is recorded.", paidDisbursement()},
}

const DeliveryDescription = "One event is sent for each transaction that reaches a final status. It is sent at least once. Do not rely " +
	"on the order of events. " +
	"Verify the signature over the exact bytes that you received, before you parse them. Answer 401 if it does not match. " +
	"The body has one blank, after the comma before `raw`, and no other: a JSON library that writes it again gives other bytes."

// describedWebhooks returns the descriptions of the three events.
func describedWebhooks() map[string]*huma.PathItem {
	items := map[string]*huma.PathItem{}
	for _, e := range Events {
		items[e.Transaction.Type.Event()] = &huma.PathItem{Post: e.describe()}
	}
	return items
}

func (e DescribedEvent) describe() *huma.Operation {
	name := e.Transaction.Type.Event()
	body := e.Body()
	schema := &huma.Schema{Ref: eventSchema.Ref, Properties: map[string]*huma.Schema{"event": {Enum: []any{name}}}}
	if e.Transaction.Type == payments.Refund {
		schema.Required = []string{"parent_tx_id"}
	}
	return &huma.Operation{
		OperationID: name, Tags: []string{tagWebhooks}, Summary: e.summary, Description: e.Description + "\n\n" + DeliveryDescription,
		Security: []map[string][]string{}, Parameters: deliveryHeaders(name, webhooks.EventID(e.Transaction.ID), body),
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			MediaJSON: {Schema: schema, Examples: map[string]*huma.Example{name: {Summary: e.summary, Value: json.RawMessage(body)}}},
		}},
		Responses: map[string]*huma.Response{
			"2XX": {Description: "The event is acknowledged."},
			"410": {Description: "The event is not sent again."},
			"default": {Description: "The event is sent again, up to five times with growing intervals. The sandbox can set other intervals, and fewer or no retries. " +
				"Redirects are not followed. `Retry-After` of a 429 or 503 is respected."},
		},
	}
}

// Body returns the body of the event, built by package webhooks.
func (e DescribedEvent) Body() []byte {
	body, err := webhooks.Body(exampleOrganization, e.Transaction, operators.Raw(e.Transaction))
	if err != nil {
		panic(err) // every final transaction has a body
	}
	return body
}

// signaturePattern is the pattern of a hexadecimal signature.
const signaturePattern = "^sha256=[0-9a-f]{64}$"

// deliveryHeaders returns the headers of a delivery. Their examples are the values for this body, sent at the time of
// the examples.
func deliveryHeaders(event, id string, body []byte) []*huma.Param {
	at := exampleTime.Add(10 * time.Minute)
	return []*huma.Param{
		deliveryHeader(webhooks.HeaderEvent, "The event's name, as in the body.", event, ""),
		deliveryHeader(webhooks.HeaderSignature, "HMAC-SHA256 of the body in hex. The key is the signing secret, exactly as it is in the Secret.",
			webhooks.Signature(ExampleSecret, body), signaturePattern),
		{
			Name: webhooks.HeaderPreviousSignature, In: "header",
			Description: "The same with the previous secret, for 24 hours after a rotation. Otherwise absent. Accept a delivery if either header " +
				"matches.",
			Schema: &huma.Schema{Type: huma.TypeString, Pattern: signaturePattern},
		},
		deliveryHeader(webhooks.HeaderDelivery, "The event's id, the same for every attempt. Ignore an id that you have already processed.",
			id, "^evt_[0-9A-Z]+$"),
		deliveryHeader(webhooks.HeaderStandardID, "Standard Webhooks: the event's id.", id, ""),
		deliveryHeader(webhooks.HeaderStandardTimestamp, "Standard Webhooks: when the attempt was made, in seconds since 1970.",
			strconv.FormatInt(at.Unix(), 10), "^[0-9]+$"),
		deliveryHeader(webhooks.HeaderStandardSignature,
			"Standard Webhooks: signatures of id, timestamp and body, with the base64 text after `whsec_` as key. "+
				"After a rotation, signatures with up to three previous secrets follow, separated by spaces, each for 24 hours.",
			webhooks.StandardSignature(ExampleSecret, id, at, body), "^v1,"),
	}
}

func deliveryHeader(name, description, value, pattern string) *huma.Param {
	return &huma.Param{
		Name: name, In: "header", Required: true, Description: description, Example: value,
		Schema: &huma.Schema{Type: huma.TypeString, Pattern: pattern},
	}
}
