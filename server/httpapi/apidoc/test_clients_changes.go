package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// onlyIfAllowed ends the descriptions of the operations that need a permission in spec.api.
const onlyIfAllowed = "\n\nThe SandboxEnvironment has to allow it: otherwise it is refused with `forbidden`, and `detail.field` names the " +
	"field to set."

var CreateTestClient = Operation{
	ID: "createTestClient", Method: http.MethodPost, Path: "/v1/test_clients", Tag: tagTestClients, Summary: "Create a test client",
	Description: "Registers a SIM without a TestClient resource. Its rules and defaults are those of the resource. It belongs to the " +
		"sandbox's data: a reset removes it. If a TestClient resource gets its number, the resource takes over and this SIM is " +
		"deleted.\n\n" +
		"A number that is registered already is refused with `duplicate_msisdn`." + onlyIfAllowed,
	Body:    decode.CreateTestClient.Schema,
	answers: []described{{http.StatusCreated, "The test client was created.", testClientSchema, []string{"Location"}}},
	errors:  []string{"forbidden", "duplicate_msisdn", "too_many_test_clients"},
	Examples: []Example{{
		name: "bob", Summary: "A payer with some money", Status: http.StatusCreated, Answer: view.TestClientOf(exampleAPITestClient(10_000)),
		Body: `{
  "msisdn": "` + exampleAPIMSISDN + `",
  "name": "bob",
  "balance": 10000
}`,
	}},
}

var PatchTestClient = Operation{
	ID: "patchTestClient", Method: http.MethodPatch, Path: "/v1/test_clients/{msisdn}", Tag: tagTestClients, Summary: "Change a test client",
	Description: "A JSON merge patch (RFC 7396) of a test client that was made through the API: `name`, `state`, `balance` and `behavior`. " +
		"What is left out stays, and `null` sets the default. A new `balance` replaces the current one, as an adjustment. The number, the " +
		"operator and the country cannot be changed. The Content-Type may be `application/merge-patch+json` too.\n\n" +
		"The test client of a resource is refused with `managed_by_resource`." + onlyIfAllowed,
	Parameters: []*huma.Param{msisdnParameter},
	Body:       decode.PatchTestClient.Schema,
	answers:    []described{{http.StatusOK, "The test client as it is now.", testClientSchema, nil}},
	errors:     []string{"forbidden", "not_found", "invalid_params", "managed_by_resource"},
	Examples: []Example{{
		name: "balance", Summary: "Another balance", Status: http.StatusOK, Answer: view.TestClientOf(exampleAPITestClient(25_000)),
		Parameters: map[string]any{"msisdn": exampleAPIMSISDN}, Body: `{
  "balance": 25000
}`,
	}},
}

var DeleteTestClient = Operation{
	ID: "deleteTestClient", Method: http.MethodDelete, Path: "/v1/test_clients/{msisdn}", Tag: tagTestClients, Summary: "Delete a test client",
	Description: "Deletes a test client that was made through the API. Payments that wait for its answer end `UNKNOWN_MSISDN` when they " +
		"settle, and `TIMEOUT` when they expire first.\n\n" +
		"The test client of a resource is refused with `managed_by_resource`." + onlyIfAllowed,
	Parameters: []*huma.Param{msisdnParameter},
	answers:    []described{{http.StatusNoContent, "The test client is deleted.", nil, nil}},
	errors:     []string{"forbidden", "not_found", "invalid_params", "managed_by_resource"},
	Examples: []Example{{
		name: "bob", Summary: "A test client that was made through the API", Status: http.StatusNoContent,
		Parameters: map[string]any{"msisdn": exampleAPIMSISDN},
	}},
}

var ResetSandbox = Operation{
	ID: "resetSandbox", Method: http.MethodPost, Path: "/v1/reset", Tag: tagTestClients, Summary: "Reset the sandbox",
	Description: "Empties the sandbox at once, as a new value of `spec.reset` does. Transactions, events and test clients that were made " +
		"through the API are deleted, and nothing of them is settled or sent any more. Floats and the test clients of resources have their " +
		"opening balances. The quota starts again. Ids, keys and configuration stay.\n\nAt most five resets in a second are carried out. No body is needed." + onlyIfAllowed,
	answers: []described{{http.StatusOK, "The sandbox is empty.", resetSchema, nil}},
	errors:  []string{"forbidden", "too_many_resets"},
	Examples: []Example{{
		name: "reset", Summary: "Begin again", Status: http.StatusOK, Answer: wire.Reset{OrganizationID: exampleOrganization},
	}},
}

// exampleAPIMSISDN is the number of the example test client that is added through the API.
const exampleAPIMSISDN = "+250788654321"

func exampleAPITestClient(balance int64) *ledger.TestClient {
	return &ledger.TestClient{Name: "bob", Source: sandboxes.SourceAPI, SIM: payments.SIM{
		MSISDN: exampleAPIMSISDN, Operator: payments.MTN, Country: payments.Rwanda, Behavior: payments.Approve, Balance: balance,
	}}
}
