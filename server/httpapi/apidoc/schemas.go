package apidoc

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
)

// componentOf returns a reference to a schema in the registry.
func componentOf(schema *huma.Schema) *huma.Schema {
	for name, s := range decode.Schemas.Map() {
		if s == schema {
			return &huma.Schema{Ref: decode.SchemaPrefix + name}
		}
	}
	panic("a schema is used that is no component")
}

// component registers a schema that is not derived from a struct, and returns a reference to it.
func component(name string, schema *huma.Schema) *huma.Schema {
	decode.Schemas.Map()[name] = schema
	return &huma.Schema{Ref: decode.SchemaPrefix + name}
}

// viewSchema derives the schema of an answer from its struct and returns a reference to it. The function refine sets
// the keywords that do not follow from the Go types of the fields.
func viewSchema[T any](refine func(fields map[string]*huma.Schema)) *huma.Schema {
	schema := decode.Schemas.Schema(reflect.TypeFor[T](), false, "")
	schema.AdditionalProperties = nil // a version of the API may get additional fields
	for _, field := range schema.Properties {
		if field.Type == huma.TypeArray {
			field.Nullable = false // an empty list is [], never null
		}
	}
	refine(schema.Properties)
	return componentOf(schema)
}

func unrefined(map[string]*huma.Schema) {}

var (
	statusSchema = component("Status", &huma.Schema{
		Type: huma.TypeString, Enum: anyOf(payments.Statuses), Description: statusDescription(), Examples: []any{payments.Success},
	})
	ErrorSchema        = viewSchema[wire.Error](refineError)
	paymentSchema      = viewSchema[wire.Payment](refinePayment)
	listSchema         = viewSchema[wire.PaymentList](unrefined)
	disbursementSchema = viewSchema[wire.Disbursement](func(fields map[string]*huma.Schema) {
		fields["status"] = statusRef("`SUCCESS`, `INSUFFICIENT_FUNDS`, `UNKNOWN_MSISDN` or `ACCOUNT_BLOCKED`.")
	})
	metaSchema   = viewSchema[wire.Meta](unrefined)
	healthSchema = viewSchema[wire.Health](unrefined)
	eventSchema  = viewSchema[Event](refineEvent)

	eventSummarySchema  = viewSchema[wire.EventSummary](refineEventSummary)
	eventListSchema     = viewSchema[wire.EventList](unrefined)
	eventDetailSchema   = viewSchema[wire.EventDetail](refineEventDetail)
	comparisonSchema    = viewSchema[wire.Comparison](unrefined)
	webhookSchema       = viewSchema[wire.Webhook](unrefined)
	receiverCheckSchema = viewSchema[wire.ReceiverCheck](unrefined)

	testClientSchema  = viewSchema[wire.TestClient](refineTestClient)
	oneTimeCodeSchema = viewSchema[wire.OneTimeCode](func(fields map[string]*huma.Schema) {
		fields["msisdn"].Pattern, fields["otp"].Pattern = payments.MSISDNPattern, "^[0-9]{6}$"
	})
	testClientListSchema = viewSchema[wire.TestClientList](unrefined)
	resetSchema          = viewSchema[wire.Reset](unrefined)
	faultSchema          = viewSchema[wire.Fault](unrefined)
	faultListSchema      = viewSchema[wire.FaultList](unrefined)
	clockSchema          = viewSchema[wire.Clock](unrefined)
	advancedSchema       = viewSchema[wire.Advanced](unrefined)
	advancingSchema      = viewSchema[wire.Advancing](unrefined)
	promptListSchema     = viewSchema[wire.PromptList](unrefined)

	_                    = viewSchema[wire.TestNumber](refineTestNumber)
	_                    = viewSchema[wire.Market](refineMarket)
	testNumberListSchema = viewSchema[wire.TestNumberList](unrefined)

	_                 = viewSchema[wire.LoggedRequest](refineLoggedRequest)
	requestListSchema = viewSchema[wire.RequestList](unrefined)

	_                       = viewSchema[wire.LedgerImbalance](unrefined)
	_                       = viewSchema[wire.LedgerAccount](refineLedgerAccount)
	ledgerAccountListSchema = viewSchema[wire.LedgerAccountList](unrefined)
	_                       = viewSchema[wire.Posting](unrefined)
	_                       = viewSchema[wire.LedgerEntry](refineLedgerEntry)
	ledgerEntryListSchema   = viewSchema[wire.LedgerEntryList](unrefined)

	_                        = viewSchema[wire.LineResult](unrefined)
	evaluationSchema         = viewSchema[wire.Evaluation](unrefined)
	consoleLinkSchema        = viewSchema[wire.ConsoleLink](unrefined)
	_                        = viewSchema[wire.ConsoleSession](unrefined)
	consoleSessionListSchema = viewSchema[wire.ConsoleSessionList](unrefined)

	streamEntrySchema = viewSchema[wire.StreamEntry](unrefined)

	documentSchema = &huma.Schema{Type: huma.TypeObject, Description: "An OpenAPI 3.1 document.", AdditionalProperties: true}
)

func refinePayment(fields map[string]*huma.Schema) {
	fields["status"] = statusRef(fields["status"].Description)
	fields["operator"].Enum = anyOf(payments.Operators)
	fields["country"].Enum = anyOf(payments.Countries)
	fields["msisdn"].Pattern = payments.MSISDNPattern
	fields["scenario"].Enum = append(anyOf(payments.Scenarios), nil)
	fields["raw"] = rawSchema(fields["raw"].Description)
}

func refineError(fields map[string]*huma.Schema) {
	detail := fields["detail"]
	detail.Nullable = true
	detail.Properties = map[string]*huma.Schema{
		"fieldErrors": {
			Type: huma.TypeObject, Description: "What is wrong with each field or parameter.",
			AdditionalProperties: &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
		},
		"status":              statusRef("The payment's outcome."),
		"refundable":          {Type: huma.TypeInteger, Format: "int64", Description: "What is left to refund."},
		"field":               {Type: huma.TypeString, Description: "The field of the SandboxEnvironment to set."},
		"name":                {Type: huma.TypeString, Description: "The test client's name."},
		"msisdn":              {Type: huma.TypeString, Description: "The test client's number."},
		"source":              {Type: huma.TypeString, Description: "Where the test client comes from."},
		"limit":               {Type: huma.TypeInteger, Format: "int64", Description: "How many test clients the sandbox may have."},
		"now":                 {Type: huma.TypeString, Format: "date-time", Description: "Sandbox time."},
		"target":              {Type: huma.TypeString, Format: "date-time", Description: "Where the clock is being advanced to."},
		"monthlyTransactions": {Type: huma.TypeInteger, Format: "int64", Description: "The sandbox's quota."},
	}
}

func statusRef(description string) *huma.Schema {
	return &huma.Schema{Ref: statusSchema.Ref, Description: description}
}

// rawSchema returns the schema of an operator's own payload: any object, or null.
func rawSchema(description string) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Nullable: true, Description: description, AdditionalProperties: true,
		Properties: map[string]*huma.Schema{"_simulated": {Type: huma.TypeBoolean}},
	}
}

func anyOf[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }
