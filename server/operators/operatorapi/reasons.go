package operatorapi

import "cmp"

// Advice says when a request is refused, and what to do then. Both are sentences, with code between backticks.
type Advice struct{ When, Instead string }

// advice is for the reasons of all operators.
var advice = map[Reason]Advice{
	KeyMissing: {"The request does not say which sandbox it is for.", "Send the credential of the sandbox that the credentials Secret has for this API."},
	KeyInvalid: {
		"No sandbox has this credential, or not the sandbox in the path.",
		"Take it from the credentials Secret. It changes when the API key does.",
	},
	UserInvalid: {
		"The user or the password of the Basic authentication is wrong.",
		"Take both from the credentials Secret, or from the calls that made the user.",
	},
	TokenInvalid: {
		"The access token is missing, wrong, expired, or one of another product.",
		"Get a token from the token call of this product, and send it as `Authorization: Bearer <token>`.",
	},
	NotFound: {
		"The sandbox has no such transaction, user or account.",
		"Check the reference or the number in the path, and whether this sandbox has it. A reset removes transactions.",
	},
	Invalid: {
		"A header or a field is missing, malformed or out of its bounds.",
		"Compare the request with the fields of the call. `GET /v1/requests` shows what arrived.",
	},
	Duplicate: {
		"The reference is taken.",
		"Send a new reference. If it was the same request, read what came of the first one.",
	},
	TooMany:     {"The sandbox has had more requests in a minute than it allows.", "Wait, then send the same request again."},
	Unavailable: {"The sandbox is suspended, its quota is used up, or the database cannot be reached.", "Read `X-Cauri-Reason`, which says what it is."},
	Internal:    {"An error of the service.", "Send the same request again. If the error stays, report it with the header `X-Request-Id`."},
}

// Advice returns the advice for a reason. It returns the zero value for a reason without advice.
func (a *API) Advice(reason Reason) Advice { return cmp.Or(a.OwnAdvice[reason], advice[reason]) }
