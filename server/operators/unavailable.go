package operators

import (
	"encoding/json"

	"github.com/cauri-dev/cauri/server/payments"
)

// Unavailable is the payload of a collection that ended [payments.ServiceUnavailable] because its operator's API could not
// be used, with the reason where the operator's own payload has a text.
func Unavailable(t *payments.Transaction, why string) json.RawMessage {
	ended := *t
	ended.Status, ended.NativeRaw = payments.ServiceUnavailable, nil
	switch t.Operator {
	case payments.MTN:
		p := newMTNPayload(&ended)
		p.Message = why
		return encode(p)
	case payments.Orange:
		p := newOrangePayload(&ended)
		p.ConfirmTxnMessage = &why
		return encode(p)
	case payments.Moov:
		p := newMoovPayload(&ended)
		p.ResponseMessage = why
		return encode(p)
	case payments.Airtel:
		p := newAirtelPayload(&ended)
		p.Data.Transaction.Message, p.Status.Message = why, why
		return encode(p)
	}
	return nil
}
