package native

import (
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/operators/adapter"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/service"
)

// answerOf converts an answer of an operator's API into one of package httpfront. If a fault truncates the body, an
// answer without a body gets one first.
func answerOf(api *operatorapi.API, answered operatorapi.Answer, who *service.Caller) httpfront.Answer {
	a := httpfront.Answer{Status: answered.Status, Header: answered.Header.Clone()}
	if text, isText := answered.Body.(operatorapi.Text); isText {
		a.Body = body{text.ContentType, []byte(text.Text)}
	} else if answered.Body != nil {
		a.Body = body{api.ContentType, adapter.Encode(answered.Body)}
	} else if who != nil && who.Faults.ToAnswer != nil && who.Faults.ToAnswer.Answer().MalformedBody {
		a.Body = body{api.ContentType, []byte("{}")}
	}
	return a
}

// body is the encoded body of an operator's answer.
type body struct {
	contentType string
	text        []byte
}

// ContentType implements [httpfront.Body].
func (b body) ContentType() string { return b.contentType }

// Append implements [httpfront.Body].
func (b body) Append(text []byte) ([]byte, error) { return append(text, b.text...), nil }
