package mtn

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// The products of MTN's API. A token is valid for one product.
const (
	collection   = "collection"
	disbursement = "disbursement"
	remittance   = "remittance"
)

// The names of the calls that move money. They are stored with their transactions.
const (
	payCall      = "requesttopay"
	withdrawCall = "requesttowithdraw"
	transferCall = "transfer"
	depositCall  = "deposit"
	refundCall   = "refund"
)

// NewAPI returns MTN's own API. Its routes are those that MTN's SDKs call.
func NewAPI() *operatorapi.API {
	return &operatorapi.API{
		Operator: payments.MTN, Routes: routes(), Key: subscriptionKey, KeyHeader: keyHeader, Derive: deriveCredentials, Examples: examples,
		CountryText: targetNames,
		Refuse:      refuse, OwnAdvice: advice, Expected: expected,
		Parts: parts, NeedsLength: true, Callback: newCallback, Facts: facts, Quirks: quirks, Logged: logged, SecretForm: secretForm,
		ContentType: "application/json;charset=utf-8",
	}
}

// examples are values of parameters and headers, for the description.
var examples = map[string]string{
	referenceHeader: "c72025f5-5cd1-4630-99e4-8ba4722fad56", targetHeader: "mtnrwanda", callbackHeader: "https://shop.example/callbacks",
	"reference": "c72025f5-5cd1-4630-99e4-8ba4722fad56", "id": "c72025f5-5cd1-4630-99e4-8ba4722fad56",
	"type": "msisdn", "holder": "250788123456", "currency": "RWF",
}

// logged are the fields that the request log keeps. Tokens, keys and names of persons are not among them.
var logged = []string{
	"amount", "currency", "externalId", "payer", "payee", "partyIdType", "partyId", "payerMessage", "payeeNote", "referenceIdToRefund",
	"notificationMessage", "providerCallbackHost", "targetEnvironment", "financialTransactionId", "status", "reason", "availableBalance",
	"result", "expires_in", "statusCode", "message", "code", "error",
}

// secretForm matches subscription keys and API keys.
var secretForm = regexp.MustCompile(`(?i)[0-9a-f]{32}`)

// The headers of requests.
const (
	keyHeader       = "Ocp-Apim-Subscription-Key"
	referenceHeader = "X-Reference-Id"
	targetHeader    = "X-Target-Environment"
	callbackHeader  = "X-Callback-Url"

	notificationHeader = "notificationMessage"
)

// subscriptionKey returns the subscription key of a request. MTN checks it before everything else (Documented).
func subscriptionKey(r *http.Request, _ func() []byte) string {
	if key := r.Header.Get(keyHeader); key != "" {
		return key
	}
	return r.URL.Query().Get("subscription-key")
}

func deriveCredentials(apiKey string) operatorapi.Credentials {
	key, user, userKey := operatorapi.Derived(apiKey, "mtn subscription key"), operatorapi.DerivedUUID(apiKey, "mtn api user"),
		operatorapi.Derived(apiKey, "mtn api key")
	return operatorapi.Credentials{
		Secret: map[string]string{"mtn-subscription-key": key, "mtn-api-user": user, "mtn-api-key": userKey},
		Key:    key, User: user, UserKey: userKey,
	}
}

// exchanges is the prefix of the names of the tests that replay recorded exchanges.
const exchanges = operatorapi.ExchangesTest + "/mtn/"

