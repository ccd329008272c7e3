package httpapi

import (
	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// answered returns an answer with a view as its JSON body.
func answered(status int, view any) exchange.Answer {
	return exchange.Answer{Status: status, Body: jsonBody{view}}
}

// jsonBody is a view as JSON. It implements [exchange.Body].
type jsonBody struct{ view any }

// ContentType is its media type.
func (jsonBody) ContentType() string { return "application/json" }

// Append appends the view to a text.
func (b jsonBody) Append(text []byte) ([]byte, error) { return wire.Append(text, b.view) }

// csvBody is a table as CSV. It implements [exchange.Body].
type csvBody wire.CSV

// ContentType is its media type.
func (csvBody) ContentType() string { return "text/csv; charset=utf-8; header=present" }

// Append appends the table to a text.
func (b csvBody) Append(text []byte) ([]byte, error) { return append(text, b...), nil }
