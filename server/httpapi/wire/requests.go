package wire

// CreatePaymentRequest is the body of POST /v1/payments.
type CreatePaymentRequest struct {
	_              struct{} `additionalProperties:"true"`
	Amount         int64    `json:"amount" minimum:"1" maximum:"1000000000000" example:"25000" doc:"Gross amount, in whole units of the currency."`
	Currency       string   `json:"currency" pattern:"^[A-Za-z]{3,4}$" patternDescription:"a currency of 3 or 4 letters" example:"RWF" doc:"The environment's currency. FCFA and CFA are taken as XOF."`
	Operator       string   `json:"operator,omitempty" enum:"mtn,orange,moov,airtel,mpesa" example:"mtn" doc:"Detected from the msisdn if it is missing."`
	Country        string   `json:"country,omitempty" pattern:"^[A-Z]{2}$" patternDescription:"an ISO 3166 alpha-2 code in capitals" example:"RW" doc:"Detected from the msisdn if it is missing."`
	MSISDN         string   `json:"msisdn" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788123456" doc:"The payer's number."`
	Reference      string   `json:"reference" minLength:"1" maxLength:"80" example:"SHOP-PAY-20260531120000-0123456789AB" doc:"Idempotency key, unique within the sandbox."`
	Application    string   `json:"application" minLength:"1" maxLength:"80" example:"shop" doc:"Slug of the store."`
	OrderRef       string   `json:"order_ref,omitempty" minLength:"1" maxLength:"120" example:"order-1042" doc:"Groups transactions. The reference if it is missing."`
	OrderURL       *string  `json:"order_url,omitempty" maxLength:"500" format:"uri" example:"https://shop.example/orders/1042" doc:"Absolute http or https URL of the order."`
	IsURLProtected *bool    `json:"is_url_protected,omitempty" doc:"Whether the order's link needs a permission."`
	Description    *string  `json:"description,omitempty" maxLength:"200" example:"Two tickets" doc:"Stored and returned; does not affect the outcome."`
	Scenario       string   `json:"scenario,omitempty" enum:"success,pin_invalid,low_balance,timeout,blocked,cancelled,unknown_msisdn,limit_exceeded,maintenance,duplicate" example:"success" doc:"Forces an outcome."`
}

// RefundRequest is the optional body of POST /v1/payments/{id}/refund.
type RefundRequest struct {
	_           struct{} `additionalProperties:"true"`
	Amount      *int64   `json:"amount,omitempty" minimum:"1" maximum:"1000000000000" example:"5000" null:"to refund everything that is left" doc:"In whole units of the currency. Without it, everything that is left is refunded. It must not be null."`
	Reference   string   `json:"reference,omitempty" minLength:"1" maxLength:"80" example:"SHOP-REF-20260531120000-0123456789AB" doc:"Idempotency key; generated if it is missing."`
	Description *string  `json:"description,omitempty" maxLength:"200" example:"Returned" doc:"Stored and returned; the reason of the refund."`
}

// DisbursementRequest is the body of POST /v1/disbursements.
type DisbursementRequest struct {
	_              struct{} `additionalProperties:"true"`
	Amount         int64    `json:"amount" minimum:"1" maximum:"1000000000000" example:"25000" doc:"In whole units of the currency."`
	Currency       string   `json:"currency" pattern:"^[A-Za-z]{3,4}$" patternDescription:"a currency of 3 or 4 letters" example:"RWF" doc:"The environment's currency. FCFA and CFA are taken as XOF."`
	Operator       string   `json:"operator" enum:"mtn,orange,moov,airtel,mpesa" example:"mtn"`
	Country        string   `json:"country" pattern:"^[A-Z]{2}$" patternDescription:"an ISO 3166 alpha-2 code in capitals" example:"RW"`
	MSISDN         string   `json:"msisdn" pattern:"^\\+[1-9][0-9]{6,14}$" patternDescription:"an E.164 number with its leading +" example:"+250788123456" doc:"The recipient's number."`
	Application    string   `json:"application" minLength:"1" maxLength:"80" example:"shop" doc:"Slug of the store."`
	Reference      string   `json:"reference,omitempty" minLength:"1" maxLength:"80" example:"SHOP-DIS-20260531120000-0123456789AB" doc:"Idempotency key; generated if it is missing."`
	OrderRef       string   `json:"order_ref,omitempty" minLength:"1" maxLength:"120" example:"order-1042" doc:"Groups transactions. The reference if it is missing."`
	OrderURL       *string  `json:"order_url,omitempty" maxLength:"500" format:"uri" example:"https://shop.example/orders/1042" doc:"Absolute http or https URL of the order."`
	IsURLProtected *bool    `json:"is_url_protected,omitempty" doc:"Whether the order's link needs a permission."`
	Description    *string  `json:"description,omitempty" maxLength:"200" example:"Weekly payout" doc:"Stored and returned; does not affect the outcome."`
}