func routes() []operatorapi.Route {
	all := []operatorapi.Route{
		{
			Name: "apiuser", Method: http.MethodPost, Path: "/v1_0/apiuser", Access: operatorapi.ByKey, Handle: addUser,
			Doc: operatorapi.Doc{
				Summary: "Makes an API user, with the X-Reference-Id as its id", Mark: operatorapi.Documented, Source: "MTN portal, API description",
				Headers: []operatorapi.Field{referenceField},
				Body:    `{"providerCallbackHost": "shop.example"}`, Request: hostFields, Status: http.StatusCreated,
				Refused: []operatorapi.Reason{operatorapi.Invalid, operatorapi.Duplicate}, Test: exchanges + "provisioning",
			},
		},
		{
			Name: "apikey", Method: http.MethodPost, Path: "/v1_0/apiuser/{id}/apikey", Access: operatorapi.ByKey, Handle: newUserKey,
			Doc: operatorapi.Doc{
				Summary: "Makes an API key for an API user; the one before stops working", Mark: operatorapi.Documented,
				Source: "MTN portal, API description", Status: http.StatusCreated,
				Answer: `{"apiKey": "f1db798c98df4bcf83b538175893bbf0"}`, Response: keyFields,
				Refused: []operatorapi.Reason{operatorapi.NotFound}, Test: exchanges + "provisioning",
			},
		},
		{
			Name: "apiuser", Method: http.MethodGet, Path: "/v1_0/apiuser/{id}", Access: operatorapi.ByKey, Handle: getUser,
			Doc: operatorapi.Doc{
				Summary: "An API user", Mark: operatorapi.Documented, Source: "MTN portal, API description", Status: http.StatusOK,
				Answer: `{"providerCallbackHost": "shop.example", "targetEnvironment": "sandbox"}`, Response: userFields,
				Refused: []operatorapi.Reason{operatorapi.NotFound}, Test: exchanges + "provisioning",
			},
		},
	}
	for _, product := range []string{collection, disbursement, remittance} {
		all = append(all, sharedRoutes(product)...)
	}
	all = append(all, collectionRoutes()...)
	all = append(all, payoutRoutes()...)
	return all
}

// sharedRoutes returns the routes that every product has.
func sharedRoutes(product string) []operatorapi.Route {
	const holder = "/v1_0/accountholder/{type}/{holder}"
	at := "/" + product
	shared := []operatorapi.Route{
		{
			Name: "token", Method: http.MethodPost, Path: at + "/token", Access: operatorapi.ByUser, Product: product, Handle: issueToken,
			Doc: operatorapi.Doc{
				Summary: "An access token of the product, for an hour", Mark: operatorapi.Documented, Source: "MTN portal, API description",
				Status: http.StatusOK, Answer: `{"access_token": "eyJ0eXAi.eyJjbGll.MDEyMzQ1", "token_type": "access_token", "expires_in": 3600}`,
				Response: tokenFields, Test: exchanges + "token",
			},
		},
		{
			Name: "balance", Method: http.MethodGet, Path: at + "/v1_0/account/balance", Handle: inTarget(balance),
			Doc: operatorapi.Doc{
				Summary: "The float of the environment", Mark: operatorapi.Documented, Source: "MTN portal; recorded by sandbox users",
				Status: http.StatusOK, Answer: `{"availableBalance": "1000", "currency": "EUR"}`, Response: balanceFields,
				Refused: []operatorapi.Reason{wrongTarget}, Test: exchanges + "account",
			},
		},
		{
			Name: "active", Method: http.MethodGet, Path: at + holder + "/active", Handle: inTarget(active),
			Doc: operatorapi.Doc{
				Summary: "Whether a number has an account that is active", Mark: operatorapi.Documented, Source: "MTN portal, API description",
				Status: http.StatusOK, Answer: `{"result": true}`, Response: activeFields, Refused: holding, Test: exchanges + "account",
			},
		},
		{
			Name: "basicuserinfo", Method: http.MethodGet, Path: at + holder + "/basicuserinfo", Handle: inTarget(basicUserInfo),
			Doc: operatorapi.Doc{
				Summary: "Who has a number", Mark: operatorapi.Documented, Source: "MTN portal; recorded by sandbox users", Status: http.StatusOK,
				Answer: `{"sub": "0", "name": "Sand Box", "given_name": "Sand", "family_name": "Box", "birthdate": "1976-08-13", ` +
					`"locale": "sv_SE", "gender": "MALE", "updated_at": 1678355127}`,
				Response: holderFields, Refused: holding, Test: exchanges + "account",
			},
		},
	}
	if product != remittance {
		shared = append(shared, operatorapi.Route{
			Name: "balance", Method: http.MethodGet, Path: at + "/v1_0/account/balance/{currency}", Handle: inTarget(balance),
			Doc: operatorapi.Doc{
				Summary: "The float in a currency", Mark: operatorapi.Documented, Source: "MTN portal; recorded by sandbox users",
				Status: http.StatusOK, Answer: `{"availableBalance": "1000", "currency": "EUR"}`, Response: balanceFields,
				Refused: []operatorapi.Reason{wrongTarget, wrongCurrency}, Test: exchanges + "account",
			},
		})
	}
	return withTokens(product, shared)
}

