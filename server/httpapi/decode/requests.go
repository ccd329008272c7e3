package decode

import (
	"github.com/cauri-dev/cauri/server/httpapi/wire"
)

// CreatePayment reads the body of POST /v1/payments.
var CreatePayment = newDecoder[wire.CreatePaymentRequest]()

// CreateRefund reads the body of POST /v1/payments/{id}/refund.
var CreateRefund = newDecoder[wire.RefundRequest]()

// CreateDisbursement reads the body of POST /v1/disbursements.
var CreateDisbursement = newDecoder[wire.DisbursementRequest]()
