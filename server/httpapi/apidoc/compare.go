package apidoc

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cauri-dev/cauri/server/httpapi/decode"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/webhooks"
)

var CompareEvent = Operation{
	ID: "compareEvent", Method: http.MethodPost, Path: "/v1/events/{id}/compare", Tag: tagEvents, Summary: "Compare your bytes with an event",
	Description: "For a receiver that refuses an event: send the body that it verified, and learn the first byte that differs from what was " +
		"sent, whether both signatures verify, and the likely cause. Headers, fingerprint and the signature that its code computed are " +
		"optional. The secret is not needed: never send it.\n\nNothing of the body is stored or logged. The `code` of a cause is one of `" +
		strings.Join(view.ComparisonCauses, "`, `") + "`.",
	Parameters: []*huma.Param{eventIDParameter},
	Body:       decode.CompareEvent.Schema,
	answers:    []described{{http.StatusOK, "The comparison.", comparisonSchema, nil}},
	errors:     []string{"not_found"},
	Examples: []Example{{
		name: "cut", Summary: "A receiver that reads only the beginning of the body", Status: http.StatusOK, Answer: cutComparison(),
		Parameters: map[string]any{"id": webhooks.EventID(settledID)}, Body: `{
  "body": "{\"event\":",
  "secret_fingerprint": "` + exampleFingerprint + `"
}`,
	}},
}

var exampleFingerprint = webhooks.Sign(webhooks.Delivery{Secret: ExampleSecret}).Secrets[0]

// cutComparison compares the failed event with its first bytes.
func cutComparison() wire.Comparison {
	sent, yours := failedEvent().Body, []byte(`{"event":`)
	difference := webhooks.Differ(sent, yours)
	return wire.Comparison{
		Attempt: new(1), SentBytes: len(sent), YourBytes: len(yours), Difference: view.BodyDifferenceOf(difference, sent, yours),
		Schemes: []wire.SchemeVerified{{Header: webhooks.HeaderSignature}, {Header: webhooks.HeaderStandardSignature}},
		Causes:  []wire.ComparisonCause{{Code: string(difference.Cause), Message: difference.Words().String()}},
	}
}
