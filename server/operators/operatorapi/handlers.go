package operatorapi

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/operators/adapter"
)

// Handler handles a call.
type Handler func(context.Context, Sandbox, *Request) (Answer, error)

// HandlerIn handles a call in the environment that its request names. E is the operator's type for an environment.
type HandlerIn[E any] func(context.Context, Sandbox, *Request, E) (Answer, error)

// In returns a handler. The handler calls the function named of to find the environment of the request, and then calls
// f in this environment.
func In[E any](of func(Sandbox, *Request) (E, error), f HandlerIn[E]) Handler {
	return func(ctx context.Context, s Sandbox, r *Request) (Answer, error) {
		e, err := of(s, r)
		if err != nil {
			return Answer{}, err
		}
		return f(ctx, s, r, e)
	}
}

// lengthOfUser is the number of characters of a user's id. The random part of a token has the same length.
const lengthOfUser = 32

// IssueToken issues a token to the user of a request. The token begins with the id of the user. [Derived] made the id
// from the API key, so the token identifies the sandbox.
func (r *Request) IssueToken(ctx context.Context, s Sandbox, lifetime time.Duration) (token string, err error) {
	drawn, err := s.RandomHex()
	if err != nil {
		return "", err
	}
	token = r.User.ID + drawn
	return token, s.IssueToken(ctx, token, r.Product, r.User, lifetime)
}

// UserOfToken returns the id of the user in the token of a request, see [Request.IssueToken]. It returns "" if the
// request has no such token.
func UserOfToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if token = strings.TrimSpace(token); strings.EqualFold(scheme, "Bearer") && len(token) == 2*lengthOfUser {
		return strings.ToLower(token[:lengthOfUser])
	}
	return ""
}

// Post returns a callback that posts a body as JSON.
func Post(body any) Callback {
	return Callback{
		Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/json"}}, Body: adapter.Encode(body),
	}
}
