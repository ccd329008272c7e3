package moov

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

// The fields of bodies and of the query, for the description of the API. A field without a mark has the mark of its call.

var (
	tokenQuery = []operatorapi.Field{
		{Name: "index", Optional: true, Max: 18, About: "A counter, which the token has."}, {Name: "username", Max: 32}, {Name: "password", Max: 32},
	}
	tokenFields = []operatorapi.Field{{Name: "key", About: "The token for the header Authorization, and for SOAP. It does not expire."}}

	textOrNumber = []string{"string", "number"}

	referenceField = operatorapi.Field{
		Name: "mrchrefid", Types: textOrNumber, Optional: true, Max: maxReference, About: "The reference of /v1. Without one, it is generated. The bound is assumed.",
	}
	partnerField = operatorapi.Field{Name: "partnermsisdn", Types: textOrNumber, Optional: true, Max: maxText, About: "The number of the merchant. Ignored."}
	debitFields  = []operatorapi.Field{
		{Name: "msisdn", Types: []string{"string", "integer"}, Pattern: `^(228)?[0-9]{8}$`, About: "The payer, with or without 228."},
		{Name: "key", Optional: true, Max: maxText, About: "The name of the merchant at Moov. Ignored."}, referenceField,
		{Name: "mrchname", Optional: true, Max: maxText, About: "Ignored."},
		{Name: "amount", Types: []string{"string", "number"}, Pattern: operatorapi.AmountForm, About: "Whole units, from 1 to 1000000000000."}, partnerField,
	}
	verifyFields = []operatorapi.Field{{Name: "mrchrefid", Types: textOrNumber, Max: maxReference}, partnerField}

	saidFields = []operatorapi.Field{
		{Name: "status", About: "The same as code: clients read one of them."}, {Name: "message"}, {Name: "description"},
		{Name: "mrorrefid", About: "The reference of Moov."}, {Name: "code"}, {Name: "refid", About: "The same as mrorrefid."},
	}
	detailsField = operatorapi.Field{Name: "details", Fields: []operatorapi.Field{
		operatorapi.Field{Name: "pushussd"}.Assumed(), operatorapi.Field{Name: "callback"}.Assumed(), {Name: "amount"}, {Name: "mrchreference"},
		{Name: "mrchname"}, {Name: "msisdn"}, {Name: "mrorreference"}, {Name: "referenceid"},
		{Name: "validationdate", About: "When it ended, in UTC; empty while it is pending."}, {Name: "status"},
	}}
)
