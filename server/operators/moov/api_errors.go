package moov

import (
	"net/http"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The refusals that only Moov has.
const (
	incomplete    operatorapi.Reason = "incomplete"
	noReference   operatorapi.Reason = "reference_missing"
	wrongNumber   operatorapi.Reason = "wrong_msisdn"
	tooLittle     operatorapi.Reason = "amount_too_small"
	tooMuch       operatorapi.Reason = "amount_too_large"
	notANumber    operatorapi.Reason = "amount_not_a_number"
	noOperation   operatorapi.Reason = "unknown_operation"
	unknownHolder operatorapi.Reason = "account_not_found"
)

// refusal is Moov's answer to a refused request: the HTTP status, Togo's code, Benin's status and the text. benin is
// empty if the SOAP service answers with a SOAP fault instead.
type refusal struct {
	http              int
	togo, benin, text string
}

const badCredentials = "Invalid authorization"

// refusals are Moov's answers to refused requests. Codes and statuses are ThirdParty. HTTP statuses other than 200 are
// Assumed.
var refusals = map[operatorapi.Reason]refusal{
	operatorapi.KeyMissing:   {http.StatusOK, "99", "98", badCredentials},
	operatorapi.KeyInvalid:   {http.StatusOK, "99", "98", badCredentials},
	operatorapi.UserInvalid:  {http.StatusOK, "99", "98", badCredentials},
	operatorapi.TokenInvalid: {http.StatusUnauthorized, "99", "98", badCredentials}, // only a fault of the sandbox refuses with it
	operatorapi.NotFound:     {http.StatusOK, "3", "94", "Transaction does not exist"},
	operatorapi.Invalid:      {http.StatusOK, "3", "91", "Invalid request"},
	operatorapi.Duplicate:    {http.StatusOK, "4", "95", "Reference already used"},
	operatorapi.TooMany:      {http.StatusTooManyRequests, "100", "", "Too many requests"},
	operatorapi.Unavailable:  {http.StatusServiceUnavailable, "100", "", "Service unavailable"},
	operatorapi.Internal:     {http.StatusInternalServerError, "100", "", "Internal error"},

	incomplete:    {http.StatusOK, "1", "91", "Incomplete request"},
	noReference:   {http.StatusOK, "1", "91", "Incomplete request"},
	wrongNumber:   {http.StatusOK, "3", "3", "Invalid number"},
	tooLittle:     {http.StatusOK, "3", "12", "Amount below the minimum"},
	tooMuch:       {http.StatusOK, "3", "11", "Amount above the maximum"},
	notANumber:    {http.StatusInternalServerError, "3", "", "For input string"},
	noOperation:   {http.StatusInternalServerError, "3", "", "Message part was not recognized."},
	unknownHolder: {http.StatusOK, "3", "555", "Subscriber not registered"},
}

func refusalFor(r *operatorapi.Refusal) refusal {
	answer, known := refusals[r.Reason]
	switch {
	case r.Reason == operatorapi.Gateway:
		return refusal{r.Status, "100", "", http.StatusText(r.Status)}
	case !known:
		return refusals[operatorapi.Internal]
	}
	return answer
}

// refuse returns Moov's answer to a refused request of Togo.
func refuse(r *operatorapi.Refusal) operatorapi.Answer {
	if r.Reason == operatorapi.NoRoute {
		return operatorapi.Answer{Status: http.StatusNotFound} // Assumed
	}
	answer := refusalFor(r)
	return operatorapi.Answer{Status: answer.http, Body: newDebitAnswer(answer.togo, answer.text, "")}
}

// credential is what the token of a request has to be.
var credential = operatorapi.Expected{
	Part: "Authorization, or token of SOAP", Form: "moov-token of the credentials Secret, or a token that is made of moov-username and moov-password",
}

// expected are the parts of requests that all refusals for a reason concern.
var expected = map[operatorapi.Reason]operatorapi.Expected{
	operatorapi.KeyMissing:   credential,
	operatorapi.KeyInvalid:   credential,
	operatorapi.TokenInvalid: credential,
	operatorapi.UserInvalid:  {Part: "username and password", Form: "moov-username and moov-password of the credentials Secret, in the query"},
}

// advice is for the refusals that only Moov has, and for those that need other advice than at other operators.
var advice = map[operatorapi.Reason]operatorapi.Advice{
	operatorapi.NoRoute: {
		When:    "No client of Moov calls this path, or the sandbox has no enabled environment of Moov in Togo.",
		Instead: "Enable `moov` in `TG`. Benin has SOAP, and nothing is known about Côte d'Ivoire.",
	},
	operatorapi.UserInvalid: {
		When:    "The user name or the password in the query is wrong.",
		Instead: "Take `moov-username` and `moov-password` from the credentials Secret.",
	},
	operatorapi.KeyMissing: {When: "There is no token.", Instead: "Send the token in the header `Authorization`, without a scheme."},
	incomplete: {
		When: "The number or the amount is missing.", Instead: "Send `msisdn` and `amount`. The SOAP operations that pay out call the number `destination`.",
	},
	noReference: {When: "The reference is missing.", Instead: "Send it as `mrchrefid`. The SOAP operation calls it `transid`."},
}
