package mpesa

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// product is the product of every token, because one token serves all products of an app (Documented).
const product = "daraja"

// The names of the calls that move money. They are stored with their transactions.
const pushCall = "stkpush"

// NewAPI returns M-Pesa's own API. Its routes are those that clients of Daraja call.
func NewAPI() *operatorapi.API {
	return &operatorapi.API{
		Operator: payments.MPesa, Name: "M-Pesa", Routes: routes(), Key: keyOf, Derive: deriveCredentials, Refuse: refuse,
		FieldReasons: map[operatorapi.Reason]string{wrongField: wrongFieldPrefix}, Drawn: []string{"requestId"},
		Callback: newCallback, Examples: examples, OwnAdvice: advice, Expected: expected, Parts: parts, Facts: facts(), Quirks: quirks,
		Logged: logged,
		Page:   &page, Message: messageOf, Started: c2bCall,
		SecretForm: secretForm, ContentType: "application/json",
		Variables: map[string]string{
			exampleShortCode: "CAURI_MPESA_SHORTCODE", examplePassword: "PASSWORD",
			exampleInitiator: "CAURI_MPESA_INITIATOR_NAME", exampleCredential: "SECURITY_CREDENTIAL",
		},
		Files: []operatorapi.File{{Path: "/certificate", ContentType: "application/x-pem-file", Certificate: true}},
	}
}

// logged are the fields that the request log keeps. Passwords, tokens and names of persons are not among them.
var logged = []string{
	"BusinessShortCode", "Timestamp", "TransactionType", "Amount", "PartyA", "PartyB", "PhoneNumber", "CallBackURL", "AccountReference", "TransactionDesc",
	"CheckoutRequestID", "MerchantRequestID", "ResponseCode", "ResponseDescription", "CustomerMessage", "ResultCode", "ResultDesc", "requestId", "errorCode",
	"errorMessage", "expires_in", "ShortCode", "ResponseType", "ConfirmationURL", "ValidationURL", "CommandID", "Msisdn", "BillRefNumber",
	"OriginatorCoversationID", "RequestType", "NominatedNumber", "StartDate", "EndDate", "OffSetValue", "ResponseRefID", "ResponseStatus", "ResponseMessage",
	"MerchantName", "RefNo", "TrxCode", "CPI", "Size", "RequestID",
	"OriginatorConversationID", "OriginalConversationID", "ConversationID", "TransactionID", "ReceiverParty", "RecieverIdentifierType",
	"IdentifierType", "Remarks", "Occassion", "Occasion", "ResultURL", "QueueTimeOutURL",
}

// secretForm matches consumer keys, consumer secrets, passkeys and tokens.
var secretForm = regexp.MustCompile(`[0-9A-Za-z]{28,}`)

// The names of the checked credentials.
const (
	shortCodeCheck = "shortcode"
	passkeyCheck   = "passkey"
)

// The short code and the passkey of Safaricom's own sandbox, which clients have built in (Documented). Every sandbox takes
// them beside its own.
const (
	publicShortCode = "174379"
	publicPasskey   = "bfb279f9aa9bdbcf158e97dd71a467cd2e0c893059b10f78e6b72ada1ed2c919"
)

// deriveCredentials returns the credentials of a sandbox. The consumer key and every token begin with the credential that
// identifies the sandbox.
func deriveCredentials(apiKey string) operatorapi.Credentials {
	derive := func(purpose string) string { return operatorapi.Derived(apiKey, "mpesa "+purpose) }
	key := inLetters(derive("key"))[:lengthOfKey]
	id := key + inLetters(derive("consumer key") + derive("consumer key, continued"))[:48-lengthOfKey]
	secret := inLetters(derive("consumer secret") + derive("consumer secret, continued"))[:40]
	passkey := derive("passkey") + derive("passkey, continued")
	initiator := "api" + inLetters(derive("initiator"))[:8]
	password := inLetters(derive("initiator password") + derive("initiator password, continued"))[:lengthOfInitiatorPassword]
	shortCode := fmt.Sprint(300_000 + numberIn(derive("short code"))%300_000)
	return operatorapi.Credentials{
		Secret: map[string]string{
			"mpesa-consumer-key": id, "mpesa-consumer-secret": secret, "mpesa-passkey": passkey, "mpesa-shortcode": shortCode,
			"mpesa-initiator-name": initiator, "mpesa-initiator-password": password,
		},
		Key: key, User: id, UserKey: secret, Checked: map[string]string{
			shortCodeCheck: shortCode, passkeyCheck: passkey, initiatorCheck: initiator, initiatorPasswordCheck: password,
		},
	}
}

