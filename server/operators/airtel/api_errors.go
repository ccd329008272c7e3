package airtel

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The refusals that only Airtel has.
const (
	noGrant         operatorapi.Reason = "grant_type_missing"
	noCountry       operatorapi.Reason = "country_unknown"
	wrongCountry    operatorapi.Reason = "wrong_country"
	noCurrency      operatorapi.Reason = "currency_missing"
	wrongCurrency   operatorapi.Reason = "wrong_currency"
	wrongNumber     operatorapi.Reason = "wrong_msisdn"
	wrongAmount     operatorapi.Reason = "wrong_amount"
	wrongPayee      operatorapi.Reason = "wrong_payee"
	wrongPayout     operatorapi.Reason = "wrong_amount_of_disbursement"
	duplicatePayout operatorapi.Reason = "duplicate_disbursement"
	noPayout        operatorapi.Reason = "disbursement_not_found"
	noUser          operatorapi.Reason = "user_not_found"
	wrongPIN        operatorapi.Reason = "wrong_pin"
	unreadablePIN   operatorapi.Reason = "unreadable_pin"
	notJSON         operatorapi.Reason = "unsupported_media_type"
)

// oauthError is the error of a token call, or of a call with a wrong token (Documented).
type oauthError struct {
	Description string `json:"error_description"`
	Error       string `json:"error"`
}

// routerError is an error of the gateway (Documented).
type routerError struct {
	Message string `json:"status_message"`
	Code    string `json:"status_code"`
}

// envelope is the body of an error of the application (Documented).
type envelope struct {
	Status Status `json:"status"`
}

// refused returns the answer for a business failure: the status is 200, and the body has the failure (Documented).
func refused(result, response, message string) operatorapi.Answer {
	return failedWith(http.StatusOK, "400", result, response, message)
}

func failedWith(status int, code, result, response, message string) operatorapi.Answer {
	return operatorapi.Answer{Status: status, Body: envelope{Status{Code: code, Message: message, ResultCode: result, ResponseCode: response}}}
}

func router(code, message string) operatorapi.Answer {
	return operatorapi.Answer{Status: http.StatusBadRequest, Body: routerError{message, code}}
}

const invalidNumber = "Invalid Msisdn Length. Msisdn Length should be 9"

// refusals are Airtel's answers to refused requests. The mark is Documented unless another is given.
var refusals = map[operatorapi.Reason]operatorapi.Answer{
	operatorapi.UserInvalid: {Status: http.StatusBadRequest, Body: oauthError{"Invalid client authentication", "invalid_client"}}, // ThirdParty: the status
	operatorapi.TokenInvalid: {
		Status: http.StatusUnauthorized, Body: oauthError{"The access token is invalid or has expired", "invalid_token"},
	},
	noGrant: {Status: http.StatusBadRequest, Body: oauthError{"Invalid input grant_type: must not be blank", "Validation Error"}}, // ThirdParty

	operatorapi.NoRoute:     failedWith(http.StatusNotFound, "404", "ESB000001", "", "Not found"),                       // Assumed
	operatorapi.TooMany:     failedWith(http.StatusTooManyRequests, "429", "ESB000001", "", "Too many requests"),        // Assumed
	operatorapi.Unavailable: failedWith(http.StatusServiceUnavailable, "503", "ESB000001", "", "Service unavailable"),   // Assumed
	operatorapi.Internal:    failedWith(http.StatusInternalServerError, "500", "ESB000001", "", "Something went wrong"), // Assumed: the status
	notJSON:                 {Status: http.StatusUnsupportedMediaType},                                                  // Assumed: no body
	operatorapi.Invalid:     refused(invalid, "", "Missing header/body params"),
	operatorapi.NotFound:    refused("ESB000045", "DP00800001025", "Transaction not found"),
	operatorapi.Duplicate:   failedWith(http.StatusOK, "500", duplicateID, "DP00800001000", "External Transaction ID already exists."),

	noCountry:     router("ROUTER110", "Partner not found"),
	wrongCountry:  failedWith(http.StatusBadRequest, "400", "ESB000034", "", "Invalid Country Code"),
	noCurrency:    refused(invalid, "", "Missing request header 'x-wallet-id' for method parameter of type String"),
	wrongCurrency: refused("ESB000035", "", "Invalid/Missing Currency"),
	wrongNumber:   refused("ESB000033", "", invalidNumber),
	wrongAmount:   refused("ESB000011", "DP00800001004", "Invalid amount"),

	wrongPayee:      refused("521002", "DP00900001013", invalidNumber),
	wrongPayout:     refused("ESB000011", "DP00900001004", "Invalid amount"),
	duplicatePayout: refused("ESB000041", "DP00900001017", "Duplicate transaction id"),
	noPayout:        refused("ESB000045", "DP00900001015", "Transaction not found"),
	noUser:          refused("ESB000045", "DP02200000002", "User not found"),
	wrongPIN:        router("ROUTER115", "Incorrect Pin"),           // Assumed: the code
	unreadablePIN:   router("ROUTER116", "Incorrect Encrypted Pin"), // Assumed: the code
}

