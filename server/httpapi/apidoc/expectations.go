package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// EvaluateExpectations describes the evaluation of an expectation's lines.
var EvaluateExpectations = Operation{
	ID: "evaluateExpectations", Method: http.MethodPost, Path: "/v1/expectations/evaluate", Tag: tagExpectations,
	Summary: "Evaluate expectations",
	Description: "Says of each line whether the sandbox meets it at this moment: how many transactions and events there are, what the balances " +
		"are, and that nothing else happened. Nothing is recorded. A test repeats the request until `met` is true; `cauri expect` does so, and an " +
		"Expectation resource is evaluated by Cauri itself.",
	Body:    describedEvaluate(),
	answers: []described{{http.StatusOK, "The result of each line.", evaluationSchema, nil}},
	errors:  []string{"too_many_rows"},
	Examples: []Example{{
		name: "paidOnce", Summary: "An order is to be paid once, and is not paid yet", Status: http.StatusOK, Body: `{
  "expect": [
    {"transactions": {"where": {"orderRef": "order-1042", "type": "collection", "status": "SUCCESS"}, "count": 1}},
    {"events": {"where": {"orderRef": "order-1042"}, "state": "delivered", "count": ">=1", "maxAttempts": 3}},
    {"refunds": {"of": "order-1042", "total": 0}},
    {"nothingElse": true}
  ]
}`, Answer: view.EvaluationOf(&sandboxes.Sandbox{}, exampleLines, &observations.Observed{
			Lines: []expectations.Observation{{}, {}, {Amount: new(int64(0))}, {}}, At: exampleTime,
		}),
	}},
}

var exampleLines = func() []expectations.Line {
	lines, err := expectations.Parse([]byte(`[
		{"transactions":{"where":{"orderRef":"order-1042","type":"collection","status":"SUCCESS"},"count":1}},
		{"events":{"where":{"orderRef":"order-1042"},"state":"delivered","count":">=1","maxAttempts":3}},
		{"refunds":{"of":"order-1042","total":0}},
		{"nothingElse":true}]`))
	if err != nil {
		panic(err)
	}
	return lines
}()

// describedEvaluate returns the schema of the body. It includes the schema of the lines, which package expectations
// validates.
func describedEvaluate() *huma.Schema {
	schema := decode.EvaluateExpectations.Schema
	schema.Properties["expect"].Items = component("ExpectationLine", expectationLine())
	return schema
}

func expectationLine() *huma.Schema {
	where := whereFields()
	events := whereFields()
	events["event"] = &huma.Schema{Type: huma.TypeString, Enum: anyOf(expectations.EventNames), Description: "The event's name."}
	count := &huma.Schema{
		Description: "A number up to 9999, or a range.",
		OneOf: []*huma.Schema{
			{Type: huma.TypeInteger, Minimum: new(0.0), Maximum: new(float64(expectations.MaxCount))},
			{Type: huma.TypeString, Pattern: `^(([<>]=)?[0-9]{1,4}|[0-9]{1,4}\.\.[0-9]{1,4})$`},
		},
		Examples: []any{">=1"},
	}
	amount := &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(0.0), Maximum: new(float64(payments.MaxBalance))}
	number := &huma.Schema{Type: huma.TypeString, Pattern: payments.MSISDNPattern}
	return &huma.Schema{
		Type: huma.TypeObject, Description: "One thing that is expected: exactly one of the fields.", AdditionalProperties: false,
		MinProperties: new(1), MaxProperties: new(1),
		Properties: map[string]*huma.Schema{
			"transactions": strict("A number of transactions.", []string{"count"}, map[string]*huma.Schema{
				"where": strict("Which of them.", nil, where), "count": count,
			}),
			"events": strict("A number of events.", []string{"count"}, map[string]*huma.Schema{
				"where": strict("Which of them, by their transactions.", nil, events), "count": count,
				"state": {Type: huma.TypeString, Enum: anyOf(expectations.EventStates), Description: "Of the events that are counted. Left out: any."},
				"maxAttempts": {
					Type: huma.TypeInteger, Minimum: new(0.0), Maximum: new(float64(expectations.MaxCount)), Description: "The most attempts of each event.",
				},
			}),
			"float": strict("The merchant's balance.", []string{"currency", "equals"}, map[string]*huma.Schema{
				"currency": {Type: huma.TypeString, Examples: []any{"RWF"}}, "equals": amount,
			}),
			"testClient": strict("The balance of a test client.", []string{"msisdn", "balance"}, map[string]*huma.Schema{
				"msisdn": number, "balance": amount,
			}),
			"refunds": strict("The sum of the successful refunds of an order.", []string{"of", "total"}, map[string]*huma.Schema{
				"of": {Type: huma.TypeString, Description: "The order."}, "total": amount,
			}),
			"nothingElse": {Type: huma.TypeBoolean, Enum: []any{true}, Description: "There is no transaction that no other line counts."},
		},
	}
}

func strict(description string, required []string, fields map[string]*huma.Schema) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Description: description, Required: required, Properties: fields, AdditionalProperties: false,
	}
}

func whereFields() map[string]*huma.Schema {
	text := func() *huma.Schema { return &huma.Schema{Type: huma.TypeString, MinLength: new(1)} }
	at := func(description string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Format: "date-time", Description: description}
	}
	return map[string]*huma.Schema{
		"orderRef": text(), "reference": text(), "application": text(),
		"type":          {Type: huma.TypeString, Enum: anyOf(payments.Types)},
		"status":        statusRef("The transaction's status."),
		"operator":      {Type: huma.TypeString, Enum: anyOf(payments.Operators)},
		"country":       {Type: huma.TypeString, Enum: anyOf(payments.Countries)},
		"msisdn":        {Type: huma.TypeString, Pattern: payments.MSISDNPattern},
		"createdAfter":  at("Created at this time or later, in sandbox time."),
		"createdBefore": at("Created before this time, which is excluded, in sandbox time."),
	}
}
