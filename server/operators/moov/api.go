package moov

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// NewAPI returns Moov's own API: the SOAP of Benin, and the JSON of Togo. Other countries have none, because nothing is
// known about theirs.
func NewAPI() *operatorapi.API {
	return &operatorapi.API{
		Operator: payments.Moov, Routes: routes(), Files: files(),
		Key: keyOf, KeyHeader: authorization, Login: loginInQuery, Derive: deriveCredentials, Refuse: refuse, OwnAdvice: advice,
		Expected:  expected,
		Parts:     map[string]string{string(operatorapi.Duplicate): "externaldata1, referenceid or mrchrefid"},
		PathFirst: true,
		Callback:  newCallback, Examples: examples, Facts: facts, Logged: logged, SecretForm: secretForm, ContentType: "application/json",
	}
}

// logged are the fields that the request log keeps. Tokens, keys and names of persons are not among them.
var logged = []string{
	"msisdn", "mrchrefid", "mrchname", "amount", "partnermsisdn", "status", "message", "description", "mrorrefid", "code", "refid", "details",
	"pushussd", "callback", "mrchreference", "mrorreference", "referenceid", "validationdate",
	"externaldata1", "externaldata2", "fee", "transid", "destination", "walletid", "extendeddata", "remarks", "transactionid", "balance",
	"senderbalancebefore", "senderbalanceafter", "senderbonus", "accounttype", "allowedtransfer", "subscriberstatus",
	"faultcode", "faultstring",
}

// secretForm matches user names, passwords and tokens.
var secretForm = regexp.MustCompile(`(?i)[0-9a-f]{32}|[A-Za-z0-9+/]{64,}={0,2}`)

func deriveCredentials(apiKey string) operatorapi.Credentials {
	user, password := operatorapi.Derived(apiKey, "moov username"), operatorapi.Derived(apiKey, "moov password")
	token := newToken("0", user, password)
	return operatorapi.Credentials{
		Secret: map[string]string{
			"moov-username": user, "moov-password": password, "moov-encryption-key": encryptionKey, "moov-token": token,
		},
		Key: token, User: user, UserKey: password,
	}
}

const authorization = "Authorization"

// keyOf returns the token of a request. It reads the token from the header (Togo) or the body (Benin, and any path without
// the header). For a request
// for a token, it makes the token from the user name and the password in the query; "" if the query has none. Clients
// choose another counter or initialization vector. So keyOf returns the token that this package makes for the user name
// and the password in the client's token. It returns a token that cannot be decrypted unchanged.
func keyOf(r *http.Request, body func() []byte) string {
	if operatorapi.IsTo(r, "/"+string(payments.Moov)+tokenPath) {
		user, password, given := loginInQuery(r, nil)
		if !given {
			return ""
		}
		return newToken("0", user, password)
	}
	token := strings.TrimSpace(r.Header.Get(authorization))
	if strings.Contains(r.URL.Path, soapFolder) || token == "" {
		token = ""
		if call, err := readCall(body()); err == nil {
			token = call.fields["token"]
		}
	}
	if user, password, ok := readToken(token); ok {
		return newToken("0", user, password)
	}
	return token
}

// loginInQuery returns the user name and the password in the query of a request for a token.
func loginInQuery(r *http.Request, _ func() []byte) (user, password string, given bool) {
	return loginOf(r.URL.Query())
}

func loginOf(query url.Values) (user, password string, given bool) {
	user, password = query.Get("username"), query.Get("password")
	return user, password, user != "" && password != ""
}

// examples are values for the description of the API.
var examples = map[string]string{"index": "0", "username": "8f2b1c5a9d3e4f60718293a4b5c6d7e8", "password": "0123456789abcdef0123456789abcdef"}

// exchanges is the prefix of the names of the tests that replay recorded exchanges.
const exchanges = operatorapi.ExchangesTest + "/moov/"

// The paths of the API.
const (
	tokenPath  = "/token"
	soapFolder = "/com.tlc.merchant.api/"
	soapPath   = soapFolder + "UssdPush"
)

// debitPaths are the paths of the calls of Togo in three generations of clients.
var debitPaths = [][2]string{
	{"/Flooz/DebitService/Debit", "/Flooz/DebitService/Verify"},
	{"/floozdebitapi/flooz/debitService", "/floozdebitapi/flooz/verify"},
	{"/payment/HttpService/json/cv/debit", "/payment/HttpService/json/cv/Verify"},
}

// product is the name of the group of calls in the description.
const product = "togo"

