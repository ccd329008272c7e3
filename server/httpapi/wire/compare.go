package wire

// CompareRequest is the body of POST /v1/events/{id}/compare. The request log keeps neither body nor body_base64.
type CompareRequest struct {
	_                 struct{} `additionalProperties:"true"`
	Body              *string  `json:"body,omitempty" example:"{\"event\": \"payment.completed\"}" doc:"The body that your receiver verified, if it is UTF-8. Send it or body_base64."`
	BodyBase64        *string  `json:"body_base64,omitempty" pattern:"^[A-Za-z0-9+/]*={0,2}$" patternDescription:"base64" example:"eyJldmVudCI6ICJwYXltZW50LmNvbXBsZXRlZCJ9" doc:"The same in base64, for any bytes."`
	Signature         string   `json:"signature,omitempty" maxLength:"2000" example:"sha256=a070ef949db9f1bda6c8b84fb84c8d2475423112a477c025fdbd3dcc27fdc72b" doc:"X-Service-Signature as it arrived."`
	WebhookSignature  string   `json:"webhook_signature,omitempty" maxLength:"2000" example:"v1,OMMpUdrxC+SBe8NEbks+3Q5w39WMzK6YdrL3Z+ZpuRQ=" doc:"webhook-signature as it arrived."`
	WebhookTimestamp  string   `json:"webhook_timestamp,omitempty" maxLength:"2000" example:"1780061444" doc:"webhook-timestamp as it arrived."`
	ComputedSignature string   `json:"computed_signature,omitempty" maxLength:"2000" example:"sha256=64e832ddea26d2a2a3c0f0c6a5a0e3f0f6b1bfb07cb3a0dd5b2d8a2fd7c7a5b1" doc:"The signature that the code of your receiver computed, for either header."`
	SecretFingerprint string   `json:"secret_fingerprint,omitempty" pattern:"^[0-9a-f]{8}$" patternDescription:"8 hexadecimal digits, the beginning of the SHA-256 of the secret" example:"b293a569" doc:"Fingerprint of the secret that your receiver holds. Never send the secret."`
	VerifiedAt        string   `json:"verified_at,omitempty" format:"date-time" example:"2026-05-31T12:00:00Z" doc:"When your receiver verified, by its own clock (RFC 3339)."`
}

// Comparison is the answer of POST /v1/events/{id}/compare.
type Comparison struct {
	Attempt    *int              `json:"attempt" minimum:"1" doc:"Number of the attempt that the bytes are compared with: the one whose timestamp and bytes fit, or else the last. null if none was signed, and of an operator.callback: the body alone is compared."`
	Same       bool              `json:"same" doc:"Whether your bytes are those that were sent."`
	SentBytes  int               `json:"sentBytes" minimum:"0" doc:"How many bytes were sent."`
	YourBytes  int               `json:"yourBytes" minimum:"0" doc:"How many bytes are yours."`
	Difference *BodyDifference   `json:"difference,omitempty" doc:"Absent if the bytes are the same."`
	Schemes    []SchemeVerified  `json:"schemes" doc:"Both kinds of signature; empty if nothing was signed."`
	Causes     []ComparisonCause `json:"causes" doc:"The likely causes of a refusal, the most likely first. Empty if everything verifies."`
}

// BodyDifference says where two bodies differ.
type BodyDifference struct {
	Offset        int      `json:"offset" minimum:"0" doc:"Of the first byte that differs, counted from 0."`
	ExcerptOffset int      `json:"excerptOffset" minimum:"0" doc:"Where both excerpts begin."`
	SentExcerpt   string   `json:"sentExcerpt" doc:"What was sent around that byte. Bytes that are not UTF-8 are replaced by U+FFFD."`
	YourExcerpt   string   `json:"yourExcerpt" doc:"Your bytes at the same place."`
	MoreBlanks    int      `json:"moreBlanks" doc:"Of rewritten: blanks outside of texts that you have more than were sent."`
	MoreEscapes   int      `json:"moreEscapes" doc:"Of rewritten: characters that are written as an escape, such as \\u00e9, more than were sent."`
	Reordered     bool     `json:"reordered" doc:"Of rewritten: the fields are in another order."`
	Fields        []string `json:"fields" doc:"Of other_values: names of the fields that differ, are missing or were added, at most 100."`
}

// SchemeVerified says whether a kind of signature verifies.
type SchemeVerified struct {
	Header   string `json:"header" enum:"X-Service-Signature,webhook-signature" doc:"The header that has the signature."`
	Verifies bool   `json:"verifies" doc:"Whether it verifies your bytes. What you did not send is taken to be as it was sent."`
}

// ComparisonCause is a likely cause of a refusal.
type ComparisonCause struct {
	Code    string `json:"code" doc:"Machine-readable."`
	Message string `json:"message" doc:"What is wrong, and what to do."`
}
