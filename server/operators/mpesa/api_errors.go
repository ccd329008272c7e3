package mpesa

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The refusals that only M-Pesa has.
const (
	wrongGrant      operatorapi.Reason = "unsupported_grant_type"
	wrongField      operatorapi.Reason = "invalid_field"
	unknownMerchant operatorapi.Reason = "unknown_short_code"
	wrongPassword   operatorapi.Reason = "wrong_password"
	locked          operatorapi.Reason = "subscriber_locked"
	unknownPush     operatorapi.Reason = "unknown_checkout"
	busy            operatorapi.Reason = "system_busy"
	rejected        operatorapi.Reason = "rejected_by_validation"
	// takenConversation is the refusal of a payout.
	takenConversation operatorapi.Reason = "duplicate_conversation"
)

// wrongFieldPrefix is the prefix of the error code of a wrong field, see [operatorapi.API].
const wrongFieldPrefix = "invalid_"

// refusedField returns the refusal of a field. The parameter form says what the field should be.
func refusedField(name, form string) *operatorapi.Refusal {
	return operatorapi.Because(wrongField, wrongFieldPrefix+name).Expect(name, form)
}

// apiError is the body of an error (Documented).
type apiError struct {
	RequestID    string `json:"requestId"`
	ErrorCode    string `json:"errorCode"`
	ErrorMessage string `json:"errorMessage"`
}

// told is an error of the API: the HTTP status, the code and the message.
type told struct {
	status        int
	code, message string
}

func (e told) answer() operatorapi.Answer {
	return operatorapi.Answer{Status: e.status, Body: apiError{drawnID(), e.code, e.message}}
}

// family has the errors of a product. Products differ in the codes for the same refusal (Documented).
type family struct {
	badToken  told
	notFound  told   // no such path
	method    told   // another method of a path; none: notFound
	badField  string // code of a wrong field
	fieldText string // message of a wrong field, before its name; without one, it does not name the field
	others    map[operatorapi.Reason]told
}

const (
	transactionFailed = "500.001.1001"
	gatewayBusy       = "500.003.02"
	gatewayFailed     = "500.003.1001"
)

// common are the errors that all products have. The mark is Documented unless another is given.
var common = map[operatorapi.Reason]told{
	operatorapi.UserInvalid: {http.StatusBadRequest, "400.008.01", "Invalid Authentication passed"},
	wrongGrant:              {http.StatusBadRequest, "400.008.02", "Invalid grant type passed"},
	unknownMerchant:         {http.StatusInternalServerError, transactionFailed, "Merchant does not exist"},
	wrongPassword:           {http.StatusInternalServerError, transactionFailed, "Wrong credentials"},
	locked: {
		http.StatusInternalServerError, transactionFailed, "Unable to lock subscriber, a transaction is already in process for the current subscriber",
	},
	unknownPush:           {http.StatusInternalServerError, transactionFailed, "The transaction does not Exist"},
	rejected:              {http.StatusInternalServerError, transactionFailed, "The transaction was rejected by the validation"}, // Assumed
	busy:                  {http.StatusInternalServerError, gatewayBusy, "System is busy. Please try again in few minutes."},
	operatorapi.TooMany:   {http.StatusTooManyRequests, gatewayBusy, "Error Occurred: Spike Arrest Violation"}, // Assumed: the status
	operatorapi.Internal:  {http.StatusInternalServerError, gatewayFailed, "Internal Server Error"},
	operatorapi.Duplicate: {http.StatusInternalServerError, transactionFailed, "Internal Server Error"}, // Assumed
}

// wrongMethod is the error of another method of a path.
var wrongMethod = told{http.StatusMethodNotAllowed, "405.001", "Method Not Allowed"}

// expressErrors are the errors of M-Pesa Express, of reversals and of dynamic QR codes.
var expressErrors = family{
	badToken: told{http.StatusNotFound, "404.001.03", "Invalid Access Token"},
	notFound: told{http.StatusNotFound, "404.001.01", "Resource not found"},
	method:   wrongMethod, badField: "400.002.02", fieldText: "Bad Request - Invalid ",
}

// families has the errors of the products below the path of each. All others have those of M-Pesa Express.
var families = map[string]*family{
	"/mpesa/c2b/": &c2bErrors, "/mpesa/transactionstatus/": &c2bErrors, "/mpesa/b2c/": &b2cErrors, "/mpesa/b2pochi/": &b2cErrors,
	"/mpesa/accountbalance/": &b2cErrors, "/pulltransactions/": &pullErrors,
}

// refuse returns the answer to a request that no route has refused.
func refuse(r *operatorapi.Refusal) operatorapi.Answer {
	for prefix, of := range families {
		if strings.HasPrefix(r.Path, prefix) {
			return of.refuse(r)
		}
	}
	return expressErrors.refuse(r)
}

// notReached is the page with which the network before Daraja answers for it, also to clients that want JSON (Documented;
// Assumed: the text).
var notReached = operatorapi.Answer{Status: http.StatusServiceUnavailable, Body: operatorapi.Text{
	ContentType: operatorapi.HTML,
	Text: `<html><head><meta name="robots" content="noindex, nofollow"></head><body>Request unsuccessful. ` +
		`Incapsula incident ID: 0-000000000000000000</body></html>`,
}}

