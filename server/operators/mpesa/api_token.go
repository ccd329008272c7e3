package mpesa

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

const (
	tokenPath     = "/oauth/v1/generate"
	tokenLifetime = time.Hour - time.Second // Documented: expires_in is 3599
)

func tokenRoutes() []operatorapi.Route {
	return []operatorapi.Route{{
		Name: "token", Method: http.MethodGet, Path: tokenPath, Access: operatorapi.ByUser, Handle: issueToken,
		Doc: operatorapi.Doc{
			Summary: "An access token, for an hour", Mark: operatorapi.Documented, Source: portal,
			Query:    []operatorapi.Field{{Name: "grant_type", Enum: []string{"client_credentials"}}},
			Status:   http.StatusOK,
			Answer:   `{"access_token": "c9SQxWWhmdVRlyh0zh8gZDTkubVF", "expires_in": "3599"}`,
			Response: []operatorapi.Field{{Name: "access_token", Pattern: "^[0-9A-Za-z]{28}$"}, {Name: "expires_in", Pattern: "^[0-9]+$", About: "Seconds of the sandbox's time, as a text."}},
			Refused:  []operatorapi.Reason{wrongGrant}, Test: exchanges + "token",
		},
	}}
}

// issueToken answers with a new token. Older tokens stay valid until they expire (Documented).
func issueToken(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	if r.Query.Get("grant_type") != "client_credentials" {
		return operatorapi.Answer{}, operatorapi.Refuse(wrongGrant)
	}
	drawn, err := s.RandomHex()
	if err != nil {
		return operatorapi.Answer{}, err
	}
	token := r.User.ID[:lengthOfKey] + inLetters(drawn)[:lengthOfKey]
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   string `json:"expires_in"`
	}{token, strconv.Itoa(int(tokenLifetime.Seconds()))}}, s.IssueToken(ctx, token, r.Product, r.User, tokenLifetime)
}
