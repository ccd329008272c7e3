package orange

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The refusals that only Orange has.
const (
	wrongGrant    operatorapi.Reason = "unsupported_grant_type"
	wrongCountry  operatorapi.Reason = "country_forbidden"
	noCountry     operatorapi.Reason = "wrong_country"
	noBody        operatorapi.Reason = "missing_body"
	noJSON        operatorapi.Reason = "invalid_body"
	missingField  operatorapi.Reason = "missing_field"
	wrongField    operatorapi.Reason = "invalid_field"
	wrongMerchant operatorapi.Reason = "wrong_merchant_key"
	wrongCurrency operatorapi.Reason = "wrong_currency"

	missingOfStatus operatorapi.Reason = "missing_field_of_status"
)

// apiError is the body of an error of every API of Orange (Documented).
type apiError struct {
	Code        int    `json:"code"`
	Message     string `json:"message"`
	Description string `json:"description"`
}

// oauthError is the body of an error of a token call (Documented).
type oauthError struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// forbidden is the message of errors about the merchant or the order (ThirdParty).
const forbidden = "Forbidden transaction"

// refusals are Orange's answers to refused requests. The mark is Documented unless another is given.
var refusals = map[operatorapi.Reason]operatorapi.Answer{
	operatorapi.UserInvalid: {
		Status: http.StatusUnauthorized,
		Body:   oauthError{"invalid_client", "The requested service needs credentials, but the ones provided were invalid."},
	},
	wrongGrant: {
		Status: http.StatusBadRequest, // Assumed
		Body:   oauthError{"unsupported_grant_type", "The grant type is not supported: send client_credentials."},
	},
	operatorapi.TokenInvalid: tokens[operatorapi.UnknownToken],

	operatorapi.NoRoute:  notFound,
	operatorapi.NotFound: notFound, // Assumed: the code 60
	// Assumed: the texts of the next three
	operatorapi.TooMany:     failedWith(http.StatusTooManyRequests, 53, "Too many requests", "The application has made too many calls."),
	operatorapi.Unavailable: failedWith(http.StatusServiceUnavailable, 5, "The service is temporarily unavailable", "Try again later."),
	operatorapi.Internal:    failedWith(http.StatusInternalServerError, 1, "Internal error", "Try again later."),

	noCountry:    failedWith(http.StatusBadRequest, 20, "Invalid URL parameter value", "The country is none."), // Assumed: description
	wrongCountry: failedWith(http.StatusForbidden, 50, "Forbidden access to the API", "Access denied by ACL"),  // ThirdParty
	noBody:       failedWith(http.StatusBadRequest, 21, "Missing body", "The request has no body."),            // Assumed: description
	noJSON:       failedWith(http.StatusBadRequest, 22, "Invalid body", "The body is not a JSON object."),      // Assumed: description
	wrongField:   failedWith(http.StatusBadRequest, 24, "Invalid body field", "A field has an invalid value"),  // ThirdParty; Assumed: description

	wrongMerchant:         failedWith(http.StatusForbidden, 1202, forbidden, "Invalid merchant key"),                   // ThirdParty
	wrongCurrency:         failedWith(http.StatusForbidden, 1203, forbidden, "Unauthorized currency for this country"), // ThirdParty
	operatorapi.Duplicate: failedWith(http.StatusForbidden, 1204, forbidden, "Order Already exists"),                   // ThirdParty
}

// tokens are the answers to a request whose token is not valid (Documented). The descriptions of the first two are
// Assumed.
var tokens = map[operatorapi.Token]operatorapi.Answer{
	operatorapi.NoToken: failedWith(http.StatusUnauthorized, 40, "Missing credentials",
		"The requested service needs credentials, but none were provided."),
	operatorapi.UnknownToken: failedWith(http.StatusUnauthorized, 41, "Invalid credentials",
		"The requested service needs credentials, but the ones provided were invalid."),
	operatorapi.ExpiredToken: failedWith(http.StatusUnauthorized, 42, "Expired credentials",
		"The requested service needs credentials, and the ones provided were out-of-date."),
}

// missingReason is the prefix of the reason of a field that is missing.
const missingReason = "missing_"

