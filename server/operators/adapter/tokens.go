package adapter

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Tokens caches the access tokens of operators while they are valid. It is safe for concurrent use.
type Tokens struct {
	now func() time.Time

	mu   sync.Mutex
	held map[[32]byte]token
}

// Now returns the time.
func (t *Tokens) Now() time.Time { return t.now() }

type token struct {
	text  string
	until time.Time
}

// NewTokens returns an empty cache.
func NewTokens(now func() time.Time) *Tokens { return &Tokens{now: now, held: map[[32]byte]token{}} }

// fetchToken requests a new token from an operator.
type fetchToken func(context.Context) (text string, valid time.Duration, err error)

// get returns the cached token for these credentials, or fetches a new one.
func (t *Tokens) get(ctx context.Context, a Access, fetch fetchToken) (string, error) {
	key := keyOf(a)
	t.mu.Lock()
	held, found := t.held[key]
	t.mu.Unlock()
	if found && t.now().Before(held.until) {
		return held.text, nil
	}
	text, valid, err := fetch(ctx)
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for other, old := range t.held { // remove ended tokens; much cheaper than the request above
		if !now.Before(old.until) {
			delete(t.held, other)
		}
	}
	t.held[key] = token{text, now.Add(valid * 9 / 10)} // a margin, because the operator reads the token later
	return text, nil
}

// forget removes a token that the operator refused. It does nothing if the token was already replaced.
func (t *Tokens) forget(a Access, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if key := keyOf(a); t.held[key].text == text {
		delete(t.held, key)
	}
}

func keyOf(a Access) [32]byte {
	return sha256.Sum256([]byte(strings.Join([]string{a.BaseURL, a.ClientID, a.ClientSecret, a.SubscriptionKey}, "\x00")))
}

// tokenAnswer is the answer of all operators except Moov to a request for a token.
type tokenAnswer struct {
	AccessToken string  `json:"access_token"`
	ExpiresIn   Seconds `json:"expires_in"`
}

// Token returns the token in the answer to a request for a token.
func (r Reply) Token() (string, time.Duration, error) {
	if err := r.Granted(); err != nil {
		return "", 0, err
	}
	var answer tokenAnswer
	if err := r.Decode(&answer); err != nil {
		return "", 0, err
	}
	return Token(answer.AccessToken, answer.ExpiresIn)
}

// Token returns its arguments, or an error if the token is empty.
func Token(text string, valid Seconds) (string, time.Duration, error) {
	if text == "" {
		return "", 0, errors.New("the operator answered without a token")
	}
	return text, time.Duration(valid), nil
}

// Granted returns an error if the operator did not accept the credentials.
func (r Reply) Granted() error {
	switch {
	case r.OK():
		return nil
	case r.Code == http.StatusBadRequest, r.Code == http.StatusUnauthorized, r.Code == http.StatusForbidden:
		return ErrRefused{"the operator refused the credentials (" + http.StatusText(r.Code) + ")"}
	}
	return r.Unexpected()
}
