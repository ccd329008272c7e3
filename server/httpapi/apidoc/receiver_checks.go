package apidoc

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/ledger/receiverchecks"
)

var CreateReceiverCheck = Operation{
	ID: "createReceiverCheck", Method: http.MethodPost, Path: "/v1/receiver_checks", Tag: tagEvents, Summary: "Check the receiver",
	Description: "Sends a fixed battery of genuine and forged events to the sandbox's own webhook URL, and to no other, and gives a letter " +
		"from A to F. The payments of these events do not exist: nothing is recorded and no money moves. A worker runs the check; read it until it is " +
		"`finished`. A sandbox has one check at a time and one a minute, and so has each receiving host. No body is needed.",
	Body: decode.CreateReceiverCheck.Schema, BodyOptional: true,
	answers: []described{{http.StatusAccepted, "The check, which a worker will run.", receiverCheckSchema, nil}},
	errors:  []string{"no_webhook", "too_many_checks"},
	Examples: []Example{{
		name: "check", Summary: "With payments that do not exist", Status: http.StatusAccepted, Answer: exampleCheck(), Body: "{}",
	}},
}

var GetReceiverCheck = Operation{
	ID: "getReceiverCheck", Method: http.MethodGet, Path: "/v1/receiver_checks/{check}", Tag: tagEvents,
	Summary:     "Read a check of the receiver",
	Description: "The report card so far. A line says what was sent, what was expected and what came back, why it matters and how to fix it.",
	Parameters: []*huma.Param{{
		Name: "check", In: "path", Required: true, Description: "Id of the check.",
		Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{exampleCheck().ID}},
	}},
	answers: []described{{http.StatusOK, "The check.", receiverCheckSchema, nil}},
	errors:  []string{"not_found"},
	Examples: []Example{{
		name: "queued", Summary: "One that waits for a worker", Status: http.StatusOK, Answer: exampleCheck(),
		Parameters: map[string]any{"check": exampleCheck().ID},
	}},
}

func exampleCheck() *wire.ReceiverCheck {
	check, err := view.ReceiverCheckOf(&receiverchecks.Check{ID: settledID, RequestedAt: exampleTime})
	if err != nil {
		panic(err)
	}
	return check
}
