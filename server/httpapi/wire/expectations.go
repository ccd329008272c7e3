package wire

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/ledger/observations"
	"github.com/cauri-dev/cauri/server/payments"
)

// EvaluateRequest is the body of POST /v1/expectations/evaluate.
type EvaluateRequest struct {
	_      struct{} `additionalProperties:"true"`
	Expect []any    `json:"expect" minItems:"1" maxItems:"50" example:"[{\"nothingElse\": true}]" doc:"What is expected. All lines are evaluated as of one moment."`
	Since  string   `json:"since,omitempty" pattern:"^TX_[0-9A-HJKMNP-TV-Z]{26}$" patternDescription:"a transaction's id, TX_ with 26 characters behind it" doc:"Only transactions after this one count, and their events and refunds. Left out: all since the last reset."`
}

// EvaluateExpectations reads the body of POST /v1/expectations/evaluate.
var EvaluateExpectations = newDecoder[EvaluateRequest]()

// ExpectedLines returns the lines, and the transaction after which transactions count; nil means that all count. Its error
// has the type [*Error].
func ExpectedLines(r *EvaluateRequest) (lines []expectations.Line, since *payments.ID, err error) {
	text, err := json.Marshal(r.Expect)
	if err != nil {
		return nil, nil, err
	}
	lines, err = expectations.Parse(text)
	var problems expectations.Problems
	if errors.As(err, &problems) {
		wrong := FieldErrors{}
		for _, p := range problems {
			wrong[p.Field] = append(wrong[p.Field], p.Message)
		}
		return nil, nil, InvalidBody(wrong)
	}
	if err == nil && r.Since != "" {
		id, err := payments.ParseID(r.Since)
		if err != nil {
			return nil, nil, InvalidField("since", "must be a transaction's id, TX_ with 26 characters behind it")
		}
		since = &id
	}
	return lines, since, err
}

// Evaluation is the answer of POST /v1/expectations/evaluate.
type Evaluation struct {
	Met               bool         `json:"met" doc:"All lines are met at this moment."`
	Results           []LineResult `json:"results" doc:"One for each line, in the order of the request."`
	NewestTransaction *string      `json:"newestTransaction" doc:"The newest transaction at this moment; null: there is none. Sent as since in later requests, only what came after counts."`
	Epoch             string       `json:"epoch" doc:"Changes with each reset of the sandbox, and never otherwise: a test that repeats the request sees that it has to fail." example:"mS1nJwCQ9yM"`
	EvaluatedAt       string       `json:"evaluatedAt" format:"date-time" doc:"In real time. ISO 8601, UTC."`
}

// LineResult is the result of a line.
type LineResult struct {
	Line     string `json:"line" doc:"The line in words."`
	Met      bool   `json:"met"`
	Exceeded bool   `json:"exceeded" doc:"The line is not met and cannot be met any more, since what it counts only grows."`
	Observed string `json:"observed" doc:"What was found, in words."`
}

// EvaluationOf returns the view of an evaluation.
func EvaluationOf(lines []expectations.Line, seen *observations.Observed) Evaluation {
	e := Evaluation{
		Met: true, Results: make([]LineResult, len(lines)), Epoch: epochOf(seen.Tenant), EvaluatedAt: payments.FormatTime(seen.At),
	}
	for i := range lines {
		r := expectations.Check(&lines[i], &seen.Lines[i])
		e.Results[i] = LineResult{Line: r.Line, Met: r.Met, Exceeded: r.Never, Observed: r.Observed}
		e.Met = e.Met && r.Met
	}
	if seen.Newest != nil {
		e.NewestTransaction = new(seen.Newest.String())
	}
	return e
}

// epochOf returns a text for a tenant number. The number itself would invite clients to compare epochs by size.
func epochOf(tenant int64) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte("epoch"), uint64(tenant)))
	return base64.RawURLEncoding.EncodeToString(sum[:8])
}

// TooManyRows is 422 for lines whose evaluation takes longer than the statement timeout.
func TooManyRows() *Error {
	return &Error{Status: http.StatusUnprocessableEntity, Code: "too_many_rows", Message: expectations.UnreadableMessage}
}
