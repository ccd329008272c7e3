package decode

import (
	"encoding/base64"
	"time"

	"github.com/cauri-dev/cauri/server/httpapi/view"
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// CompareEvent reads the body of POST /v1/events/{id}/compare.
var CompareEvent = newDecoder[wire.CompareRequest]()

// CapturedBody returns the captured body, and the time at which it was verified; zero: not given. Its error is of type [*wire.Error].
func CapturedBody(c *wire.CompareRequest) (body []byte, verifiedAt time.Time, err error) {
	wrong := wire.FieldErrors{}
	switch {
	case (c.Body == nil) == (c.BodyBase64 == nil):
		wrong["body"] = []string{"is required, or body_base64 in its place: send one of them"}
	case c.Body != nil:
		body = []byte(*c.Body)
	default:
		if body, err = base64.StdEncoding.DecodeString(*c.BodyBase64); err != nil {
			wrong["body_base64"] = []string{"must be base64 with its padding (RFC 4648)"}
		}
	}
	var at *time.Time
	if c.VerifiedAt != "" {
		if problem := moment(&at, c.VerifiedAt); problem != "" {
			wrong["verified_at"] = []string{problem}
		}
	}
	if len(wrong) > 0 {
		return nil, verifiedAt, view.InvalidBody(wrong)
	}
	if at != nil {
		verifiedAt = *at
	}
	return body, verifiedAt, nil
}
