package native

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// user returns the user of a request. It returns the zero User if the route needs none.
func (s *sandbox) user(ctx context.Context, r *http.Request, route *operatorapi.Route) (operatorapi.User, error) {
	switch route.Access {
	case operatorapi.ByUser:
		login := s.api.Login
		if login == nil {
			login = func(r *http.Request, _ func() []byte) (id, password string, given bool) { return r.BasicAuth() }
		}
		id, password, given := login(r, s.sent)
		if !given {
			return operatorapi.User{}, operatorapi.Refuse(operatorapi.UserInvalid)
		}
		return s.userWith(ctx, id, password)
	case operatorapi.ByToken:
		token, given := httpfront.Bearer(r)
		if !given {
			return operatorapi.User{}, &operatorapi.Refusal{Reason: operatorapi.TokenInvalid, Token: operatorapi.NoToken}
		}
		return s.userOf(ctx, hashOf(token), route.Product)
	}
	return operatorapi.User{}, nil
}

// userWith returns the user with this id and password: the user in the credentials Secret, or one that was added
// through the API. It refuses any other pair with [operatorapi.UserInvalid].
func (s *sandbox) userWith(ctx context.Context, id, password string) (operatorapi.User, error) {
	id = strings.ToLower(id)
	if s.digest.MatchesUser(id, password) {
		return operatorapi.User{ID: id}, nil
	}
	found, err := s.addedUser(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return operatorapi.User{}, operatorapi.Refuse(operatorapi.UserInvalid)
	}
	if err != nil {
		return operatorapi.User{}, err
	}
	hash := hashOf(password)
	if found.SecretHash == nil || subtle.ConstantTimeCompare(found.SecretHash, hash[:]) != 1 {
		return operatorapi.User{}, operatorapi.Refuse(operatorapi.UserInvalid)
	}
	return operatorapi.User{ID: id, CallbackHost: found.CallbackHost}, nil
}

// addedUser returns a user that was added through the API. It returns [ledger.ErrNotFound] if the user does not exist,
// or if the API key that added the user is no longer valid.
func (s *sandbox) addedUser(ctx context.Context, id string) (nativestore.User, error) {
	uuid, ok := parseUUID(id)
	if !ok {
		return nativestore.User{}, ledger.ErrNotFound
	}
	found, err := s.native.ledger.FindNativeUser(ctx, s.who.Sandbox.Tenant, s.api.Operator, uuid)
	if err == nil && !s.holds(found.MadeWith) {
		err = ledger.ErrNotFound
	}
	return found, err
}

// holds reports whether an API key opens the sandbox.
func (s *sandbox) holds(key sandboxes.KeyHash) bool {
	sandbox, ok := s.native.directory.ByKey(key)
	return ok && sandbox.Tenant == s.who.Sandbox.Tenant
}

// userOf returns the user of a token. It refuses an unknown or expired token, and a token of another operator or
// product, with [operatorapi.TokenInvalid].
func (s *sandbox) userOf(ctx context.Context, hash sandboxes.KeyHash, product string) (operatorapi.User, error) {
	token, err := s.token(ctx, hash)
	if errors.Is(err, nativestore.ErrTokenExpired) {
		return operatorapi.User{}, &operatorapi.Refusal{Reason: operatorapi.TokenInvalid, Token: operatorapi.ExpiredToken}
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return operatorapi.User{}, operatorapi.Refuse(operatorapi.TokenInvalid)
	}
	if err != nil {
		return operatorapi.User{}, err
	}
	if token.Operator != s.api.Operator || token.Product != product || !s.holds(token.MadeWith) {
		return operatorapi.User{}, operatorapi.Refuse(operatorapi.TokenInvalid)
	}
	return operatorapi.User{ID: token.UserID, CallbackHost: token.CallbackHost}, nil
}

// token returns the valid token with a hash. It uses no cache in a sandbox with its own clock, because the clock may
// have moved past the token's expiry.
func (s *sandbox) token(ctx context.Context, hash sandboxes.KeyHash) (nativestore.Token, error) {
	n, sandbox := s.native, s.who.Sandbox
	if !sandbox.Clocked {
		if token, known := n.tokens.find(hash, sandbox, n.now()); known {
			return token, nil
		}
	}
	if s.api.KeyHeader == "" { // anybody can send such a token, because the client id in it is no secret
		if known, err := n.ledger.KnowsNativeSecret(ctx, sandbox.Tenant, s.api.Operator, hash); err != nil || !known {
			return nativestore.Token{}, cmp.Or(err, ledger.ErrNotFound)
		}
	}
	asked := n.now()
	token, err := n.ledger.FindNativeToken(ctx, sandbox.Tenant, s.api.Operator, hash)
	if err == nil && !sandbox.Clocked {
		n.tokens.remember(token, sandbox, asked.Add(min(token.Lifetime, nativestore.TokenKnown)))
	}
	return token, err
}

// IssueToken implements [operatorapi.Sandbox].
func (s *sandbox) IssueToken(
	ctx context.Context, token, product string, u operatorapi.User, lifetime time.Duration,
) error {
	return s.native.ledger.AddNativeToken(ctx, s.who.Sandbox.Tenant, nativestore.Token{
		Hash: hashOf(token), Operator: s.api.Operator, Product: product, UserID: u.ID, MadeWith: s.who.Key,
		CallbackHost: u.CallbackHost, Lifetime: lifetime,
	}, s.who.Sandbox.Clocked)
}

// AddUser implements [operatorapi.Sandbox].
func (s *sandbox) AddUser(ctx context.Context, u operatorapi.User) error {
	uuid, ok := parseUUID(u.ID)
	if !ok {
		return operatorapi.Refuse(operatorapi.Invalid)
	}
	taken := operatorapi.Refuse(operatorapi.Duplicate).Say("the sandbox has an API user with this id")
	if u.ID == s.digest.User {
		return taken
	}
	added, err := s.native.ledger.AddNativeUser(ctx, s.who.Sandbox.Tenant, nativestore.User{
		Operator: s.api.Operator, ID: uuid, MadeWith: s.who.Key, CallbackHost: u.CallbackHost,
	})
	if err == nil && !added {
		return taken
	}
	return err
}

// SetPassword implements [operatorapi.Sandbox].
func (s *sandbox) SetPassword(ctx context.Context, id, password string) error {
	found, err := s.addedUser(ctx, id)
	if err != nil {
		return err
	}
	hash := hashOf(password)
	return s.native.ledger.SetNativeUserSecret(ctx, s.who.Sandbox.Tenant, s.api.Operator, found.ID, hash[:])
}

// FindUser implements [operatorapi.Sandbox].
func (s *sandbox) FindUser(ctx context.Context, id string) (operatorapi.User, error) {
	found, err := s.addedUser(ctx, id)
	return operatorapi.User{ID: id, CallbackHost: found.CallbackHost}, err
}

// parseUUID parses a UUID of 36 characters. ok is false for any other text.
func parseUUID(text string) (id payments.ID, ok bool) {
	digits, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(digits) != len(id) || len(text) != 36 {
		return id, false
	}
	return payments.ID(digits), true
}