// numberIn returns a number of the first 32 bits of a hexadecimal text.
func numberIn(digits string) uint64 {
	n, err := strconv.ParseUint(digits[:8], 16, 32)
	if err != nil {
		panic(err) // hexadecimal digits can always be parsed
	}
	return n
}

// inLetters returns a hexadecimal text in small letters and digits. Every 32 hexadecimal digits are 24 characters.
func inLetters(digits string) string {
	var b strings.Builder
	for ; digits != ""; digits = digits[32:] {
		n, ok := new(big.Int).SetString(digits[:32], 16)
		if !ok {
			panic("not hexadecimal: " + digits[:32]) // a caller's mistake
		}
		text := fmt.Sprintf("%025s", n.Text(36))
		b.WriteString(text[1:]) // the first digit is not even
	}
	return b.String()
}

const (
	// lengthOfKey is the number of characters of the credential that identifies a sandbox, and of the random rest of a
	// token. A token has 28 characters (Documented).
	lengthOfKey   = 14
	lengthOfToken = 2 * lengthOfKey
)

// keyOf returns the credential in the access token, or in the consumer key of a request for a token.
func keyOf(r *http.Request, _ func() []byte) string {
	text, _, isBasic := r.BasicAuth()
	if !isBasic {
		if text = bearer(r.Header); len(text) != lengthOfToken {
			return ""
		}
	}
	if len(text) < lengthOfKey {
		return ""
	}
	return text[:lengthOfKey]
}

// bearer returns the access token of a request; "" for none.
func bearer(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// strictTimestamp is the quirk that refuses requests whose Timestamp is not Nairobi's time.
var strictTimestamp = operatorapi.Quirk{
	Name: "mpesaStrictTimestamp", Off: true,
	About: "mpesaStrictTimestamp is whether M-Pesa refuses a Timestamp that is an hour or more away from the time in Nairobi.\n" +
		"If it is false, any well-formed Timestamp is accepted. Default false.",
}

var quirks = []operatorapi.Quirk{strictTimestamp, blankKeys, doubledParty, numericBalance}

// examples are values for the description of the API.
var examples = map[string]string{"grant_type": "client_credentials", "requestId": exampleMerchant}

const (
	exampleShortCode = "345678"
	exampleTimestamp = "20261128101500"
	exampleNumber    = "254712345678"
	exampleCheckout  = "ws_CO_281120261015003712345678"
	exampleMerchant  = "2654-4b64-97ff-b827b542881d3130"
)

// examplePassword is the example of a password, which the reader replaces.
var examplePassword = base64.StdEncoding.EncodeToString([]byte(exampleShortCode + publicPasskey + exampleTimestamp))

// exchanges is the prefix of the names of the tests that replay recorded exchanges.
const exchanges = operatorapi.ExchangesTest + "/mpesa/"

func routes() []operatorapi.Route {
	var all []operatorapi.Route
	for _, some := range [][]operatorapi.Route{
		tokenRoutes(), pushRoutes(), c2bRoutes(), pullRoutes(), payoutRoutes(), reversalRoutes(), inquiryRoutes(), productRoutes(), qrRoutes(),
	} {
		all = append(all, some...)
	}
	for i := range all {
		all[i].Product = product
		if all[i].Access == operatorapi.ByKey {
			all[i].Access = operatorapi.ByToken
		}
	}
	return all
}

func facts() []operatorapi.Fact {
	var all []operatorapi.Fact
	for _, some := range [][]operatorapi.Fact{
		commonFacts, pushFacts, flickerFacts, c2bFacts, pullFacts, payoutFacts, reversalFacts, inquiryFacts, productFacts, qrFacts, messageFacts,
	} {
		all = append(all, some...)
	}
	return all
}
