package native

import (
	"sync"
	"time"

	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// maxKnownTokens is the maximum number of cached tokens in a process.
const maxKnownTokens = 10_000

// knownTokens caches tokens of the database. It is safe for concurrent use.
type knownTokens struct {
	mu   sync.Mutex
	byID map[sandboxes.KeyHash]knownToken
}

type knownToken struct {
	token   nativestore.Token
	tenant  int64
	version int64     // version of the sandbox's configuration
	until   time.Time // expiry of the cache entry
}

func (k *knownTokens) find(
	hash sandboxes.KeyHash, sandbox *sandboxes.Sandbox, now time.Time,
) (nativestore.Token, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	known, ok := k.byID[hash]
	if !ok || known.tenant != sandbox.Tenant || known.version != sandbox.ConfigVersion || !now.Before(known.until) {
		return nativestore.Token{}, false
	}
	return known.token, true
}

func (k *knownTokens) remember(token nativestore.Token, sandbox *sandboxes.Sandbox, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil || len(k.byID) >= maxKnownTokens {
		k.byID = map[sandboxes.KeyHash]knownToken{}
	}
	k.byID[token.Hash] = knownToken{token, sandbox.Tenant, sandbox.ConfigVersion, until}
}
