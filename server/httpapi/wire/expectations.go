package wire

// EvaluateRequest is the body of POST /v1/expectations/evaluate.
type EvaluateRequest struct {
	_      struct{} `additionalProperties:"true"`
	Expect []any    `json:"expect" minItems:"1" maxItems:"50" example:"[{\"nothingElse\": true}]" doc:"What is expected. All lines are evaluated as of one moment."`
	Since  string   `json:"since,omitempty" pattern:"^TX_[0-9A-HJKMNP-TV-Z]{26}$" patternDescription:"a transaction's id, TX_ with 26 characters behind it" doc:"Only transactions after this one count, and their events and refunds. Left out: all since the last reset."`
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