// withTokens changes the access of routes from [operatorapi.ByKey] to a token of the product.
func withTokens(product string, routes []operatorapi.Route) []operatorapi.Route {
	for i := range routes {
		if routes[i].Access == operatorapi.ByKey {
			routes[i].Access, routes[i].Product = operatorapi.ByToken, product
			routes[i].Doc.Headers = append(routes[i].Doc.Headers, targetField)
		}
	}
	return routes
}

const (
	payerBody = `{"amount": "5000", "currency": "RWF", "externalId": "order-1042", ` +
		`"payer": {"partyIdType": "MSISDN", "partyId": "250788123456"}, "payerMessage": "Two tickets", "payeeNote": "shop"}`
	payeeBody = `{"amount": "5000", "currency": "RWF", "externalId": "payout-7", ` +
		`"payee": {"partyIdType": "MSISDN", "partyId": "250788123456"}, "payerMessage": "Salary", "payeeNote": "November"}`
	refundBody = `{"amount": "5000", "currency": "RWF", "externalId": "refund-1", "payerMessage": "Sorry", "payeeNote": "shop", ` +
		`"referenceIdToRefund": "d6b1f4f2-6a2c-4c2e-9a3c-0b8f6f1f2a10"}`
	collectionAnswer = `{"financialTransactionId": "6423796950", "externalId": "order-1042", "amount": "5000", "currency": "RWF", ` +
		`"payer": {"partyIdType": "MSISDN", "partyId": "250788123456"}, "payerMessage": "Two tickets", "payeeNote": "shop", ` +
		`"status": "SUCCESSFUL"}`
	payoutAnswer = `{"amount": "5000", "currency": "RWF", "financialTransactionId": "6423796950", "externalId": "payout-7", ` +
		`"payee": {"partyIdType": "MSISDN", "partyId": "250788123456"}, "payerMessage": "Salary", "payeeNote": "November", ` +
		`"status": "SUCCESSFUL"}`
)

// The refusals of two groups of calls. Each call also has the refusals that all calls have.
var (
	ordering = []operatorapi.Reason{
		wrongTarget, operatorapi.Invalid, wrongCurrency, wrongCallbackHost, operatorapi.NotFound, operatorapi.Duplicate,
	}
	holding = []operatorapi.Reason{wrongTarget, operatorapi.NotFound, notAllowed}
)

// accepted returns the description of a call that moves money.
func accepted(summary, body string, fields []operatorapi.Field, test string) operatorapi.Doc {
	return operatorapi.Doc{
		Summary: summary, Mark: operatorapi.Documented, Source: "MTN portal, API description", Body: body, Request: fields,
		Status: http.StatusAccepted, Test: test,
		Headers: []operatorapi.Field{referenceField, callbackField}, Refused: ordering,
	}
}

// statusDoc returns the description of a call that reports the status of a transaction.
func statusDoc(answer string, fields []operatorapi.Field, test string) operatorapi.Doc {
	return operatorapi.Doc{
		Summary: "What came of it", Mark: operatorapi.Documented, Source: "MTN portal; recorded by sandbox users", Status: http.StatusOK,
		Answer: answer, Response: fields, Refused: []operatorapi.Reason{wrongTarget, operatorapi.NotFound}, Test: test,
	}
}