// missing returns the answer for a missing field. Its text is that of the library that Orange uses to validate bodies.
// The parameter key is the name that this text gives the body. The name for transactionstatus was observed in answers
// (Documented). The name for webpayment is not known: key is empty there. The end of the text is Assumed. The parameter
// reason names the field; empty: order_id, as an example.
func missing(key, reason string) operatorapi.Answer {
	field := ""
	for _, word := range strings.Split(strings.TrimPrefix(cmp.Or(reason, missingReason+"order_id"), missingReason), "_") {
		field += strings.ToUpper(word[:1]) + word[1:]
	}
	if key != "" {
		key = "Key: '" + key + "." + field + "' "
	}
	return failedWith(http.StatusBadRequest, 23, "Missing body field", key+"Error:Field validation for '"+field+"' failed on the 'required' tag")
}

var notFound = failedWith(http.StatusNotFound, 60, "Resource not found", "The requested URI or the requested resource does not exist.")

func failedWith(status, code int, message, description string) operatorapi.Answer {
	return operatorapi.Answer{Status: status, Body: apiError{code, message, description}}
}

// refuse returns Orange's answer to a refused request.
func refuse(r *operatorapi.Refusal) operatorapi.Answer {
	answer, known := refusals[r.Reason]
	switch {
	case r.Reason == operatorapi.Gateway:
		return failedWith(r.Status, 5, http.StatusText(r.Status), "Try again later.") // Assumed
	case r.Reason == operatorapi.Invalid: // package service refused a field
		return refusals[wrongField]
	case r.Reason == operatorapi.NoRoute && len(r.Allow) > 0:
		a := failedWith(http.StatusMethodNotAllowed, 61, "Method not allowed", "The resource does not have this method.") // Assumed: texts
		a.Header, a.Reason = http.Header{"Allow": {strings.Join(r.Allow, ", ")}}, "method_not_allowed"
		return a
	case r.Reason == operatorapi.TokenInvalid:
		return tokens[r.Token]
	case r.Reason == missingField:
		return missing("", r.ErrorCode)
	case r.Reason == missingOfStatus:
		return missing("GetTransactionStatusInfo", r.ErrorCode)
	case !known:
		return refusals[operatorapi.Internal]
	}
	return answer
}

// expected are the parts of requests that all refusals for a reason concern.
var expected = map[operatorapi.Reason]operatorapi.Expected{
	operatorapi.UserInvalid: {
		Part: "Authorization", Form: "Basic authentication with orange-client-id and orange-client-secret of the credentials Secret",
	},
	operatorapi.TokenInvalid: {Part: "Authorization", Form: "Bearer and a token of the token call"},
	wrongGrant:               {Part: "grant_type", Form: "client_credentials, in a form"},
	wrongMerchant:            {Part: "merchant_key", Form: forms["merchant_key"]},
}

// advice is for the refusals that only Orange has.
var advice = map[operatorapi.Reason]operatorapi.Advice{
	wrongGrant: {When: "The form has no `grant_type=client_credentials`.", Instead: "Send it, with `Content-Type: application/x-www-form-urlencoded`."},
	noCountry:  {When: "The country in the path has not two letters.", Instead: "Send the country of an environment, or `dev`."},
	wrongCountry: {
		When:    "The sandbox has no enabled environment of Orange in the country of the path, or none that `dev` could mean.",
		Instead: "Send the country of an environment in small letters, or `dev` for the first one.",
	},
	noBody:          {When: "The request has no body.", Instead: "Send a JSON object with the fields of the call."},
	noJSON:          {When: "The body is no JSON object.", Instead: "Send an object with the fields of the call."},
	missingField:    {When: "A field is missing or empty. `X-Cauri-Reason` names it.", Instead: "Send all fields but `lang` and `reference`, which are optional."},
	missingOfStatus: {When: "A field is missing or empty. `X-Cauri-Reason` names it.", Instead: "Send all three fields."},
	wrongField:      {When: "A field has a wrong type, form or length. `X-Cauri-Reason` names it.", Instead: "Compare it with the fields of the call. The host of `notif_url` has to be one that `spec.callbackHosts` allows."},
	wrongMerchant:   {When: "The `merchant_key` is not that of the sandbox.", Instead: "Send `orange-merchant-key` of the credentials Secret."},
	wrongCurrency:   {When: "The currency is not that of the country.", Instead: "Send `OUV` under `dev`, and the currency of the environment under a country."},
	operatorapi.Duplicate: {
		When:    "The `order_id` is that of an open order, or the reference of a transaction of any API.",
		Instead: "Send a new `order_id`. An order that has ended without a payment frees its id.",
	},
}