func routes() []operatorapi.Route {
	all := []operatorapi.Route{{
		Name: "token", Method: http.MethodGet, Path: tokenPath, Access: operatorapi.ByUser, Product: product, Handle: issueToken,
		Doc: operatorapi.Doc{
			Summary: "A token of a user name and a password, which clients may also make themselves", Mark: operatorapi.ThirdParty, Source: operatorapi.PublishedClients,
			Query: tokenQuery, Status: http.StatusOK, Answer: `{"key": "` + exampleToken + `"}`, Response: tokenFields,
			Refused: []operatorapi.Reason{operatorapi.NoRoute}, Test: exchanges + "token",
		},
	}}
	for _, path := range debitPaths {
		all = append(all, operatorapi.Route{
			Name: debitCall, Method: http.MethodPost, Path: path[0], Product: product, Orders: true, Handle: debit,
			Doc: operatorapi.Doc{
				Summary: "Asks a payer for money: a collection", Mark: operatorapi.ThirdParty, Source: operatorapi.PublishedClients,
				Body: `{"msisdn": "22879000001", "key": "MRCHO", "mrchrefid": "order-1042", "mrchname": "Shop", "amount": "500", ` +
					`"partnermsisdn": "22879000000"}`,
				Request: debitFields, Status: http.StatusOK, Answer: debitBodyOf("0", beingProcessed, exampleReference), Response: saidFields,
				Refused: []operatorapi.Reason{incomplete, operatorapi.Invalid, operatorapi.Duplicate, operatorapi.NotFound, operatorapi.NoRoute},
				Test:    exchanges + debitCall,
			},
		}, operatorapi.Route{
			Name: debitCall, Method: http.MethodPost, Path: path[1], Product: product, Handle: verify,
			Doc: operatorapi.Doc{
				Summary: "What came of it", Mark: operatorapi.ThirdParty, Source: operatorapi.PublishedClients,
				Body: `{"mrchrefid": "order-1042", "partnermsisdn": "22879000000"}`, Request: verifyFields, Status: http.StatusOK,
				Answer: strings.TrimSuffix(debitBodyOf("0", "Success", exampleReference), "}") + `, "details": {"pushussd": "0", "callback": "0", ` +
					`"amount": "500", "mrchreference": "order-1042", "mrchname": "shop", "msisdn": "22879000001", "mrorreference": "` + exampleReference +
					`", "referenceid": "` + exampleReference + `", "validationdate": "2026-11-26 22:14:05", "status": "0"}}`,
				Response: append(saidFields[:len(saidFields):len(saidFields)], detailsField),
				Refused:  []operatorapi.Reason{noReference, operatorapi.Invalid, operatorapi.NotFound, operatorapi.NoRoute},
				Test:     exchanges + debitCall,
			},
		})
	}
	return append(all, operatorapi.Route{
		Name: "soap", Method: http.MethodPost, Path: soapFolder + "{endpoint}", Product: "benin", Orders: true, Handle: soap, Refuse: refuseCall,
		Doc: operatorapi.Doc{
			Summary: "SOAP 1.1: " + strings.Join(operationNames(), ", "), Mark: operatorapi.ThirdParty, Source: operatorapi.PublishedClients,
			Elsewhere: soapPath + "?wsdl", Status: http.StatusOK, Answer: fault("soap:Server", "an example").Text, Test: exchanges + "soap", Refused: []operatorapi.Reason{
				incomplete, noReference, operatorapi.Invalid, wrongNumber, tooLittle, tooMuch, notANumber, noOperation, operatorapi.Duplicate,
				operatorapi.NotFound, unknownHolder, operatorapi.NoRoute,
			},
		},
	})
}

// issueToken answers with the token for the user name and the password in the query.
func issueToken(_ context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	if _, err := environmentIn(s, payments.Togo); err != nil {
		return operatorapi.Answer{}, err
	}
	counter := r.Query.Get("index")
	if !counterForm.MatchString(counter) {
		counter = "0"
	}
	_, password, _ := loginOf(r.Query)
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		Key string `json:"key"`
	}{newToken(counter, r.User.ID, password)}}, nil
}

// environmentIn returns the environment of a country. It refuses with [operatorapi.NoRoute] if the sandbox has none
// there.
func environmentIn(s operatorapi.Sandbox, country payments.Country) (operatorapi.Environment, error) {
	for _, e := range s.Environments() {
		if e.Country == country {
			return e, nil
		}
	}
	return operatorapi.Environment{}, operatorapi.Refuse(operatorapi.NoRoute).Expect("path",
		"a call of a country where the sandbox has an enabled environment of moov, and it has none in "+string(country))
}
