package httpapi

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/httpfront"
)

// answered returns an answer with a view as its JSON body.
func answered(status int, view any) httpfront.Answer {
	return httpfront.Answer{Status: status, Body: jsonBody{view}}
}

// jsonBody is a view, encoded as JSON. It implements [httpfront.Body].
type jsonBody struct{ view any }

// ContentType implements [httpfront.Body].
func (jsonBody) ContentType() string { return "application/json" }

// Append implements [httpfront.Body].
func (b jsonBody) Append(text []byte) ([]byte, error) { return wire.Append(text, b.view) }

// csvBody is a table in CSV. It implements [httpfront.Body].
type csvBody []byte

// ContentType implements [httpfront.Body].
func (csvBody) ContentType() string { return "text/csv; charset=utf-8; header=present" }

// Append implements [httpfront.Body].
func (b csvBody) Append(text []byte) ([]byte, error) { return append(text, b...), nil }
