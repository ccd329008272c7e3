package mtn

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// The refusals that only MTN has.
const (
	wrongTarget       operatorapi.Reason = "wrong_target_environment"
	wrongCurrency     operatorapi.Reason = "wrong_currency"
	wrongCallbackHost operatorapi.Reason = "wrong_callback_host"
	notAllowed        operatorapi.Reason = "not_allowed"
	notCompleted      operatorapi.Reason = "not_completed"
)

// applicationError is an error of MTN's application (Documented).
type applicationError struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}

// gatewayError is an error of the gateway before the application (Documented).
type gatewayError struct {
	StatusCode int    `json:"statusCode"`
	Message    string `json:"message"`
}

// oauthError is an error of the token calls (ThirdParty).
type oauthError struct {
	Error string `json:"error"`
}

type refusal struct {
	status int
	body   any
}

func application(status int, code, message string) refusal {
	return refusal{status, applicationError{Message: message, Code: code}}
}

func gateway(status int, message string) refusal {
	return refusal{status, gatewayError{status, message}}
}

const codeUnavailable, textUnavailable = "SERVICE_UNAVAILABLE", "Service temporarily unavailable, try again later."

// noLength is the answer of MTN's gateway to a POST without a length.
var noLength = operatorapi.Text{
	ContentType: "text/html; charset=us-ascii",
	Text: `<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN""http://www.w3.org/TR/html4/strict.dtd">` + "\r\n" +
		`<HTML><HEAD><TITLE>Length Required</TITLE>` + "\r\n" +
		`<META HTTP-EQUIV="Content-Type" Content="text/html; charset=us-ascii"></HEAD>` + "\r\n" +
		`<BODY><h2>Length Required</h2>` + "\r\n" +
		`<hr><p>HTTP Error 411. The request must be chunked or have a content length.</p>` + "\r\n" +
		`</BODY></HTML>` + "\r\n",
}

// refusals are MTN's answers to refused requests. The mark is Documented unless another is given.
var refusals = map[operatorapi.Reason]refusal{
	operatorapi.KeyMissing: gateway(http.StatusUnauthorized, "Access denied due to missing subscription key. Make sure to include subscription "+
		"key when making requests to an API."),
	operatorapi.KeyInvalid: gateway(http.StatusUnauthorized, "Access denied due to invalid subscription key. Make sure to provide a valid key "+
		"for an active subscription."),
	operatorapi.UserInvalid: {http.StatusUnauthorized, oauthError{"login_failed"}}, // ThirdParty
	// Assumed. MTN's PHP SDK reads a 401 with a statusCode as a problem of the key, and any other 401 as an expired
	// token.
	operatorapi.TokenInvalid: {http.StatusUnauthorized, oauthError{"invalid_token"}},
	operatorapi.NoRoute:      gateway(http.StatusNotFound, "Resource not found"),
	operatorapi.NotFound:     application(http.StatusNotFound, "RESOURCE_NOT_FOUND", "Requested resource was not found."),
	operatorapi.Invalid:      {http.StatusBadRequest, nil}, // Assumed: no body; clients use only the status
	operatorapi.NoLength:     {http.StatusLengthRequired, noLength},
	operatorapi.Duplicate: application(http.StatusConflict, "RESOURCE_ALREADY_EXIST",
		"Duplicated reference id. Creation of resource failed."),
	operatorapi.TooMany:     gateway(http.StatusTooManyRequests, "Rate limit is exceeded. Try again later."), // Assumed
	operatorapi.Unavailable: application(http.StatusServiceUnavailable, codeUnavailable, textUnavailable),
	operatorapi.Internal: application(http.StatusInternalServerError, internalError,
		"An internal error occurred while processing."),
	wrongTarget: application(http.StatusInternalServerError, "NOT_ALLOWED_TARGET_ENVIRONMENT",
		"Access to target environment is forbidden."),
	wrongCurrency: application(http.StatusInternalServerError, "INVALID_CURRENCY", "Currency not supported."),
	wrongCallbackHost: application(http.StatusInternalServerError, "INVALID_CALLBACK_URL_HOST",
		"Callback URL does not match the configured value."),
	notAllowed: application(http.StatusInternalServerError, "NOT_ALLOWED", "Authorization failed. Insufficient permissions."),
	notCompleted: application(http.StatusConflict, "NOT_SUCCESSFULLY_COMPLETED", // the text: Assumed
		"The transaction is not successfully completed."),
}

// advice is for the refusals that only MTN has.
var advice = map[operatorapi.Reason]operatorapi.Advice{
	wrongTarget: {
		When:    "`X-Target-Environment` names no enabled environment of the sandbox.",
		Instead: "Send " + payments.OneOf(targets("`")) + ", as the sandbox has it, or `sandbox`.",
	},
	wrongCurrency: {
		When:    "The currency is not that of the target environment.",
		Instead: "Send the currency of the country, such as RWF to `mtnrwanda`. Only the target `sandbox` takes EUR.",
	},
	wrongCallbackHost: {
		When:    "`X-Callback-Url` has another host than the API user, or one that callbacks may not go to.",
		Instead: "Send a URL of the `providerCallbackHost` of the API user, which `spec.callbackHosts` allows.",
	},
	operatorapi.NoLength: {
		When:    "A `POST` has neither `Content-Length` nor `Transfer-Encoding`, for example of `curl -X POST` without `-d`.",
		Instead: "Send `Content-Length: 0` with a request without a body: with curl, `-d ''`.",
	},
	notAllowed:   {When: "The account holder is one of the test holders that nobody may read.", Instead: "Ask for another account holder."},
	notCompleted: {When: "The payment has not succeeded.", Instead: "Wait until its status is `SUCCESSFUL`."},
}

// subscription is what the subscription key has to be.
var subscription = operatorapi.Expected{Part: keyHeader, Form: "mtn-subscription-key of the credentials Secret"}

// expected are the parts of requests that all refusals for a reason concern.
var expected = map[operatorapi.Reason]operatorapi.Expected{
	operatorapi.KeyMissing:  subscription,
	operatorapi.KeyInvalid:  subscription,
	operatorapi.UserInvalid: {Part: "Authorization", Form: "Basic authentication with an API user and its API key"},
	operatorapi.TokenInvalid: {
		Part: "Authorization", Form: "Bearer and a token of the token call of the product in the path",
	},
	operatorapi.NotFound: {Part: "id", Form: "the id of an API user that POST /v1_0/apiuser has made"},
	operatorapi.NoLength: {Part: "Content-Length", Form: "the length of the body, which is 0 without a body"},
	notAllowed:           {Part: "the account holder in the path", Form: "one that is not a test of this refusal"},
}

// parts are the parts of requests that errors of /v1 concern.
var parts = map[string]string{
	string(operatorapi.Duplicate): referenceHeader, "not_refundable": "referenceIdToRefund", "exceeds_refundable": "amount",
}

// internalError is the code of an internal error. MTN also reports many other failures with it.
const internalError = "INTERNAL_PROCESSING_ERROR"

// refuse returns MTN's answer to a refused request.
func refuse(r *operatorapi.Refusal) operatorapi.Answer {
	answer, known := refusals[r.Reason]
	switch {
	case r.Reason == operatorapi.Gateway:
		answer = gateway(r.Status, http.StatusText(r.Status)) // Assumed
	case !known:
		answer = refusals[operatorapi.Internal]
	}
	return operatorapi.Answer{Status: answer.status, Body: answer.body}
}
