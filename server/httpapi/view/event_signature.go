package view

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// schemeWords says in words what of the secret is the key of a scheme, and how its signatures are written.
var schemeWords = map[string]struct{ key, encoding string }{
	webhooks.HeaderSignature: {"The text of the secret, with its whsec_.", "hex"},
	webhooks.HeaderStandardSignature: {
		"What follows whsec_ in the secret, decoded from base64. A secret of another form is the key itself.", "base64",
	},
}

// EventSignatureOf returns the view of how an attempt with this number was signed.
func EventSignatureOf(attempt int, e *webhooks.Explanation) *wire.EventSignature {
	signed := e.Schemes[0].Signed
	sum := sha256.Sum256(signed)
	view := &wire.EventSignature{Attempt: attempt, Bytes: len(signed), SHA256: hex.EncodeToString(sum[:])}
	for _, h := range e.Headers {
		view.Headers = append(view.Headers, wire.EventHeader(h))
	}
	for _, scheme := range e.Schemes {
		words := schemeWords[scheme.Header]
		one := wire.SignatureScheme{
			Header: scheme.Header, Algorithm: "HMAC-SHA256", Key: words.key, SignedPrefix: scheme.Before, Encoding: words.encoding,
		}
		for _, signature := range scheme.Signatures {
			one.Signatures = append(one.Signatures, wire.SignatureOfASecret(signature))
		}
		view.Schemes = append(view.Schemes, one)
	}
	return view
}
