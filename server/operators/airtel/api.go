package airtel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// The names of the calls that move money. They are stored with their transactions.
const (
	payCall    = "payments"
	payoutCall = "disbursements"
	refundCall = "refund"
)

// product is the product of every token, because one token serves all calls (Documented).
const product = "airtel"

// NewAPI returns Airtel's own API. Its routes are those that Airtel's clients call.
func NewAPI() *operatorapi.API {
	return &operatorapi.API{
		Operator: payments.Airtel, Routes: routes(), Key: clientID, Login: login, Derive: deriveCredentials, Refuse: refuse,
		Callback: newCallback, Sign: sign, CallbackKey: "airtel-callback-key", Examples: examples, OwnAdvice: advice, Expected: expected, Parts: parts, Facts: facts,
		Quirks: quirks, Logged: logged, SecretForm: secretForm, ContentType: "application/json",
		Variables: map[string]string{exampleID: "CAURI_AIRTEL_CLIENT_ID", exampleSecret: "CAURI_AIRTEL_CLIENT_SECRET", examplePIN: "PIN"},
	}
}

// logged are the fields that the request log keeps. Tokens, PINs and names of persons are not among them.
var logged = []string{
	"reference", "subscriber", "payee", "country", "currency", "msisdn", "transaction", "amount", "id", "type", "wallet_type", "data", "status",
	"message", "code", "result_code", "response_code", "success", "airtel_money_id", "reference_id", "balance", "account_status", "grant_type",
	"status_code", "status_message", "error", "error_description", "expires_in",
}

// secretForm matches client ids, client secrets, tokens and encrypted PINs.
var secretForm = regexp.MustCompile(`(?i)[0-9a-f]{32}|[a-z0-9+/_-]{128,}={0,2}`)

// pinCheck is the name of the PIN among the checked credentials.
const pinCheck = "pin"

func deriveCredentials(apiKey string) operatorapi.Credentials {
	id, secret := operatorapi.Derived(apiKey, "airtel client id"), operatorapi.Derived(apiKey, "airtel client secret")
	drawn, err := strconv.ParseUint(operatorapi.Derived(apiKey, "airtel pin")[:8], 16, 32)
	if err != nil {
		panic(err) // hexadecimal digits can always be parsed
	}
	pin := fmt.Sprintf("%04d", drawn%10000)
	return operatorapi.Credentials{
		Secret: map[string]string{"airtel-client-id": id, "airtel-client-secret": secret, "airtel-pin": pin},
		Key:    id, User: id, UserKey: secret, Checked: map[string]string{pinCheck: pin},
	}
}

// clientID returns the client id of a request. It reads it from the access token, or from a request for a token.
func clientID(r *http.Request, body func() []byte) string {
	if id := operatorapi.UserOfToken(r); id != "" || !operatorapi.IsTo(r, tokenPath) {
		return id
	}
	id, _, _ := login(r, body)
	return strings.ToLower(id)
}

// login returns the client id and the client secret of a request for a token. They are in the body, or in Basic
// authentication if the body does not have both (ThirdParty).
func login(r *http.Request, body func() []byte) (id, secret string, given bool) {
	request := readTokenRequest(body())
	if request.ClientID != "" && request.ClientSecret != "" {
		return request.ClientID, request.ClientSecret, true
	}
	if id, secret, given = r.BasicAuth(); given {
		return id, secret, true
	}
	return request.ClientID, "", false
}

// tokenRequest is the body of a request for a token.
type tokenRequest struct {
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	GrantType    string `json:"grant_type"`
}

// readTokenRequest reads a body of JSON. It also accepts a form, because some clients send one (ThirdParty).
func readTokenRequest(body []byte) (request tokenRequest) {
	if json.Unmarshal(body, &request) == nil {
		return request
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return tokenRequest{}
	}
	return tokenRequest{form.Get("client_id"), form.Get("client_secret"), form.Get("grant_type")}
}

// quirkNumericExpiry is the quirk that makes the lifetime of a token a number.
const quirkNumericExpiry = "airtelNumericExpiry"

var quirks = []operatorapi.Quirk{{
	Name: quirkNumericExpiry,
	About: "airtelNumericExpiry is whether expires_in in the answer of Airtel's token call is a number, as Airtel answers in Rwanda.\n" +
		"If it is false, expires_in is a text, as Airtel's documents show it. Default true.",
}}

// examples are values for the description of the API.
var examples = map[string]string{"id": exampleTransaction, "msisdn": "730123456", countryHeader: "RW", currencyHeader: "RWF"}