// refuse returns Airtel's answer to a refused request.
func refuse(r *operatorapi.Refusal) operatorapi.Answer {
	answer, known := refusals[r.Reason]
	switch {
	case r.Reason == operatorapi.UserInvalid && r.Basic: // ThirdParty: so does the gateway whose texts Airtel's are
		answer.Status, answer.Header = http.StatusUnauthorized, http.Header{"Www-Authenticate": {`Basic realm="OAuth2.0"`}}
	case r.Reason == operatorapi.Gateway:
		return failedWith(r.Status, strconv.Itoa(r.Status), "ESB000001", "", http.StatusText(r.Status)) // Assumed
	case !known:
		return refusals[operatorapi.Internal]
	}
	return answer
}

// instead replaces the reason of a refusal by its value in the map named of. It returns any other error unchanged. It
// is for a product whose codes differ from those of collections.
func instead(err error, of map[operatorapi.Reason]operatorapi.Reason) error {
	var refused *operatorapi.Refusal
	if errors.As(err, &refused) && of[refused.Reason] != "" {
		return operatorapi.Because(of[refused.Reason], string(refused.Reason)).Say(refused.Detail)
	}
	return err
}

var ofPayouts = map[operatorapi.Reason]operatorapi.Reason{
	operatorapi.Duplicate: duplicatePayout, wrongNumber: wrongPayee, wrongAmount: wrongPayout,
}

// expected are the parts of requests that all refusals for a reason concern.
var expected = map[operatorapi.Reason]operatorapi.Expected{
	operatorapi.UserInvalid: {
		Part: "client_id and client_secret",
		Form: "airtel-client-id and airtel-client-secret of the credentials Secret, in the body or by Basic authentication",
	},
	operatorapi.TokenInvalid: {Part: "Authorization", Form: "Bearer and a token of the token call"},
}

// parts are the parts of requests that errors of /v1 concern.
var parts = map[string]string{
	string(operatorapi.Duplicate): "transaction.id", "not_refundable": moneyIDField, "exceeds_refundable": moneyIDField,
}

// advice is for the refusals that only Airtel has.
var advice = map[operatorapi.Reason]operatorapi.Advice{
	noGrant:         {When: "The body has no `grant_type`.", Instead: "Send `client_credentials`."},
	noCountry:       {When: "`X-Country` is missing, or the sandbox has no enabled environment of Airtel there.", Instead: "Send the country of an environment, such as `RW`."},
	wrongCountry:    {When: "The body has another country than `X-Country`.", Instead: "Send the same country in both, or leave it out of the body."},
	noCurrency:      {When: "`X-Currency` is missing.", Instead: "Send the currency of the environment, such as `RWF`."},
	wrongCurrency:   {When: "The currency is not that of the environment.", Instead: "Send the currency of the country in `X-Country`."},
	wrongNumber:     {When: "The number does not have nine digits.", Instead: "Send it without its country code, such as `730123456`."},
	wrongAmount:     {When: "The amount is zero, negative, too large, or has decimals.", Instead: "Send whole units from 1 to 1000000000000."},
	wrongPayee:      {When: "The number does not have nine digits.", Instead: "Send it without its country code, such as `730123456`."},
	wrongPayout:     {When: "The amount is zero, negative, too large, or has decimals.", Instead: "Send whole units from 1 to 1000000000000."},
	duplicatePayout: {When: "The `transaction.id` is taken.", Instead: "Send a new id. If it was the same request, read what came of the first one."},
	noPayout:        {When: "The sandbox has no disbursement with this id.", Instead: "Check the id, and whether this sandbox has it. A reset removes transactions."},
	noUser:          {When: "Nobody has this number.", Instead: "Declare a TestClient with the number."},
	wrongPIN: {
		When:    "What the PIN is decrypted to is not that of the sandbox: another PIN, another padding, or another key.",
		Instead: "Encrypt the four digits of `airtel-pin` with the key of `encryption-keys`, in a padding that `X-Cauri-Reason` names.",
	},
	unreadablePIN: {
		When:    "The PIN is no Base64, or has not the length of the key.",
		Instead: "Encrypt it with the key of `encryption-keys`, which has 2048 bits, and encode it in Base64.",
	},
	notJSON: {When: "The body is no JSON.", Instead: "Send `Content-Type: application/json`."},
}
