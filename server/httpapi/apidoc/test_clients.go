package apidoc

import (
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

var msisdnParameter = &huma.Param{
	Name: "msisdn", In: "path", Required: true, Description: "Number of the test client. Write its `+` as `+` or as `%2B`.",
	Schema: &huma.Schema{Type: huma.TypeString, Pattern: payments.MSISDNPattern},
}

var promptIDParameter = &huma.Param{
	Name: "tx", In: "path", Required: true, Description: "Id of the payment that waits for the answer.", Schema: transactionIDParameter.Schema,
}

var promptAnswerParameter = &huma.Param{
	Name: "answer", In: "path", Required: true, Description: "What the payer does.",
	Schema: oneOf(slices.Sorted(maps.Keys(decode.PromptAnswers))...),
}

// testClientParameterDescriptions describes the parameters of the list of test clients. [wire.TestClientParameters]
// parses these parameters in a request.
var testClientParameterDescriptions = map[string]*huma.Param{
	"limit":    limitParameter("Test clients on a page."),
	"cursor":   cursorParameter(),
	"country":  {Description: "Of this country.", Schema: oneOf(payments.Countries...)},
	"operator": {Description: "Of this operator.", Schema: oneOf(payments.Operators...)},
	"state":    {Description: "In this state.", Schema: oneOf(wire.StateActive, wire.StateBlocked)},
}

var promptParameterDescriptions = map[string]*huma.Param{
	"limit":  limitParameter("Prompts on a page."),
	"cursor": cursorParameter(),
}

func refineTestClient(fields map[string]*huma.Schema) {
	fields["operator"].Enum = anyOf(payments.Operators)
	fields["country"].Enum = anyOf(payments.Countries)
	fields["msisdn"].Pattern = payments.MSISDNPattern
	fields["source"].Enum = []any{sandboxes.SourceResource, sandboxes.SourceAPI}
	fields["state"].Enum = []any{wire.StateActive, wire.StateBlocked}
	behaviors := []any{payments.Approve, payments.Cancel, payments.WrongPIN, payments.Ignore, payments.Manual}
	fields["behavior"].Enum = behaviors
}

var ListTestClients = Operation{
	ID: "listTestClients", Method: http.MethodGet, Path: "/v1/test_clients", Tag: tagTestClients, Summary: "List test clients",
	Description: "The sandbox's SIM registry, ordered by number, in pages: TestClient resources in the cluster, and test clients that were made " +
		"through the API. See `source`.\n\n" +
		"A parameter with an invalid value is refused with `invalid_params`, and so is a misspelled parameter.",
	Parameters: describedParameters(decode.TestClientParameters, testClientParameterDescriptions, []string{"limit", "cursor", "state"}),
	answers:    []described{{http.StatusOK, "A page.", testClientListSchema, nil}},
	errors:     []string{"invalid_params"},
	Examples: []Example{{
		name: "active", Summary: "Who can pay", Status: http.StatusOK, Parameters: map[string]any{"state": wire.StateActive},
		Answer: wire.TestClientList{Data: []wire.TestClient{view.TestClientOf(exampleTestClient())}},
	}},
}

var GetTestClient = Operation{
	ID: "getTestClient", Method: http.MethodGet, Path: "/v1/test_clients/{msisdn}", Tag: tagTestClients, Summary: "Read a test client",
	Description: "A SIM with its current balance.",
	Parameters:  []*huma.Param{msisdnParameter},
	answers:     []described{{http.StatusOK, "The test client.", testClientSchema, nil}},
	errors:      []string{"not_found", "invalid_params"},
	Examples: []Example{{
		name: "alice", Summary: "A test client", Status: http.StatusOK, Answer: view.TestClientOf(exampleTestClient()),
		Parameters: map[string]any{"msisdn": exampleMSISDN},
	}},
}

var ListPrompts = Operation{
	ID: "listPrompts", Method: http.MethodGet, Path: "/v1/test_clients/{msisdn}/prompts", Tag: tagTestClients,
	Summary: "List the prompts of a test client",
	Description: "What the payer's phone would show: the `PENDING` payments of this SIM, oldest first, whatever its `behavior`. Payments " +
		"that are forwarded to an operator's API are not in the list: they are answered there.",
	Parameters: append([]*huma.Param{msisdnParameter}, describedParameters(decode.PromptParameters, promptParameterDescriptions,
		[]string{"limit"})...),
	answers: []described{{http.StatusOK, "A page.", promptListSchema, nil}},
	errors:  []string{"not_found", "invalid_params"},
	Examples: []Example{{
		name: "one", Summary: "One payment waits", Status: http.StatusOK, Parameters: map[string]any{"msisdn": exampleMSISDN},
		Answer: wire.PromptList{Data: []wire.Prompt{view.PromptOf(examplePrompt())}},
	}},
}

var AnswerPrompt = Operation{
	ID: "answerPrompt", Method: http.MethodPost, Path: "/v1/test_clients/{msisdn}/prompts/{tx}/{answer}", Tag: tagTestClients,
	Summary: "Act as the payer",
	Description: "Answers a pending payment as its payer, at once and whatever the test client's `behavior`. As in every settlement, the " +
		"state of the " +
		"SIM decides too. An approved payment ends `SUCCESS`, or `INSUFFICIENT_FUNDS` if the balance is too low now. `cancel` ends it " +
		"`USER_CANCELLED`, and `wrong_pin` ends it `PIN_INVALID`. If the SIM is blocked now, every answer ends it `ACCOUNT_BLOCKED`.\n\n" +
		"A payment is answered once. If its status already is the one that the answer asks for, the response is the payment with the header " +
		"`Idempotent-Replayed: true`. Any other answer is refused with `prompt_closed`. An answer after the payment's expiry ends it `TIMEOUT` " +
		"and is " +
		"refused with `prompt_closed` too.\n\nNo body is needed.",
	Parameters: []*huma.Param{msisdnParameter, promptIDParameter, promptAnswerParameter},
	answers: []described{{
		http.StatusOK, "The payment with its outcome: see `status`.", paymentSchema, []string{"Idempotent-Replayed"},
	}},
	errors: []string{"not_found", "invalid_params", "prompt_closed"},
	Examples: []Example{{
		name: "approve", Summary: "The payer confirms", Status: http.StatusOK, Answer: view.PaymentOf(answeredCollection(), nil),
		Parameters: map[string]any{"msisdn": exampleMSISDN, "tx": pendingCollection().ID.String(), "answer": "approve"},
	}},
}

var StartManual = Operation{
	ID: "startManual", Method: http.MethodPost, Path: "/v1/test_clients/{msisdn}/manual", Tag: tagTestClients,
	Summary: "Answer for a test client for half an hour",
	Description: "For 30 minutes of real time, payments of this SIM wait for an answer as with the behavior `Manual`: by the console, or by " +
		"`POST /v1/test_clients/{msisdn}/prompts/{tx}/{answer}`. Its `behavior` and its resource are not changed; `manualUntil` says until when. Another " +
		"request begins the 30 minutes again. A reset ends them. A payment that waits when they end goes on to wait.\n\nNo body is needed.",
	Parameters: []*huma.Param{msisdnParameter},
	answers:    []described{{http.StatusOK, "The test client as it is now.", testClientSchema, nil}},
	errors:     []string{"not_found", "invalid_params"},
	Examples: []Example{{
		name: "bob", Summary: "Somebody answers for bob", Status: http.StatusOK, Answer: view.TestClientOf(exampleManualClient()),
		Parameters: map[string]any{"msisdn": exampleAPIMSISDN},
	}},
}

var EndManual = Operation{
	ID: "endManual", Method: http.MethodDelete, Path: "/v1/test_clients/{msisdn}/manual", Tag: tagTestClients,
	Summary:     "Let a test client answer by itself again",
	Description: "Its `behavior` decides again. A payment that waits already goes on to wait.",
	Parameters:  []*huma.Param{msisdnParameter},
	answers:     []described{{http.StatusOK, "The test client as it is now.", testClientSchema, nil}},
	errors:      []string{"not_found", "invalid_params"},
	Examples: []Example{{
		name: "bob", Summary: "Bob approves by himself again", Status: http.StatusOK, Answer: view.TestClientOf(exampleAPITestClient(25_000)),
		Parameters: map[string]any{"msisdn": exampleAPIMSISDN},
	}},
}

var GetOneTimeCode = Operation{
	ID: "getOneTimeCode", Method: http.MethodGet, Path: "/v1/test_clients/{msisdn}/otp", Tag: tagTestClients,
	Summary: "Read the one-time code of a number",
	Description: "The code with which a payer confirms an order on the page of an operator that has one, such as Orange's. The code of a test client " +
		"changes with each movement of its balance, so that it pays once. That of the test numbers of the sandbox is always 123456, and so is that of " +
		"an unknown number where the environment passes such numbers through.",
	Parameters: []*huma.Param{msisdnParameter},
	answers:    []described{{http.StatusOK, "The code.", oneTimeCodeSchema, nil}},
	errors:     []string{"not_found", "invalid_params"},
	Examples: []Example{{
		name: "alice", Summary: "The code of a test client", Status: http.StatusOK,
		Answer:     wire.OneTimeCode{MSISDN: exampleMSISDN, OTP: "482913"},
		Parameters: map[string]any{"msisdn": exampleMSISDN},
	}},
}

// exampleManualClient returns a test client while somebody answers.
func exampleManualClient() *ledger.TestClient {
	c := exampleAPITestClient(25_000)
	c.ManualUntil = new(exampleTime.Add(ledger.ManualFor))
	return c
}

// exampleTestClient returns the payer of the examples, with the balance before the
// payment that the example of AnswerPrompt approves.
func exampleTestClient() *ledger.TestClient {
	return &ledger.TestClient{Name: "alice", Source: sandboxes.SourceResource, Prompts: 1, SIM: payments.SIM{
		MSISDN: exampleMSISDN, Operator: payments.MTN, Country: payments.Rwanda, Behavior: payments.Manual, Balance: 60_000,
	}}
}

func examplePrompt() *ledger.Prompt {
	t := pendingCollection()
	return &ledger.Prompt{
		ID: t.ID, Amount: t.Amount, CustomerTotal: t.CustomerTotal(), Currency: t.Currency, Store: t.Store, Reference: t.Reference,
		Description: t.Description, CreatedAt: t.CreatedAt, ExpiresAt: t.CreatedAt.Add(sandboxes.DefaultPendingTimeout),
	}
}

// answeredCollection returns the pending collection of the examples after its success, half a minute later.
func answeredCollection() *payments.Transaction {
	t := exampleTransaction(pendingCollection().ID, payments.Collection, payments.Success, exampleReference, 25_000, exampleTime)
	t.CompletedAt = new(exampleTime.Add(30 * time.Second))
	return &t
}
