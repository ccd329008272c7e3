package mtn

import (
	"context"
	"net/http"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/native"
	"github.com/cauri-dev/cauri/server/payments"
)

// The products of MTN's API. A token is good for one of them.
const (
	collection   = "collection"
	disbursement = "disbursement"
	remittance   = "remittance"
)

// The calls that move money, as they are kept beside their transactions.
const (
	payCall      = "requesttopay"
	withdrawCall = "requesttowithdraw"
	transferCall = "transfer"
	depositCall  = "deposit"
	refundCall   = "refund"
)

// NewAPI is MTN's own API, as its SDKs call it.
func NewAPI() *native.API {
	return &native.API{
		Operator: payments.MTN, Routes: routes(), Key: subscriptionKey, KeyHeader: keyHeader, Derive: deriveCredentials,
		Refuse: refuse, Callback: newCallback, Facts: facts, Quirks: quirks, Logged: logged, SecretForm: secretForm,
	}
}

// logged are the fields that say what a request asked for and what came of it: neither tokens nor keys, nor who has a number.
var logged = []string{
	"amount", "currency", "externalId", "payer", "payee", "partyIdType", "partyId", "payerMessage", "payeeNote", "referenceIdToRefund",
	"notificationMessage", "providerCallbackHost", "targetEnvironment", "financialTransactionId", "status", "reason", "availableBalance",
	"result", "expires_in", "statusCode", "message", "code", "error",
}

// secretForm is the form of subscription keys and of API keys.
var secretForm = regexp.MustCompile(`(?i)[0-9a-f]{32}`)

// The headers of requests.
const (
	keyHeader       = "Ocp-Apim-Subscription-Key"
	referenceHeader = "X-Reference-Id"
	targetHeader    = "X-Target-Environment"
	callbackHeader  = "X-Callback-Url"

	notificationHeader = "notificationMessage"
)

// subscriptionKey is checked before everything else (o).
func subscriptionKey(r *http.Request) string {
	if key := r.Header.Get(keyHeader); key != "" {
		return key
	}
	return r.URL.Query().Get("subscription-key")
}

func deriveCredentials(apiKey string) native.Credentials {
	key, user, userKey := native.Derived(apiKey, "mtn subscription key"), native.DerivedUUID(apiKey, "mtn api user"),
		native.Derived(apiKey, "mtn api key")
	return native.Credentials{
		Secret: map[string]string{"mtn-subscription-key": key, "mtn-api-user": user, "mtn-api-key": userKey},
		Key:    key, User: user, UserKey: userKey,
	}
}

// exchanges is the test that replays the files of exchanges.
const exchanges = native.ExchangesTest + "/mtn/"

// handler is a call of the API.
type handler func(context.Context, native.Sandbox, *native.Request) (native.Answer, error)

