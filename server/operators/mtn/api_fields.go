package mtn

import "github.com/cauri-dev/cauri/server/operators/operatorapi"

// The fields of bodies and headers, for the description of the API. A field without a mark has the mark of its call.

const (
	uuidForm = `^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$`
	hexForm  = `^[0-9a-f]{32}$`
)

var (
	referenceField = operatorapi.Field{Name: referenceHeader, Pattern: uuidForm, About: "A UUID of version 4, a new one for each request: the id of what is made."}
	targetField    = operatorapi.Field{
		Name: targetHeader, Enum: append(targets(""), sandboxTarget),
		About: "An environment of the sandbox; `sandbox` is the first one, with EUR beside its own currency.",
	}
	callbackField = operatorapi.Field{
		Name: callbackHeader, Optional: true, Max: maxCallbackURL, About: "Where the callback goes; without it, none is sent.",
	}
	languageField     = operatorapi.Field{Name: "Language", Optional: true, About: "Of the text. Ignored: no text is sent here."}
	notificationField = operatorapi.Field{Name: notificationHeader, Optional: true, Max: maxMessage, About: "The text, in place of the body's."}
)

// textOrNumber are the types of texts that some clients send as numbers.
var textOrNumber = []string{"string", "number"}

// partyField returns the field with the payer or the payee of a request.
func partyField(name string) operatorapi.Field {
	return operatorapi.Field{Name: name, Fields: []operatorapi.Field{
		{Name: "partyIdType", Pattern: "^[Mm][Ss][Ii][Ss][Dd][Nn]$", About: "Only numbers have accounts here."},
		{
			Name: "partyId", Types: textOrNumber, Pattern: `^\s*(\+?[1-9][0-9]{6,14}|0[0-9]{6,12})\s*$`, Max: maxPartyID,
			About: "The number with its country code. Without one it begins with 0. Spaces around it are not kept. The bound is assumed.",
		},
	}}
}

// texts are the fields of requests with free text. Answers repeat them.
var texts = []operatorapi.Field{
	operatorapi.Field{Name: "externalId", Types: textOrNumber, Optional: true, Max: maxExternalID, About: "Of the order. The bound is assumed."}.Assumed(),
	{Name: "payerMessage", Optional: true, Max: maxMessage, Pattern: "^[^'&]*$"},
	{Name: "payeeNote", Optional: true, Max: maxMessage, Pattern: "^[^'&]*$"},
}

func orderFields(more ...operatorapi.Field) []operatorapi.Field {
	return append(append([]operatorapi.Field{
		operatorapi.Field{
			Name: "amount", Types: []string{"string", "number"}, Pattern: operatorapi.AmountForm,
			About: "Whole units, from 1 to 1000000000000. MTN documents a text; a number is taken too.",
		}.Assumed(),
		{Name: "currency", About: "That of the environment, or EUR under the target `sandbox`."},
	}, texts...), more...)
}

var (
	payFields    = orderFields(partyField("payer"))
	payoutFields = orderFields(partyField("payee"))
	refundFields = orderFields(operatorapi.Field{Name: "referenceIdToRefund", Types: textOrNumber, About: "The reference of a collection of MTN, by whatever API it was made."})

	hostFields = []operatorapi.Field{{Name: "providerCallbackHost", About: "Callbacks of the user's requests go to this host only. A URL is taken too."}}
	userFields = []operatorapi.Field{
		{Name: "providerCallbackHost"}, {Name: "targetEnvironment", Enum: []string{sandboxTarget}},
	}
	keyFields   = []operatorapi.Field{{Name: "apiKey", Pattern: hexForm}}
	tokenFields = []operatorapi.Field{
		{Name: "access_token", Pattern: `^[\w-]+\.[\w-]+\.[\w-]+$`, About: "A JWT, which is bound to the product."},
		{Name: "token_type", Enum: []string{"access_token"}},
		{Name: "expires_in", Types: []string{"integer"}, About: "Seconds, of the sandbox's time."},
	}
	balanceFields = []operatorapi.Field{{Name: "availableBalance", Pattern: "^[0-9]+$"}, {Name: "currency"}}
	activeFields  = []operatorapi.Field{{Name: "result", Types: []string{"boolean"}}}
	holderFields  = []operatorapi.Field{
		{Name: "sub"}, {Name: "name"}, {Name: "given_name"}, {Name: "family_name"}, {Name: "birthdate", Pattern: `^\d{4}-\d\d-\d\d$`}, {Name: "locale"},
		{Name: "gender"}, {Name: "updated_at", Types: []string{"integer"}},
	}
	messageFields = []operatorapi.Field{{Name: "notificationMessage", Optional: true, Max: maxMessage, About: "Needed, unless the header has it."}}
)

// knownReasons are the reasons of failures: the 17 reasons of MTN's list, and further reasons that Cauri's transactions
// and test numbers have.
var knownReasons = []string{
	payeeNotFound, "PAYER_NOT_FOUND", "NOT_ALLOWED", "NOT_ALLOWED_TARGET_ENVIRONMENT", "INVALID_CALLBACK_URL_HOST", "INVALID_CURRENCY",
	codeUnavailable, internalError, "NOT_ENOUGH_FUNDS", "PAYER_LIMIT_REACHED", "PAYEE_NOT_ALLOWED_TO_RECEIVE", "PAYMENT_NOT_APPROVED",
	"RESOURCE_NOT_FOUND", "APPROVAL_REJECTED", "EXPIRED", "TRANSACTION_CANCELED", "RESOURCE_ALREADY_EXIST",
	"COULD_NOT_PERFORM_TRANSACTION", "SENDER_ACCOUNT_NOT_ACTIVE", transferTypeUnknown,
}

// statusFields returns the fields of an answer with the status of a transaction.
func statusFields(party string, statuses ...string) []operatorapi.Field {
	return []operatorapi.Field{
		{Name: "financialTransactionId", Optional: true, Pattern: "^[0-9]{10}$", About: "Only of a success."},
		{Name: "externalId", About: "As sent."},
		{Name: "amount", Pattern: "^[1-9][0-9]*$"},
		{Name: "currency", About: "As sent."},
		{Name: party, About: "As sent; of a refund, who paid.", Fields: []operatorapi.Field{{Name: "partyIdType"}, {Name: "partyId"}}},
		{Name: "payerMessage", About: "As sent."},
		{Name: "payeeNote", About: "As sent."},
		{Name: "status", Enum: statuses},
		{Name: "reason", Optional: true, Enum: knownReasons, About: "Only of a failure. The vendor's schema has an object here; observed is a text."},
	}
}

var (
	collectionFields = statusFields("payer", created, pending, successful, failed)
	paidOutFields    = statusFields("payee", pending, successful, failed)
)
