package httpapi

import (
	"github.com/cauri-dev/cauri/server/exchange"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// answered returns an answer with a view as its JSON body.
func answered(status int, view any) exchange.Answer {
	return exchange.Answer{Status: status, Body: jsonBody{view}}
}

// jsonBody is a view, encoded as JSON. It implements [exchange.Body].
type jsonBody struct{ view any }

// ContentType implements [exchange.Body].
func (jsonBody) ContentType() string { return "application/json" }

// Append implements [exchange.Body].
func (b jsonBody) Append(text []byte) ([]byte, error) { return wire.Append(text, b.view) }

// csvBody is a table in CSV. It implements [exchange.Body].
type csvBody []byte

// ContentType implements [exchange.Body].
func (csvBody) ContentType() string { return "text/csv; charset=utf-8; header=present" }

// Append implements [exchange.Body].
func (b csvBody) Append(text []byte) ([]byte, error) { return append(text, b...), nil }
