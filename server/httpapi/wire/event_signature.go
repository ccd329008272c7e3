package wire

// EventSignature explains how an attempt to deliver an event was signed.
type EventSignature struct {
	Attempt int               `json:"attempt" minimum:"1" doc:"Number of the attempt that this is about."`
	Bytes   int               `json:"bytes" minimum:"0" doc:"Bytes of the body that were signed. A receiver takes them as they arrived, before anything parses them."`
	SHA256  string            `json:"sha256" doc:"SHA-256 of these bytes in hexadecimal digits. That of the bytes that the receiver verifies has to be the same."`
	Headers []EventHeader     `json:"headers" doc:"The headers of the attempt, but for User-Agent and those that every HTTP request has."`
	Schemes []SignatureScheme `json:"schemes" doc:"Both kinds of signature. A receiver verifies at least one of them."`
}

// EventHeader is a header of a delivery.
type EventHeader struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SignatureScheme is a kind of signature.
type SignatureScheme struct {
	Header       string               `json:"header" enum:"X-Service-Signature,webhook-signature" doc:"The header that has the signature."`
	Algorithm    string               `json:"algorithm" enum:"HMAC-SHA256"`
	Key          string               `json:"key" doc:"What of the signing secret is the key, in words."`
	SignedPrefix string               `json:"signedPrefix" doc:"The text that precedes the body in what is signed: <id>.<timestamp>. for webhook-signature; empty: the body alone is signed."`
	Encoding     string               `json:"encoding" enum:"hex,base64" doc:"How the HMAC is written behind the prefix of the value."`
	Signatures   []SignatureOfASecret `json:"signatures" doc:"One for each secret that signed, the current one first."`
}

// SignatureOfASecret is a signature by one secret.
type SignatureOfASecret struct {
	Header            string `json:"header" doc:"The header that has it."`
	Value             string `json:"value" doc:"As in the header: sha256= or v1, and the HMAC."`
	SecretFingerprint string `json:"secretFingerprint" pattern:"^[0-9a-f]{8}$" doc:"Fingerprint of the secret: the first 8 hexadecimal digits of the SHA-256 of its text."`
}
