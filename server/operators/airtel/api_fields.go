package airtel

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

// The fields of bodies and headers, for the description of the API. A field without a mark has the mark of its call.

const (
	countryHeader  = "X-Country"
	currencyHeader = "X-Currency"

	numberForm   = `^[0-9]{9}([0-9]{3})?$`
	countryForm  = `^[A-Za-z]{2}$`
	currencyForm = `^[A-Za-z]{3}$`
	hexForm      = `^[0-9a-fA-F]{32}$`
)

var (
	countryField  = operatorapi.Field{Name: countryHeader, Pattern: countryForm, About: "The country of an environment of the sandbox."}
	currencyField = operatorapi.Field{Name: currencyHeader, Pattern: currencyForm, About: "Its currency."}

	tokenFields = []operatorapi.Field{
		{Name: "client_id", Optional: true, Pattern: hexForm, About: "Clients may send it and the secret by Basic authentication instead."},
		{Name: "client_secret", Optional: true, Pattern: hexForm},
		{Name: "grant_type", Max: 100, About: "client_credentials"},
	}
	grantFields = []operatorapi.Field{
		{Name: "token_type", Enum: []string{"bearer"}}, {Name: "access_token", Pattern: "^[0-9a-f]{64}$"},
		{Name: "expires_in", Types: []string{"integer", "string"}, About: "180 seconds, of the sandbox's time. A text with the quirk `airtelNumericExpiry: false`."},
	}

	textOrNumber = []string{"string", "number"}

	inside = []operatorapi.Field{
		{Name: "country", Optional: true, Pattern: countryForm}, {Name: "currency", Optional: true, Pattern: currencyForm},
	}
	msisdnField = operatorapi.Field{
		Name: "msisdn", Types: []string{"string", "integer"}, Pattern: numberForm,
		About: "Nine digits without the country code. Twelve with it are taken too, and so is a number.",
	}
	referenceField = operatorapi.Field{
		Name: "reference", Types: textOrNumber, Optional: true, Max: maxReference, About: "Of the order. A number is taken too. The bound is assumed.",
	}.Assumed()
	idField = operatorapi.Field{
		Name: "id", Types: textOrNumber, Max: maxID, About: "The id of what is made, which is the reference of /v1. A number is taken too. The bound is assumed.",
	}.Assumed()
	amountField = operatorapi.Field{
		Name: "amount", Types: []string{"number", "string"}, Pattern: operatorapi.AmountForm, About: "Whole units, from 1 to 1000000000000. A text is taken too.",
	}

	payFields = []operatorapi.Field{
		referenceField, {Name: "subscriber", Fields: append([]operatorapi.Field{msisdnField}, inside...)},
		{Name: "transaction", Fields: append([]operatorapi.Field{amountField, idField}, inside...)},
	}
	payoutFields = []operatorapi.Field{
		{Name: "payee", Fields: []operatorapi.Field{
			msisdnField, {Name: "name", Optional: true, Max: 200, About: "Ignored."},
			{Name: "wallet_type", Optional: true, Max: 20, About: "NORMAL or SALARY. Ignored."},
		}},
		referenceField,
		{Name: "pin", Max: maxPIN, About: "The PIN of the Secret, encrypted with the key of `encryption-keys`, in Base64. The examples read it from `PIN`."},
		{Name: "transaction", Fields: []operatorapi.Field{
			amountField, idField, {Name: "type", Optional: true, Max: 20, About: "B2C or B2B. Ignored."},
		}},
	}
	refundFields = inTransactionField(operatorapi.Field{Name: "airtel_money_id", Max: 100, About: "Of the callback, or of the enquiry."})

	statusField = operatorapi.Field{Name: "status", Fields: []operatorapi.Field{
		{Name: "code"}, {Name: "message"}, {Name: "result_code"}, {Name: "response_code"}, {Name: "success", Types: []string{"boolean"}},
	}}

	stateField     = operatorapi.Field{Name: "status", Enum: []string{succeeded, failed, inProgress, expired}}
	acceptedFields = inTransactionField(operatorapi.Field{Name: "id", About: "That of the request."},
		operatorapi.Field{Name: "status", Enum: []string{"SUCCESS"}})
	enquiryFields = inTransactionField(operatorapi.Field{Name: "airtel_money_id", Optional: true, About: "Only of a success."},
		operatorapi.Field{Name: "id", About: "That of the request."}, operatorapi.Field{Name: "message"}, stateField)
	paidOutFields = inTransactionField(operatorapi.Field{Name: "reference_id"}, operatorapi.Field{Name: "airtel_money_id"},
		operatorapi.Field{Name: "id"}, stateField)
	refundedFields = inTransactionField(operatorapi.Field{Name: "airtel_money_id", About: "Of the refund."},
		operatorapi.Field{Name: "status", Enum: []string{"SUCCESS", failed}})

	keyFields = []operatorapi.Field{
		{Name: "key_id", Types: []string{"integer"}}, {Name: "key", About: "An RSA key of 2048 bits, as SubjectPublicKeyInfo in Base64."},
		{Name: "valid_upto", Pattern: `^\d{2}-\d{2}-\d{4} \d{2}:\d{2}:\d{2}$`},
	}
	balanceFields = []operatorapi.Field{
		{Name: "balance", Pattern: `^[0-9,]+\.00$`}, {Name: "currency"}, {Name: "account_status", Enum: []string{"Active"}},
	}
	userFields = []operatorapi.Field{
		{Name: "first_name"}, {Name: "last_name"}, {Name: "msisdn", Pattern: `^[0-9]{9}$`}, {Name: "grade"},
		{Name: "is_barred", Types: []string{"boolean"}}, {Name: "is_pin_set", Types: []string{"boolean"}},
		{Name: "registration", Fields: []operatorapi.Field{{Name: "status"}}},
	}
)

func inTransactionField(fields ...operatorapi.Field) []operatorapi.Field {
	return []operatorapi.Field{{Name: "transaction", Fields: fields}}
}

func answerFields(data []operatorapi.Field) []operatorapi.Field {
	return []operatorapi.Field{{Name: "data", Fields: data}, statusField}
}
