package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

func refineTestNumber(fields map[string]*huma.Schema) {
	fields["operator"].Enum = anyOf(payments.Operators)
	fields["country"].Enum = anyOf(payments.Countries)
	fields["msisdn"].Pattern = payments.MSISDNPattern
	fields["behavior"].Enum = []any{payments.Approve, payments.Cancel, payments.WrongPIN, payments.Ignore, nil}
	for _, name := range []string{"collectionOutcome", "disbursementOutcome"} {
		fields[name] = statusRef(fields[name].Description)
	}
}

func refineMarket(fields map[string]*huma.Schema) {
	fields["operator"].Enum = anyOf(payments.Operators)
	fields["country"].Enum = anyOf(payments.Countries)
}

var ListTestNumbers = Operation{
	ID: "listTestNumbers", Method: http.MethodGet, Path: "/v1/test_numbers", Tag: tagTestClients, Summary: "List the test numbers",
	Description: "Phone numbers that behave in a certain way without a test client, in every enabled environment of the sandbox. The list " +
		"is empty if the `testNumbers` of the sandbox's resource are `None`.\n\n" +
		"A request to such a number may leave out operator and country. At another operator or in another country the number is unknown: " +
		"`UNKNOWN_MSISDN`. A `scenario` and the environment's limit come first, and a test client with the same number takes its place. A " +
		"test number has no balance and no prompts, and nothing that is sent to it is forwarded to an operator's API. Money comes from it " +
		"and goes to it as with an unregistered wallet.",
	answers: []described{{http.StatusOK, "All of them.", testNumberListSchema, nil}},
	errors:  []string{"invalid_params"},
	Examples: []Example{{
		name: "standard", Summary: "The standard test numbers of one environment", Status: http.StatusOK, Answer: exampleTestNumbers(),
	}},
}

func exampleTestNumbers() (list wire.TestNumberList) {
	for _, n := range operators.TestNumbersOf(payments.MTN, payments.Rwanda) {
		list.Data = append(list.Data, view.TestNumberOf(n))
	}
	list.Environments = []wire.Market{{Operator: string(payments.MTN), Country: string(payments.Rwanda)}}
	return list
}