const (
	exampleTransaction = "order-1042-1"

	// The reader replaces these.
	exampleID     = "8f2b1c5a9d3e4f60718293a4b5c6d7e8"
	exampleSecret = "0123456789abcdef0123456789abcdef"
	examplePIN    = "KYJExln8rZwb14G1K5UE5YF/lD7KheNUM171MUE="
)

// exchanges is the prefix of the names of the tests that replay recorded exchanges.
const exchanges = operatorapi.ExchangesTest + "/airtel/"

func routes() []operatorapi.Route {
	all := []operatorapi.Route{
		{
			Name: "token", Method: http.MethodPost, Path: tokenPath, Access: operatorapi.ByUser, Handle: issueToken,
			Doc: operatorapi.Doc{
				Summary: "An access token, for 180 seconds", Mark: operatorapi.Documented, Source: portal,
				Body:    `{"client_id": "` + exampleID + `", "client_secret": "` + exampleSecret + `", "grant_type": "client_credentials"}`,
				Request: tokenFields, Status: http.StatusOK,
				Answer: `{"token_type": "bearer", "access_token": "` + strings.Repeat("8f2b1c5a9d3e4f60", 4) + `", "expires_in": 180}`, Response: grantFields,
				Refused: []operatorapi.Reason{noGrant}, Test: exchanges + "token",
			},
		},
		{
			Name: "encryption-keys", Method: http.MethodGet, Path: "/v1/rsa/encryption-keys", Handle: inCountry(encryptionKey),
			Doc: operatorapi.Doc{
				Summary: "The public key that encrypts the PIN of disbursements", Mark: operatorapi.Documented, Source: portal, Status: http.StatusOK,
				Answer: `{"data": {"key_id": 100, "key": "MIIBIjANBg==", "valid_upto": "31-12-2099 23:59:59"}, ` +
					statusExample("DP02010001001", "SUCCESS") + `}`,
				Response: answerFields(keyFields), Refused: withCountry(), Test: exchanges + "disbursements",
			},
		},
		{
			Name: "balance", Method: http.MethodGet, Path: "/standard/v1/users/balance", Handle: inCountry(balance),
			Doc: operatorapi.Doc{
				Summary: "The float of the environment", Mark: operatorapi.Documented, Source: portal, Status: http.StatusOK,
				Answer: `{"data": {"balance": "37,600.00", "currency": "RWF", "account_status": "Active"}, ` +
					statusExample("DP02100000001", "SUCCESS") + `}`,
				Response: answerFields(balanceFields), Refused: withCountry(), Test: exchanges + "account",
			},
		},
	}
	for _, version := range []string{"v1", "v2"} {
		all = append(all, collectionRoutes(version)...)
		all = append(all, operatorapi.Route{
			Name: "users", Method: http.MethodGet, Path: "/standard/" + version + "/users/{msisdn}", Handle: inCountry(user),
			Doc: operatorapi.Doc{
				Summary: "Who has a number", Mark: operatorapi.Documented, Source: portal, Status: http.StatusOK,
				Answer: `{"data": {"first_name": "alice", "last_name": "uwase", "msisdn": "730123456", "grade": "SUBS", "is_barred": false, ` +
					`"is_pin_set": true, "registration": {"status": "SUBS"}}, ` + statusExample("DP02200000001", "SUCCESS") + `}`,
				Response: answerFields(userFields), Refused: withCountry(noUser, wrongNumber), Test: exchanges + "account",
			},
		})
	}
	for _, version := range []string{"v1", "v2", "v3"} {
		all = append(all, payoutRoutes(version)...)
	}
	for i := range all {
		all[i].Product = product
		if all[i].Access == operatorapi.ByKey {
			all[i].Access, all[i].Doc.Headers = operatorapi.ByToken, []operatorapi.Field{countryField, currencyField}
		}
	}
	return all
}

