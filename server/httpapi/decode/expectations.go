package decode

import (
	"encoding/json"
	"errors"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// EvaluateExpectations reads the body of POST /v1/expectations/evaluate.
var EvaluateExpectations = newDecoder[wire.EvaluateRequest]()

// ExpectedLines returns the lines, and the transaction after which transactions count; nil means that all count. Its error
// has the type [*wire.Error].
func ExpectedLines(sandbox *sandboxes.Sandbox, r *wire.EvaluateRequest) (lines []expectations.Line, since *payments.ID, err error) {
	text, err := json.Marshal(r.Expect)
	if err != nil {
		return nil, nil, err
	}
	lines, err = expectations.ParseIn(sandbox.Known, text)
	var problems expectations.Problems
	if errors.As(err, &problems) {
		wrong := wire.FieldErrors{}
		for _, p := range problems {
			wrong[p.Field] = append(wrong[p.Field], p.Message)
		}
		return nil, nil, view.InvalidBody(wrong)
	}
	if err == nil && r.Since != "" {
		id, err := payments.ParseID(r.Since)
		if err != nil {
			return nil, nil, view.InvalidField("since", "must be a transaction's id, TX_ with 26 characters behind it")
		}
		since = &id
	}
	return lines, since, err
}