// refuse returns the product's answer to a refused request.
func (f *family) refuse(r *operatorapi.Refusal) operatorapi.Answer {
	answer, known := f.others[r.Reason]
	if !known {
		answer, known = common[r.Reason]
	}
	switch {
	case r.Reason == operatorapi.Unavailable:
		return notReached
	case r.Reason == operatorapi.TokenInvalid:
		answer = f.badToken
	case r.Reason == operatorapi.NoRoute && len(r.Allow) > 0 && f.method.status != 0:
		a := f.method.answer()
		a.Header, a.Reason = http.Header{"Allow": {strings.Join(r.Allow, ", ")}}, "method_not_allowed"
		return a
	case r.Reason == operatorapi.NoRoute:
		answer = f.notFound
	case r.Reason == operatorapi.Gateway:
		answer = told{r.Status, gatewayFailed, http.StatusText(r.Status)} // Assumed
	case r.Reason == operatorapi.NotFound && !known:
		answer = common[unknownPush]
	case (r.Reason == wrongField || r.Reason == operatorapi.Invalid) && !known:
		field := strings.TrimPrefix(r.ErrorCode, wrongFieldPrefix)
		if r.Reason == operatorapi.Invalid || field == "" { // package service refused the request
			field = "Request"
		}
		if field == "TransactionDesc" { // the answer names a field that the request does not have (Documented)
			field = "Remarks"
		}
		answer = told{http.StatusBadRequest, f.badField, f.fieldText + field}
		if f.fieldText == "" {
			answer.message = "Bad Request"
		}
	case !known:
		answer = common[operatorapi.Internal]
	}
	return answer.answer()
}

// ofRoute is the function of [operatorapi.Route] for the errors of a family.
func (f *family) ofRoute(r *operatorapi.Refusal, _ []byte) operatorapi.Answer { return f.refuse(r) }

// drawnID returns an id in the form of those that Daraja draws.
func drawnID() string {
	var drawn [16]byte
	_, _ = rand.Read(drawn[:]) // never fails
	return darajaID(hex.EncodeToString(drawn[:]))
}

// expected are the parts of requests that all refusals for a reason concern.
var expected = map[operatorapi.Reason]operatorapi.Expected{
	operatorapi.UserInvalid: {
		Part: "Authorization", Form: "Basic authentication with mpesa-consumer-key and mpesa-consumer-secret of the credentials Secret",
	},
	operatorapi.TokenInvalid: {Part: "Authorization", Form: "Bearer and a token of the token call"},
	wrongGrant:               {Part: "grant_type", Form: "client_credentials, in the query"},
	unknownMerchant:          {Part: "BusinessShortCode", Form: "mpesa-shortcode of the credentials Secret, or " + publicShortCode},
	wrongPassword: {
		Part: "Password", Form: "the Base64 of BusinessShortCode, mpesa-passkey of the credentials Secret, and Timestamp as it is in the body",
	},
	locked:      {Part: "PhoneNumber", Form: "a number whose phone has no prompt, or the answer to that prompt first"},
	rejected:    {Part: "ValidationURL", Form: "an answer with ResultCode 0 within 8 seconds"},
	notPulled:   {Part: "ShortCode", Form: "a short code that was registered for Pull"},
	unknownPush: {Part: "CheckoutRequestID", Form: "that of a push of this sandbox"},
}

// parts are the parts of requests that errors of /v1 concern.
var parts = map[string]string{string(operatorapi.Duplicate): "CheckoutRequestID"}

// advice is for the refusals that only M-Pesa has.
var advice = map[operatorapi.Reason]operatorapi.Advice{
	wrongGrant: {When: "The query has no `grant_type=client_credentials`.", Instead: "Send it in the query: this call has no body."},
	wrongField: {When: "A field is missing, or has a wrong form. `X-Cauri-Reason` names it.", Instead: "Compare it with the fields of the call."},
	unknownMerchant: {
		When:    "The sandbox has no such short code.",
		Instead: fmt.Sprintf("Send `mpesa-shortcode` of the credentials Secret, or %s with the public passkey.", publicShortCode),
	},
	wrongPassword: {
		When:    "The password is not made of the short code, the passkey and the timestamp of the request.",
		Instead: "Encode the three in Base64, one after the other, with the same timestamp as in the body.",
	},
	locked:       {When: "The phone of this number has a prompt already.", Instead: "Answer that prompt, or wait until it ends: `1037` after a minute."},
	unknownPush:  {When: "The sandbox has no push with this id.", Instead: "Check the `CheckoutRequestID`. A reset removes transactions."},
	wrongPayload: {When: "The body is no JSON object, or a field has another type.", Instead: "Compare it with the fields of the call."},
	notPulled: {
		When: "The short code was not registered for Pull, or the sandbox was reset since then.", Instead: "Call `POST /pulltransactions/v1/register` first.",
	},
	takenConversation: {
		When:    "The `OriginatorConversationID` is the reference of a transaction.",
		Instead: "Send a new one. If it was the same payout, ask for its status.",
	},
	rejected: {
		When:    "The shop's `ValidationURL` rejected the payment, or gave no answer although `ResponseType` is `Cancelled`.",
		Instead: "Answer the validation with `ResultCode` 0 within 8 seconds, while this call waits.",
	},
	busy: {When: "The payment ended with `SERVICE_UNAVAILABLE`.", Instead: "Make a new push."},
	operatorapi.Duplicate: {
		When: "The id that this call made is the reference of a transaction.", Instead: "Send the request again.",
	},
}