func collectionRoutes() []operatorapi.Route {
	const pay, withdraw = "/collection/v1_0/requesttopay", "/collection/v1_0/requesttowithdraw"
	const status = "/{reference}"
	return withTokens(collection, []operatorapi.Route{
		{
			Name: payCall, Method: http.MethodPost, Path: pay, Orders: true, Handle: collect(payCall, false),
			Doc: accepted("Asks a payer for money: a collection", payerBody, payFields, exchanges+payCall),
		},
		{
			Name: payCall, Method: http.MethodGet, Path: pay + status, Handle: inTarget(statusAnswer(payCall)),
			Doc: statusDoc(collectionAnswer, collectionFields, exchanges+payCall),
		},
		{
			Name: "deliverynotification", Method: http.MethodPost, Path: pay + status + "/deliverynotification", Handle: inTarget(notify),
			Doc: operatorapi.Doc{
				Summary: "Sends the payer of a successful request a text; no text is sent here", Mark: operatorapi.Documented,
				Source: "MTN portal, API description", Headers: []operatorapi.Field{notificationField, languageField},
				Body: `{"notificationMessage": "Thank you"}`, Request: messageFields, Status: http.StatusOK,
				Refused: []operatorapi.Reason{wrongTarget, operatorapi.Invalid, operatorapi.NotFound, notCompleted},
				Test:    exchanges + payCall,
			},
		},
		{
			Name: withdrawCall, Method: http.MethodPost, Path: withdraw, Orders: true, Handle: collect(withdrawCall, false),
			Doc: accepted("Asks a customer for money at a withdrawal: a collection", payerBody, payFields, exchanges+withdrawCall),
		},
		{
			Name: withdrawCall, Method: http.MethodPost, Path: strings.Replace(withdraw, "v1_0", "v2_0", 1), Orders: true,
			Handle: collect(withdrawCall, true),
			Doc:    accepted("As v1_0; the callback is a PUT", payerBody, payFields, exchanges+withdrawCall),
		},
		{
			Name: withdrawCall, Method: http.MethodGet, Path: withdraw + status, Handle: inTarget(statusAnswer(withdrawCall)),
			Doc: statusDoc(collectionAnswer, collectionFields, exchanges+withdrawCall),
		},
	})
}

func payoutRoutes() []operatorapi.Route {
	var all []operatorapi.Route
	add := func(product, call, version, summary, body string, fields []operatorapi.Field, record operatorapi.Handler) {
		all = append(all, withTokens(product, []operatorapi.Route{{
			Name: call, Method: http.MethodPost, Path: "/" + product + "/" + version + "/" + call, Handle: record, Orders: true,
			Doc: accepted(summary, body, fields, exchanges+call),
		}})...)
		if version == "v1_0" {
			all = append(all, withTokens(product, []operatorapi.Route{{
				Name: call, Method: http.MethodGet, Path: "/" + product + "/v1_0/" + call + "/{reference}", Handle: inTarget(statusAnswer(call)),
				Doc: statusDoc(payoutAnswer, paidOutFields, exchanges+call),
			}})...)
		}
	}
	const pays, as = "Pays somebody from the float: a disbursement", "As v1_0; the callback is a PUT"
	add(disbursement, transferCall, "v1_0", pays, payeeBody, payoutFields, disburse(transferCall, false))
	add(remittance, transferCall, "v1_0", pays, payeeBody, payoutFields, disburse(transferCall, false))
	add(disbursement, depositCall, "v1_0", pays, payeeBody, payoutFields, disburse(depositCall, false))
	add(disbursement, depositCall, "v2_0", as, payeeBody, payoutFields, disburse(depositCall, true))
	add(disbursement, refundCall, "v1_0", "Refunds a collection of MTN, by whatever API it was made", refundBody, refundFields, giveBack(false))
	add(disbursement, refundCall, "v2_0", as, refundBody, refundFields, giveBack(true))
	return all
}