func collectionRoutes(version string) []operatorapi.Route {
	return []operatorapi.Route{
		{
			Name: payCall, Method: http.MethodPost, Path: "/merchant/" + version + "/payments", Orders: true, Handle: inCountry(collect),
			Doc: operatorapi.Doc{
				Summary: "Asks a payer for money: a collection", Mark: operatorapi.Documented, Source: observed,
				Body: `{"reference": "order 1042", "subscriber": {"country": "RW", "currency": "RWF", "msisdn": "730123456"}, ` +
					`"transaction": {"amount": 1000, "country": "RW", "currency": "RWF", "id": "order-1042-1"}}`,
				Request: payFields, Status: http.StatusOK,
				Answer:   `{"data": {"transaction": {"id": "order-1042-1", "status": "SUCCESS"}}, ` + statusExample("DP00800001006", "SUCCESS") + `}`,
				Response: answerFields(acceptedFields),
				Refused: withCountry(operatorapi.Invalid, wrongCountry, wrongNumber, wrongAmount, operatorapi.Duplicate, notJSON,
					operatorapi.NotFound),
				Test: exchanges + payCall,
			},
		},
		{
			Name: payCall, Method: http.MethodGet, Path: "/standard/" + version + "/payments/{id}", Handle: inCountry(tell(payCall)),
			Doc: operatorapi.Doc{
				Summary: "What came of it", Mark: operatorapi.Documented, Source: observed, Status: http.StatusOK,
				Answer: `{"data": {"transaction": {"airtel_money_id": "MP261126.2013.L06941", "id": "order-1042-1", ` +
					`"message": "Success", "status": "TS"}}, ` + statusExample("DP00800001001", "Success") + `}`,
				Response: answerFields(enquiryFields), Refused: withCountry(operatorapi.NotFound), Test: exchanges + payCall,
			},
		},
		{
			Name: refundCall, Method: http.MethodPost, Path: "/standard/" + version + "/payments/refund", Orders: true, Handle: inCountry(giveBack),
			Doc: operatorapi.Doc{
				Summary: "Refunds what is left of a collection of Airtel, by whatever API it was made", Mark: operatorapi.Documented, Source: portal,
				Body:    `{"transaction": {"airtel_money_id": "MP261126.2013.L06941"}}`,
				Request: refundFields, Status: http.StatusOK,
				Answer: `{"data": {"transaction": {"airtel_money_id": "CI261126.2014.H00006", "status": "SUCCESS"}}, ` +
					statusExample("DP00800001006", "SUCCESS") + `}`,
				Response: answerFields(refundedFields), Refused: withCountry(operatorapi.Invalid, operatorapi.NotFound, notJSON),
				Test: exchanges + refundCall,
			},
		},
	}
}

func payoutRoutes(version string) []operatorapi.Route {
	const path = "/disbursements"
	return []operatorapi.Route{
		{
			Name: payoutCall, Method: http.MethodPost, Path: "/standard/" + version + path, Orders: true, Handle: inCountry(disburse),
			Doc: operatorapi.Doc{
				Summary: "Pays somebody from the float: a disbursement", Mark: operatorapi.Documented, Source: observed,
				Body: `{"payee": {"msisdn": "730123456", "wallet_type": "NORMAL"}, "reference": "salary", "pin": "` + examplePIN + `", ` +
					`"transaction": {"amount": 1000, "id": "` + exampleTransaction + `", "type": "B2C"}}`,
				Request: payoutFields, Status: http.StatusOK,
				Answer: `{"data": {"transaction": {"reference_id": "CI261126.2014.H00006", ` +
					`"airtel_money_id": "disburs-6EJL6CWF1D-order-1042-1", "id": "order-1042-1", "status": "TS"}}, ` + statusExample("DP00900001001", "Success") + `}`,
				Response: answerFields(paidOutFields),
				Refused: withCountry(operatorapi.Invalid, wrongCountry, wrongPayee, wrongPayout, duplicatePayout, wrongPIN, unreadablePIN, notJSON,
					operatorapi.NotFound),
				Test: exchanges + payoutCall,
			},
		},
		{
			Name: payoutCall, Method: http.MethodGet, Path: "/standard/" + version + path + "/{id}", Handle: inCountry(tell(payoutCall)),
			Doc: operatorapi.Doc{
				Summary: "What came of it", Mark: operatorapi.Documented, Source: observed, Status: http.StatusOK,
				Answer: `{"data": {"transaction": {"airtel_money_id": "disburs-6EJL6CWF1D-order-1042-1", "id": "order-1042-1", ` +
					`"message": "Success", "status": "TS"}}, ` + statusExample("DP00900001001", "Success") + `}`,
				Response: answerFields(enquiryFields), Refused: withCountry(noPayout), Test: exchanges + payoutCall,
			},
		},
	}
}

// withCountry adds the reasons of refusals that concern the headers X-Country and X-Currency.
func withCountry(more ...operatorapi.Reason) []operatorapi.Reason {
	return append([]operatorapi.Reason{noCountry, noCurrency, wrongCurrency}, more...)
}

func statusExample(code, message string) string {
	return fmt.Sprintf(`"status": {"code": "200", "message": %q, "result_code": "ESB000010", "response_code": %q, "success": true}`, message, code)
}
