package mtn

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// addUser adds an API user. Callbacks of the user's requests may go only to the host in the request. Some clients send
// a URL instead of a host.
func addUser(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	id, err := referenceOf(r.Header)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	var body struct {
		ProviderCallbackHost string `json:"providerCallbackHost"`
	}
	if err := r.Decode(operatorapi.Invalid, &body); err != nil {
		return operatorapi.Answer{}, err
	}
	host := callbackHostOf(body.ProviderCallbackHost)
	if err := wrongUnless(host != "" && len(host) <= 253, "providerCallbackHost", "the name of a host, such as shop.example"); err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusCreated}, s.AddUser(ctx, operatorapi.User{ID: id, CallbackHost: host})
}

// callbackHostOf returns the host of a URL, or of a host with or without a port. It returns "" for an invalid host.
func callbackHostOf(text string) string {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return ""
	}
	return egress.HostOf(u)
}

// mayCall reports whether the callbacks of a user may go to a URL.
func mayCall(u operatorapi.User, callback string) bool {
	return u.CallbackHost == "" || strings.EqualFold(u.CallbackHost, callbackHostOf(callback))
}

func newUserKey(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	key, err := s.RandomHex()
	if err != nil {
		return operatorapi.Answer{}, err
	}
	if err := s.SetPassword(ctx, strings.ToLower(r.Param("id")), key); err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusCreated, Body: map[string]string{"apiKey": key}}, nil
}

func getUser(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	user, err := s.FindUser(ctx, strings.ToLower(r.Param("id")))
	if err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		ProviderCallbackHost string `json:"providerCallbackHost"`
		TargetEnvironment    string `json:"targetEnvironment"`
	}{user.CallbackHost, sandboxTarget}}, nil
}

const tokenLifetime = time.Hour

// issueToken answers with a new token. It ignores the body, because clients send JSON, a form, or none.
func issueToken(ctx context.Context, s operatorapi.Sandbox, r *operatorapi.Request) (operatorapi.Answer, error) {
	session, err := s.RandomHex()
	if err != nil {
		return operatorapi.Answer{}, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return operatorapi.Answer{}, err
	}
	token := newToken(r.User.ID, session, now.Add(tokenLifetime))
	if err := s.IssueToken(ctx, token, r.Product, r.User, tokenLifetime); err != nil {
		return operatorapi.Answer{}, err
	}
	return operatorapi.Answer{Status: http.StatusOK, Body: struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
	}{token, "access_token", int(tokenLifetime.Seconds())}}, nil
}

// newToken returns a token in MTN's format, a JWT. Cauri never reads its payload: it finds tokens by their hashes.
func newToken(user, session string, expires time.Time) string {
	encode := base64.RawURLEncoding.EncodeToString
	header := encode([]byte(`{"typ":"JWT","alg":"HS256"}`))
	payload := encode(fmt.Appendf(nil, `{"clientId":%q,"expires":%q,"sessionId":"%s-%s-%s-%s-%s"}`, user,
		expires.UTC().Format("2006-01-02T15:04:05.000"), session[:8], session[8:12], session[12:16], session[16:20], session[20:]))
	return header + "." + payload + "." + encode([]byte(session))
}
