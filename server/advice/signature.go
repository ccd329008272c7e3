package advice

import "github.com/cauri-dev/cauri/server/webhooks"

// The causes of a signature that does not match. Those of a body that differs are by [webhooks.DifferenceCauses].
const (
	BodyRewritten      Code = "signature.body_rewritten" // parsed and written again
	BodyEmpty          Code = "signature.body_empty"
	BodyCut            Code = "signature.body_cut"
	BodyDecoded        Code = "signature.body_decoded" // another charset, a byte order mark
	BodyEncoded        Code = "signature.body_encoded" // in quotes, in base64, as a form
	BodyBlanks         Code = "signature.body_line_breaks"
	BodyOther          Code = "signature.other_body" // other values, or another event
	OtherSecret        Code = "signature.other_secret"
	EmptySecret        Code = "signature.empty_secret"
	KeyForm            Code = "signature.key_form" // the right secret, decoded or encoded as the other kind of signature wants it
	NoKey              Code = "signature.no_key"
	SignedText         Code = "signature.signed_text" // with a timestamp too much, too few, or in another form
	OtherForm          Code = "signature.other_form"  // the right value, written otherwise
	NoHMAC             Code = "signature.no_hmac"
	OtherTimestamp     Code = "signature.other_timestamp"
	StaleTimestamp     Code = "signature.stale_timestamp"
	OtherSignature     Code = "signature.other_signature"
	ForgedByFault      Code = "signature.forged_by_fault"
	SignatureUnknown   Code = "signature.unknown"
	SignatureVerifies  Code = "signature.verifies" // all that was given is right
	SecretNotCompared  Code = "signature.secret_unknown"
	SignatureNotLogged Code = "signature.not_logged"
)

var signatures = []cause{
	{BodyRewritten, "The body is written again", "The receiver signed other bytes than those that arrived: the same JSON, parsed and written again as %s writes it",
		"Verify the bytes that arrive, before anything parses them.", []any{"JavaScript (JSON.stringify)"}},
	{BodyEmpty, "There is no body", "The receiver signed an empty body: something read it before", "Take the raw body first.", nil},
	{BodyCut, "The body is cut", "The receiver signed only the first %d bytes of the body", "Read the body to its end, without a limit below 64 KiB.", []any{1024}},
	{BodyDecoded, "The body is decoded", "The receiver signed the body in another charset than it came in: %s",
		"Verify the bytes that arrive, before anything decodes them. They are UTF-8.", []any{"as ISO 8859-1"}},
	{BodyEncoded, "The body is encoded", "The receiver signed the body in another encoding: %s", "Verify the bytes that arrive, before anything encodes them.",
		[]any{"in base64"}},
	{BodyBlanks, "Line breaks differ", "The receiver signed a body with other line breaks or blanks at its ends", "Verify the bytes that arrive.", nil},
	{BodyOther, "It is another body", "The receiver signed another body than the one of this event", "Compare it with the event of its X-Service-Delivery.", nil},
	{OtherSecret, "It is another secret", "The receiver signed with another secret: %s", "Give the receiver the webhook-signing-secret of this sandbox, which is " +
		"CAURI_WEBHOOK_SECRET in .env.cauri, and start it again.", []any{"the value of CAURI_API_KEY"}},
	{EmptySecret, "There is no secret", "The receiver signed with an empty secret: the variable that should hold it is not set where the program runs",
		"Set it to the webhook-signing-secret of this sandbox, which is CAURI_WEBHOOK_SECRET in .env.cauri.", nil},
	{KeyForm, "The key has another form", "The receiver has the right secret, and made another key of it: %s",
		"X-Service-Signature takes the whole text of the secret, with its whsec_. webhook-signature takes what follows whsec_, decoded from base64.",
		[]any{"its text without whsec_"}},
	{NoKey, "There is no key", "The receiver computed %s without a key", "Compute the HMAC-SHA256, with the secret as its key.", []any{"the SHA-256 of the body"}},
	{SignedText, "Another text is signed", "The receiver has the right secret and body, and signed another text: %s",
		"X-Service-Signature signs the body alone. webhook-signature signs <webhook-id>.<webhook-timestamp>.<body>.", []any{"the timestamp, a point and the body"}},
	{OtherForm, "It is written otherwise", "The receiver computed the right value, and it is not equal to the header: %s",
		"X-Service-Signature has sha256= and small hexadecimal digits, webhook-signature has v1, and base64. Compare the value that fits the header.",
		[]any{"without sha256= before it"}},
	{NoHMAC, "It is no HMAC-SHA256", "The value is no HMAC-SHA256, which has 32 bytes: 64 hexadecimal digits or 44 characters of base64",
		"Compute the HMAC-SHA256 of the body, with the secret as its key.", nil},
	{OtherTimestamp, "It is another timestamp", "The timestamp is not the one that was sent", "Take webhook-timestamp as it arrived: seconds in real time.", nil},
	{StaleTimestamp, "The timestamp is old", "The receiver verified more than five minutes after the event was signed",
		"Verify when the event arrives, and set the clock of the receiver.", nil},
	{OtherSignature, "It is another signature", "The signature is not the one that was sent", "Compare with the header as it arrived, with its prefix.", nil},
	{ForgedByFault, "A fault forged it", "A fault of the sandbox forged the signature on purpose: a receiver has to refuse it",
		"The receiver is right. Send the event again without the fault.", nil},
	{SecretNotCompared, "Only the secret is left", "Bytes and signatures are those that were sent, so the receiver holds another secret",
		"Compare the fingerprint of its secret with that of the sandbox.", nil},
	{SignatureNotLogged, "No signature is known", "The receiver refuses the event, and its answer does not tell which signature it computed",
		"Let the receiver log or answer the signature that it computed, send the event again, and explain it again.", nil},
	{SignatureUnknown, "The value does not fit", "The receiver most likely holds the secret of another sandbox: no usual mistake with the secrets that are known here gives its value",
		"Give it the webhook-signing-secret of this sandbox. If it has it, it signs other bytes: log the bytes where they are signed, and compare them.", nil},
	{SignatureVerifies, "The signature verifies", "The signature, the body and the timestamp are right", "", nil},
}

// byComparison has the causes by the codes of a comparison with what was sent.
var byComparison = map[string]Code{
	string(webhooks.DifferenceEmpty): BodyEmpty, string(webhooks.DifferenceCut): BodyCut, string(webhooks.DifferenceMark): BodyDecoded,
	string(webhooks.DifferenceBlanks): BodyBlanks, string(webhooks.DifferenceCharset): BodyDecoded,
	string(webhooks.DifferenceEncoded):   BodyEncoded,
	string(webhooks.DifferenceRewritten): BodyRewritten, string(webhooks.DifferenceOtherEvent): BodyOther,
	string(webhooks.DifferenceOtherValues): BodyOther, string(webhooks.DifferenceUnknown): BodyOther,
	"fault": ForgedByFault, "other_secret": OtherSecret, "other_signature": OtherSignature, "other_timestamp": OtherTimestamp,
	"stale_timestamp": StaleTimestamp, "secret_unknown": SecretNotCompared, "no_secret": EmptySecret, "other_key": SignatureUnknown,
	"other_form": OtherForm,
}

// OfComparison returns the code of the cause that a comparison of the API calls so; empty for none.
func OfComparison(code string) Code { return byComparison[code] }
