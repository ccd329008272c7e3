package webhooks

import "strings"

// Explanation says what a receiver got, and step by step how it verifies that. It holds no secret.
type Explanation struct {
	Headers []HeaderField // but for User-Agent
	Body    []byte        // as it was sent
	Schemes []Scheme
}

// Scheme is a kind of signature: an HMAC-SHA256.
type Scheme struct {
	Header     string // the name of its header
	Before     string // the signed text that precedes Signed
	Signed     []byte // the body that was signed. A fault may have sent only its beginning
	Signatures []SchemeSignature
}

// SchemeSignature is one signature of a scheme.
type SchemeSignature struct {
	Header            string // the name of its header
	Value             string // as in the header, with its prefix
	SecretFingerprint string // of the secret that is the key
}

// Explain explains a delivery that was signed so. The delivery needs neither URL nor secret. A fault of the delivery
// changes the message as it changed the one that was sent.
func Explain(d Delivery, signed Signed) Explanation {
	s := withFault(d, d.Fault)
	e := Explanation{Headers: s.headers(&signed), Body: s.sent}
	service := Scheme{Header: HeaderSignature, Signed: s.Body}
	standard := Scheme{Header: HeaderStandardSignature, Signed: s.Body, Before: signedBefore(EventID(d.ID), signed.At)}
	values := strings.Fields(signed.Standard)
	for i, secret := range signed.Secrets {
		switch {
		case i == 0:
			service.Signatures = append(service.Signatures, SchemeSignature{HeaderSignature, signed.Signature, secret})
		case i == 1:
			service.Signatures = append(service.Signatures, SchemeSignature{HeaderPreviousSignature, signed.Previous, secret})
		}
		standard.Signatures = append(standard.Signatures, SchemeSignature{HeaderStandardSignature, values[i], secret})
	}
	e.Schemes = []Scheme{service, standard}
	return e
}
