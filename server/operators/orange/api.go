package orange

import (
	"cmp"
	"net/http"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// payCall is the name of the call that opens an order. It is stored with the transaction of the order.
const payCall = "webpayment"

// product is the product of every token, because one token serves all calls (Documented).
const product = "webpay"

// NewAPI returns Orange's own API, WebPay. Its routes are those that Orange's clients call.
func NewAPI() *operatorapi.API {
	return &operatorapi.API{
		Operator: payments.Orange, Routes: routes(), Key: clientID, Derive: deriveCredentials, Refuse: refuse, OwnAdvice: advice,
		Expected:     expected,
		Parts:        map[string]string{string(operatorapi.Duplicate): "order_id"},
		FieldReasons: map[operatorapi.Reason]string{missingField: missingReason, missingOfStatus: missingReason},
		Callback:     newCallback, Facts: facts, Quirks: quirks,
		Page:     &operatorapi.Page{Path: pagePath, Token: pageToken, Handle: servePage, Refuse: refusePage, View: viewOf, Code: true},
		Examples: examples, Variables: map[string]string{exampleKey: "CAURI_ORANGE_MERCHANT_KEY"}, Logged: logged, SecretForm: secretForm, ContentType: "application/json",
	}
}

// quirks are the special behaviors of Orange's own sandbox.
var quirks = []operatorapi.Quirk{{
	Name: devQuirk,
	About: "Whether the country `dev` of Orange's own API means the first enabled environment of Orange, and takes amounts in the currency OUV. " +
		"They are booked as whole units of the environment's currency.",
}}

// logged are the fields that the request log keeps. Tokens and the merchant key are not among them. The log keeps only
// the host of a URL.
var logged = []string{
	"currency", "order_id", "amount", "return_url", "cancel_url", "notif_url", "lang", "reference", "status", "message", "txnid", "code",
	"description", "expires_in", "error", "error_description",
}

// secretForm matches client ids, secrets, merchant keys and tokens.
var secretForm = regexp.MustCompile(`(?i)[0-9a-f]{32}`)

// merchantKey is the name of the merchant key among the checked credentials.
const merchantKey = "merchant key"

func deriveCredentials(apiKey string) operatorapi.Credentials {
	id, secret, merchant := operatorapi.Derived(apiKey, "orange client id"), operatorapi.Derived(apiKey, "orange client secret"),
		operatorapi.Derived(apiKey, "orange merchant key")
	return operatorapi.Credentials{
		Secret: map[string]string{"orange-client-id": id, "orange-client-secret": secret, "orange-merchant-key": merchant},
		Key:    id, User: id, UserKey: secret, Checked: map[string]string{merchantKey: merchant},
	}
}

// clientID returns the client id of a request. It reads it from the access token, or from the Basic authentication of a
// request for a token.
func clientID(r *http.Request, _ func() []byte) string {
	id, _, _ := r.BasicAuth()
	return cmp.Or(operatorapi.UserOfToken(r), strings.ToLower(id))
}

// exampleKey is a merchant key for the description of the API.
const exampleKey = "5d0c7a91f3e84b26a1c9d7e05f38b264"

// examples are values for the description of the API.
var examples = map[string]string{"country": "dev"}

// exchanges is the prefix of the names of the tests that replay recorded exchanges.
const exchanges = operatorapi.ExchangesTest + "/orange/"

func routes() []operatorapi.Route {
	all := []operatorapi.Route{
		tokenRoute("v3", `"expires_in": 3600`, newTokenFields, issueToken),
		tokenRoute("v2", `"expires_in": "7776000"`, oldTokenFields, issueOldToken),
		{
			Name: payCall, Method: http.MethodPost, Path: "/orange-money-webpay/{country}/v1/webpayment", Access: operatorapi.ByToken,
			Handle: inMarket(placeOrder),
			Doc: operatorapi.Doc{
				Summary: "Opens an order, which a payer confirms on a page", Mark: operatorapi.Documented, Source: guide,
				Body: `{"merchant_key": "` + exampleKey + `", "currency": "OUV", "order_id": "order-1042", "amount": 1000, ` +
					`"return_url": "https://shop.example/return", "cancel_url": "https://shop.example/cancel", ` +
					`"notif_url": "https://shop.example/notif", "lang": "fr", "reference": "Shop"}`,
				Request: payFields, Status: http.StatusCreated,
				Answer: `{"status": 201, "message": "OK", "pay_token": "` + strings.Repeat("8f2b1c5a9d3e4f60", 4) + `", "payment_url": ` +
					`"http://cauri.example/sandboxes/team/shop/operators/orange/payment/pay_token/` + strings.Repeat("8f2b1c5a9d3e4f60", 4) + `", ` +
					`"notif_token": "0123456789abcdef0123456789abcdef"}`,
				Response: checkoutFields,
				Refused: []operatorapi.Reason{
					noCountry, wrongCountry, noBody, noJSON, missingField, wrongField, wrongMerchant, wrongCurrency, operatorapi.Duplicate,
				},
				Test: exchanges + payCall,
			},
		},
		{
			Name: "transactionstatus", Method: http.MethodPost, Path: "/orange-money-webpay/{country}/v1/transactionstatus",
			Access: operatorapi.ByToken, Handle: inMarket(statusAnswer),
			Doc: operatorapi.Doc{
				Summary: "What came of an order", Mark: operatorapi.Documented, Source: guide,
				Body:    `{"order_id": "order-1042", "amount": 1000, "pay_token": "` + strings.Repeat("8f2b1c5a9d3e4f60", 4) + `"}`,
				Request: askFields, Status: http.StatusOK,
				Answer:   `{"status": "SUCCESS", "order_id": "order-1042", "txnid": "MP261126.2013.L06941"}`,
				Response: stateFields,
				Refused:  []operatorapi.Reason{noCountry, wrongCountry, noBody, noJSON, missingOfStatus, wrongField, operatorapi.NotFound},
				Test:     exchanges + "transactionstatus",
			},
		},
	}
	for i := range all {
		all[i].Product = product
	}
	return all
}

func tokenRoute(version, expires string, fields []operatorapi.Field, issue operatorapi.Handler) operatorapi.Route {
	return operatorapi.Route{
		Name: "token", Method: http.MethodPost, Path: "/oauth/" + version + "/token", Access: operatorapi.ByUser, Handle: issue,
		Doc: operatorapi.Doc{
			Summary: "An access token", Mark: operatorapi.Documented, Source: guide, Status: http.StatusOK,
			Body: `{"grant_type": "client_credentials"}`, Form: true, Request: grantFields,
			Answer:   `{"token_type": "Bearer", "access_token": "` + strings.Repeat("8f2b1c5a9d3e4f60", 4) + `", ` + expires + `}`,
			Response: fields, Refused: []operatorapi.Reason{wrongGrant}, Test: exchanges + "token",
		},
	}
}
