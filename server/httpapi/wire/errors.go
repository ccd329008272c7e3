package wire

// Error is an error answer: the error body of the contract, with its HTTP status.
type Error struct {
	Status  int            `json:"-"`
	Code    string         `json:"error" doc:"Machine-readable code." example:"invalid_body"`
	Message string         `json:"message" doc:"What is wrong, and what to send instead."`
	Detail  map[string]any `json:"detail" doc:"Structured detail, such as the fields that are wrong."`

	RetryAfter string `json:"-"` // seconds, for the header Retry-After; empty for none
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// FieldErrors maps the fields of a request to messages about them.
type FieldErrors map[string][]string