func routes() []native.Route {
	all := []native.Route{
		{
			Name: "apiuser", Method: http.MethodPost, Path: "/v1_0/apiuser", Access: native.ByKey, Handle: addUser,
			Doc: native.Doc{
				Summary: "Makes an API user, with the X-Reference-Id as its id", Mark: native.Documented, Source: "MTN portal, API description",
				Headers: []native.Field{referenceField},
				Body:    `{"providerCallbackHost": "shop.example"}`, Request: hostFields, Status: http.StatusCreated,
				Refused: []native.Why{native.Invalid, native.Duplicate}, Test: exchanges + "provisioning",
			},
		},
		{
			Name: "apikey", Method: http.MethodPost, Path: "/v1_0/apiuser/{id}/apikey", Access: native.ByKey, Handle: newUserKey,
			Doc: native.Doc{
				Summary: "Makes an API key for an API user; the one before stops working", Mark: native.Documented,
				Source: "MTN portal, API description", Status: http.StatusCreated,
				Answer: `{"apiKey": "f1db798c98df4bcf83b538175893bbf0"}`, Response: keyFields,
				Refused: []native.Why{native.NotFound}, Test: exchanges + "provisioning",
			},
		},
		{
			Name: "apiuser", Method: http.MethodGet, Path: "/v1_0/apiuser/{id}", Access: native.ByKey, Handle: getUser,
			Doc: native.Doc{
				Summary: "An API user", Mark: native.Documented, Source: "MTN portal, API description", Status: http.StatusOK,
				Answer: `{"providerCallbackHost": "shop.example", "targetEnvironment": "sandbox"}`, Response: userFields,
				Refused: []native.Why{native.NotFound}, Test: exchanges + "provisioning",
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

// sharedRoutes are those that each product has.
func sharedRoutes(product string) []native.Route {
	const holder = "/v1_0/accountholder/{type}/{holder}"
	at := "/" + product
	shared := []native.Route{
		{
			Name: "token", Method: http.MethodPost, Path: at + "/token", Access: native.ByUser, Product: product, Handle: issueToken,
			Doc: native.Doc{
				Summary: "An access token of the product, for an hour", Mark: native.Documented, Source: "MTN portal, API description",
				Status: http.StatusOK, Answer: `{"access_token": "eyJ0eXAi.eyJjbGll.MDEyMzQ1", "token_type": "access_token", "expires_in": 3600}`,
				Response: tokenFields, Test: exchanges + "token",
			},
		},
		{
			Name: "balance", Method: http.MethodGet, Path: at + "/v1_0/account/balance", Handle: inTarget(balance),
			Doc: native.Doc{
				Summary: "The float of the environment", Mark: native.Documented, Source: "MTN portal; recorded by sandbox users",
				Status: http.StatusOK, Answer: `{"availableBalance": "1000", "currency": "EUR"}`, Response: balanceFields,
				Refused: []native.Why{wrongTarget}, Test: exchanges + "account",
			},
		},
		{
			Name: "active", Method: http.MethodGet, Path: at + holder + "/active", Handle: inTarget(active),
			Doc: native.Doc{
				Summary: "Whether a number has an account that is active", Mark: native.Documented, Source: "MTN portal, API description",
				Status: http.StatusOK, Answer: `{"result": true}`, Response: activeFields, Refused: holding, Test: exchanges + "account",
			},
		},
		{
			Name: "basicuserinfo", Method: http.MethodGet, Path: at + holder + "/basicuserinfo", Handle: inTarget(basicUserInfo),
			Doc: native.Doc{
				Summary: "Who has a number", Mark: native.Documented, Source: "MTN portal; recorded by sandbox users", Status: http.StatusOK,
				Answer: `{"sub": "0", "name": "Sand Box", "given_name": "Sand", "family_name": "Box", "birthdate": "1976-08-13", ` +
					`"locale": "sv_SE", "gender": "MALE", "updated_at": 1678355127}`,
				Response: holderFields, Refused: holding, Test: exchanges + "account",
			},
		},
	}
	if product != remittance {
		shared = append(shared, native.Route{
			Name: "balance", Method: http.MethodGet, Path: at + "/v1_0/account/balance/{currency}", Handle: inTarget(balance),
			Doc: native.Doc{
				Summary: "The float in a currency", Mark: native.Documented, Source: "MTN portal; recorded by sandbox users",
				Status: http.StatusOK, Answer: `{"availableBalance": "1000", "currency": "EUR"}`, Response: balanceFields,
				Refused: []native.Why{wrongTarget, wrongCurrency}, Test: exchanges + "account",
			},
		})
	}
	return withTokens(product, shared)
}

// withTokens makes the routes of a product that say nothing else need a token of it.
func withTokens(product string, routes []native.Route) []native.Route {
	for i := range routes {
		if routes[i].Access == native.ByKey {
			routes[i].Access, routes[i].Product = native.ByToken, product
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

// What the calls refuse beside what all do.
var (
	ordering = []native.Why{wrongTarget, native.Invalid, wrongCurrency, wrongCallbackHost, native.NotFound, native.Duplicate}
	holding  = []native.Why{wrongTarget, native.NotFound, notAllowed}
)

// accepted describes a call that moves money.
func accepted(summary, body string, fields []native.Field, test string) native.Doc {
	return native.Doc{
		Summary: summary, Mark: native.Documented, Source: "MTN portal, API description", Body: body, Request: fields,
		Status: http.StatusAccepted, Test: test,
		Headers: []native.Field{referenceField, callbackField}, Refused: ordering,
	}
}

// told describes a call that asks what came of it.
func told(answer string, fields []native.Field, test string) native.Doc {
	return native.Doc{
		Summary: "What came of it", Mark: native.Documented, Source: "MTN portal; recorded by sandbox users", Status: http.StatusOK,
		Answer: answer, Response: fields, Refused: []native.Why{wrongTarget, native.NotFound}, Test: test,
	}
}

func collectionRoutes() []native.Route {
	const pay, withdraw = "/collection/v1_0/requesttopay", "/collection/v1_0/requesttowithdraw"
	const status = "/{reference}"
	return withTokens(collection, []native.Route{
		{
			Name: payCall, Method: http.MethodPost, Path: pay, Orders: true, Handle: collect(payCall, false),
			Doc: accepted("Asks a payer for money: a collection", payerBody, payFields, exchanges+payCall),
		},
		{
			Name: payCall, Method: http.MethodGet, Path: pay + status, Handle: inTarget(tellStatus(payCall)),
			Doc: told(collectionAnswer, collectionFields, exchanges+payCall),
		},
		{
			Name: "deliverynotification", Method: http.MethodPost, Path: pay + status + "/deliverynotification", Handle: inTarget(notify),
			Doc: native.Doc{
				Summary: "Sends the payer of a successful request a text; no text is sent here", Mark: native.Documented,
				Source: "MTN portal, API description", Headers: []native.Field{notificationField, languageField},
				Body: `{"notificationMessage": "Thank you"}`, Request: messageFields, Status: http.StatusOK,
				Refused: []native.Why{wrongTarget, native.Invalid, native.NotFound, notCompleted},
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
			Name: withdrawCall, Method: http.MethodGet, Path: withdraw + status, Handle: inTarget(tellStatus(withdrawCall)),
			Doc: told(collectionAnswer, collectionFields, exchanges+withdrawCall),
		},
	})
}

func payoutRoutes() []native.Route {
	var all []native.Route
	add := func(product, call, version, summary, body string, fields []native.Field, record handler) {
		all = append(all, withTokens(product, []native.Route{{
			Name: call, Method: http.MethodPost, Path: "/" + product + "/" + version + "/" + call, Handle: record, Orders: true,
			Doc: accepted(summary, body, fields, exchanges+call),
		}})...)
		if version == "v1_0" {
			all = append(all, withTokens(product, []native.Route{{
				Name: call, Method: http.MethodGet, Path: "/" + product + "/v1_0/" + call + "/{reference}", Handle: inTarget(tellStatus(call)),
				Doc: told(payoutAnswer, paidOutFields, exchanges+call),
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
