package httpapi

import (
	"context"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/service"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// enter finds the sandbox of a request by the key of the operator's API. A stranger does not learn whether a sandbox exists: a wrong key
// is answered alike for every path.
func (n *nativeSandbox) enter(ctx context.Context, r *http.Request) error {
	key := n.api.Key(r)
	if key == "" {
		n.server.metrics.AuthFailed(telemetry.AuthMissing)
		return operatorapi.Refuse(operatorapi.KeyMissing)
	}
	_, err := n.server.service.FindCaller(ctx, func() *service.Caller { return n.find(r, hashOf(key)) })
	if errors.Is(err, service.ErrUnauthorized) {
		n.server.metrics.AuthFailed(telemetry.AuthInvalid)
		return operatorapi.Refuse(operatorapi.KeyInvalid)
	}
	return err
}

// find finds who makes a request with a key of the operator's API; nil for nobody.
func (n *nativeSandbox) find(r *http.Request, key sandboxes.KeyHash) *service.Caller {
	sandbox, holder, ok := n.server.directory.ByNativeKey(n.api.Operator, key)
	if !ok {
		return nil
	}
	if named, inPath := sandboxInPath(r); inPath && named != (sandboxName{sandbox.Namespace, sandbox.Name}) {
		return nil
	}
	n.who = &service.Caller{Key: holder.APIKey, Sandbox: sandbox, Faults: nativeFaults(n.api, r)}
	n.digest = holder.Digest
	if len(n.Environments()) == 0 {
		return nil
	}
	return n.who
}

// user finds who makes a request, if the call asks for that.
func (n *nativeSandbox) user(ctx context.Context, r *http.Request, route *operatorapi.Route) (operatorapi.User, error) {
	switch route.Access {
	case operatorapi.ByUser:
		id, password, given := r.BasicAuth()
		if !given {
			return operatorapi.User{}, operatorapi.Refuse(operatorapi.UserInvalid)
		}
		return n.userWith(ctx, id, password)
	case operatorapi.ByToken:
		token, given := bearer(r)
		if !given {
			return operatorapi.User{}, operatorapi.Refuse(operatorapi.TokenInvalid)
		}
		return n.userOf(ctx, hashOf(token), route.Product)
	}
	return operatorapi.User{}, nil
}

// userWith finds a user by its password: the one of the credentials Secret, or one that was made through the API.
func (n *nativeSandbox) userWith(ctx context.Context, id, password string) (operatorapi.User, error) {
	id = strings.ToLower(id)
	if n.digest.MatchesUser(id, password) {
		return operatorapi.User{ID: id}, nil
	}
	found, err := n.made(ctx, id)
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

// made finds a user that was made through the API, with an API key that is still valid.
func (n *nativeSandbox) made(ctx context.Context, id string) (ledger.NativeUser, error) {
	uuid, ok := parseUUID(id)
	if !ok {
		return ledger.NativeUser{}, ledger.ErrNotFound
	}
	found, err := n.server.ledger.FindNativeUser(ctx, n.who.Sandbox.Tenant, n.api.Operator, uuid)
	if err == nil && !n.holds(found.MadeWith) {
		err = ledger.ErrNotFound
	}
	return found, err
}

// holds reports whether an API key still opens the sandbox.
func (n *nativeSandbox) holds(key sandboxes.KeyHash) bool {
	sandbox, ok := n.server.directory.ByKey(key)
	return ok && sandbox.Tenant == n.who.Sandbox.Tenant
}

// userOf finds the user of a token.
func (n *nativeSandbox) userOf(ctx context.Context, hash sandboxes.KeyHash, product string) (operatorapi.User, error) {
	token, err := n.token(ctx, hash)
	if errors.Is(err, ledger.ErrNotFound) {
		return operatorapi.User{}, operatorapi.Refuse(operatorapi.TokenInvalid)
	}
	if err != nil {
		return operatorapi.User{}, err
	}
	if token.Operator != n.api.Operator || token.Product != product || !n.holds(token.MadeWith) {
		return operatorapi.User{}, operatorapi.Refuse(operatorapi.TokenInvalid)
	}
	return operatorapi.User{ID: token.UserID, CallbackHost: token.CallbackHost}, nil
}

// token finds a valid token. In a sandbox with a clock of its own, the database is asked each time: the clock may have moved.
func (n *nativeSandbox) token(ctx context.Context, hash sandboxes.KeyHash) (ledger.NativeToken, error) {
	s, sandbox := n.server, n.who.Sandbox
	if !sandbox.Clocked {
		if token, known := s.tokens.find(hash, sandbox, s.now()); known {
			return token, nil
		}
	}
	asked := s.now()
	token, err := s.ledger.FindNativeToken(ctx, sandbox.Tenant, hash)
	if err == nil && !sandbox.Clocked {
		s.tokens.keep(token, sandbox, asked.Add(token.Lifetime))
	}
	return token, err
}

// maxKnownTokens bounds the tokens that a process remembers.
const maxKnownTokens = 10_000

// knownTokens are tokens that were looked up, so that not every request asks the database. It is safe for concurrent use.
type knownTokens struct {
	mu   sync.Mutex
	byID map[sandboxes.KeyHash]knownToken
}

type knownToken struct {
	token   ledger.NativeToken
	tenant  int64
	version int64 // of the configuration
	until   time.Time
}

func (k *knownTokens) find(hash sandboxes.KeyHash, sandbox *sandboxes.Sandbox, now time.Time) (ledger.NativeToken, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.byID[hash]
	if !ok || known.tenant != sandbox.Tenant || known.version != sandbox.ConfigVersion || !now.Before(known.until) {
		return ledger.NativeToken{}, false
	}
	return known.token, true
}

func (k *knownTokens) keep(token ledger.NativeToken, sandbox *sandboxes.Sandbox, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil || len(k.byID) >= maxKnownTokens {
		k.byID = map[sandboxes.KeyHash]knownToken{}
	}
	k.byID[token.Hash] = knownToken{token, sandbox.Tenant, sandbox.ConfigVersion, until}
}

// IssueToken implements [operatorapi.Sandbox].
func (n *nativeSandbox) IssueToken(ctx context.Context, token, product string, u operatorapi.User, lifetime time.Duration) error {
	return n.server.ledger.AddNativeToken(ctx, n.who.Sandbox.Tenant, ledger.NativeToken{
		Hash: hashOf(token), Operator: n.api.Operator, Product: product, UserID: u.ID, MadeWith: n.who.Key, CallbackHost: u.CallbackHost,
		Lifetime: lifetime,
	})
}

// AddUser implements [operatorapi.Sandbox].
func (n *nativeSandbox) AddUser(ctx context.Context, u operatorapi.User) error {
	uuid, ok := parseUUID(u.ID)
	if !ok {
		return operatorapi.Refuse(operatorapi.Invalid)
	}
	if u.ID == n.digest.User {
		return operatorapi.Refuse(operatorapi.Duplicate)
	}
	added, err := n.server.ledger.AddNativeUser(ctx, n.who.Sandbox.Tenant, ledger.NativeUser{
		Operator: n.api.Operator, ID: uuid, MadeWith: n.who.Key, CallbackHost: u.CallbackHost,
	})
	if err == nil && !added {
		return operatorapi.Refuse(operatorapi.Duplicate)
	}
	return err
}

// SetPassword implements [operatorapi.Sandbox].
func (n *nativeSandbox) SetPassword(ctx context.Context, id, password string) error {
	found, err := n.made(ctx, id)
	if err != nil {
		return err
	}
	hash := hashOf(password)
	return n.server.ledger.SetNativeUserSecret(ctx, n.who.Sandbox.Tenant, n.api.Operator, found.ID, hash[:])
}

// FindUser implements [operatorapi.Sandbox].
func (n *nativeSandbox) FindUser(ctx context.Context, id string) (operatorapi.User, error) {
	found, err := n.made(ctx, id)
	return operatorapi.User{ID: id, CallbackHost: found.CallbackHost}, err
}

// parseUUID reads a UUID in its usual form.
func parseUUID(text string) (id payments.ID, ok bool) {
	digits, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(digits) != len(id) || len(text) != 36 {
		return id, false
	}
	return payments.ID(digits), true
}
