package operatorapi

import (
	"cmp"
	"strings"
)

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

// tokens says what is wrong with a token.
var tokens = map[Token]string{NoToken: "; there is none", ExpiredToken: "; this one has expired"}

// Detail returns what is wrong with a request, for the header X-Cauri-Reason and the request log: the detail of the
// refusal, or what the API expects. It returns "" for a refusal that no part of the request causes.
func (a *API) Detail(r *Refusal) string {
	expected, known := a.Expected[r.Reason]
	part := a.Parts[r.Code()]
	switch {
	case r.Detail != "" && part != "" && !strings.HasPrefix(r.Detail, part):
		return part + ": " + r.Detail
	case r.Detail != "":
		return r.Detail
	case r.Reason == NoRoute && len(r.Allow) > 0:
		expected = Expected{"method", strings.Join(r.Allow, " or ")}
	case r.Reason == NoRoute && !known:
		expected = Expected{"path", "a call that openapi.json of this API lists"}
	case r.Reason == TokenInvalid && r.ErrorCode == "": // and no fault
		expected.Form += tokens[r.Token]
	case !known || r.ErrorCode != "":
		return ""
	}
	return Refuse(r.Reason).Expect(expected.Part, expected.Form).Detail
}

// Advice returns the advice for a reason. It returns the zero value for a reason without advice.
func (a *API) Advice(reason Reason) Advice { return cmp.Or(a.OwnAdvice[reason], advice[reason]) }
