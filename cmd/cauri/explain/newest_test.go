package explain

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// A receiver that refused the signature before, and has no such path now, has no mistake in its signature any more.
func TestTheNewestAnswerDecides(t *testing.T) {
	t.Parallel()
	x := &Explainer{Secrets: map[string]string{SigningSecret: "whsec_dGVzdA=="}}
	event := &wire.EventDetail{Body: `{"event":"payment.completed"}`}
	mac := hmac.New(sha256.New, nil)
	mac.Write([]byte(event.Body))
	refused := wire.DeliveryAttempt{ResponseStatus: new(401), ResponseBody: "expected " + hex.EncodeToString(mac.Sum(nil))}
	missing := wire.DeliveryAttempt{ResponseStatus: new(404), ResponseBody: "not found"}
	event.Attempts = []wire.DeliveryAttempt{missing, refused}
	if d := x.answeredSignature(event); d == nil {
		t.Error("the newest answer has a signature, which is not explained")
	}
	event.Attempts = []wire.DeliveryAttempt{refused, missing}
	if d := x.answeredSignature(event); d != nil {
		t.Errorf("the cause is %s, although the receiver answers 404 now", d.Cause)
	}
}
