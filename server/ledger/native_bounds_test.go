package ledger_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/ledger/nativestore"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// tokens gives a sandbox n tokens, of which the first is the oldest, each a second older than the next.
func (w *fixture) tokens(n int, age time.Duration) {
	w.T.Helper()
	w.Exec(`insert into native_tokens (tenant, hash, operator, product, user_id, made_with, callback_host, expires_at, created_at)
		select $1, sha256(i::text::bytea), 'mtn', 'collection', 'u', sha256(''), '', now() + interval '1 year',
			now() - $3::interval - ($2 - i) * interval '1 ms'
		from generate_series(1, $2::integer) i`, w.Sandbox.Tenant, n, age)
}

func (w *fixture) addToken(last byte) {
	w.T.Helper()
	err := w.AddNativeToken(w.T.Context(), w.Sandbox.Tenant, nativestore.Token{
		Hash: sandboxes.KeyHash{31: last}, Operator: payments.MTN, Product: "collection", Lifetime: time.Hour,
	}, false)
	if err != nil {
		w.T.Fatal(err)
	}
}

// forgotten makes as much time pass for tokens that are to end as a process may know them.
func (w *fixture) forgotten() {
	w.T.Helper()
	w.Exec("update native_tokens set expires_at = now() where expires_at <= now() + $1::interval", nativestore.TokenKnown)
}

func (w *fixture) countTokens() int {
	return w.Count("select count(*) from native_tokens where tenant = $1", w.Sandbox.Tenant)
}

func TestASandboxKeepsItsNewestTokens(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	w.tokens(nativestore.MaxTokens, time.Hour)
	other.tokens(3, 23*time.Hour)
	w.addToken(1)
	if got, err := w.FindNativeToken(t.Context(), w.Sandbox.Tenant, payments.MTN, sha256.Sum256([]byte("1"))); err != nil ||
		got.Lifetime > nativestore.TokenKnown {
		t.Errorf("the oldest is valid for %s, %v; want as long as a process may know it", got.Lifetime, err)
	}
	w.forgotten()
	w.addToken(2)
	w.forgotten()
	w.addToken(3)
	if got := w.countTokens(); got != nativestore.MaxTokens+1 {
		t.Errorf("it has %d tokens, want one that is to end beyond its newest", got)
	}
	oldest := w.Count("select count(*) from native_tokens where tenant = $1 and hash in (sha256('1'), sha256('2'))", w.Sandbox.Tenant)
	if oldest != 0 {
		t.Errorf("%d of the oldest ones are left", oldest)
	}
	for _, last := range []byte{1, 2, 3} {
		if _, err := w.FindNativeToken(t.Context(), w.Sandbox.Tenant, payments.MTN, sandboxes.KeyHash{31: last}); err != nil {
			t.Errorf("token %d: %v", last, err)
		}
	}
	if got := other.countTokens(); got != 3 {
		t.Errorf("the other sandbox has %d tokens", got)
	}
	// Those of another operator are counted apart, and nobody else finds them.
	hash := sandboxes.KeyHash{31: 99}
	of := nativestore.Token{Hash: hash, Operator: payments.Airtel, Lifetime: time.Hour}
	if err := w.AddNativeToken(t.Context(), w.Sandbox.Tenant, of, false); err != nil {
		t.Fatal(err)
	}
	if got := w.countTokens(); got != nativestore.MaxTokens+2 {
		t.Errorf("with one of another operator it has %d tokens", got)
	}
	if _, err := w.FindNativeToken(t.Context(), w.Sandbox.Tenant, payments.MTN, hash); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("another operator finds it: %v", err)
	}
	if _, err := w.FindNativeToken(t.Context(), w.Sandbox.Tenant, payments.Airtel, hash); err != nil {
		t.Errorf("its operator does not find it: %v", err)
	}
	// What was beyond the bound before goes in batches.
	w.Exec("delete from native_tokens where tenant = $1", w.Sandbox.Tenant)
	w.tokens(nativestore.MaxTokens+250, time.Hour)
	for i := range byte(4) {
		w.addToken(i)
		w.forgotten()
	}
	if got := w.countTokens(); got > nativestore.MaxTokens+100 {
		t.Errorf("after four more it has %d tokens", got)
	}
}

func TestOldTokensAndWhatFaultsRememberAreRemoved(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	w.tokens(2500, 25*time.Hour)
	other.tokens(2, 23*time.Hour)
	for _, tenant := range []int64{w.Sandbox.Tenant, other.Sandbox.Tenant} {
		w.Exec(`insert into fault_acts (tenant, name, reference, acted_at)
			select $1, 'late', i::text, now() - case when i > 2500 then interval '29 days' else interval '31 days' end
			from generate_series(1, 2503) i`, tenant)
		w.Exec(`insert into fault_requests (tenant, reference, counted_at)
			select $1, i::text, now() - case when i > 2500 then interval '29 days' else interval '31 days' end
			from generate_series(1, 2504) i`, tenant)
	}
	declared := faults.Set{{Name: "late"}, {Name: "never"}}
	for reference, want := range map[string][]string{"1": {}, "2502": {"late"}} { // also before they are removed
		if _, acted, err := w.RequestInFaults(t.Context(), w.Sandbox.Tenant, declared, reference); err != nil || !slices.Equal(acted, want) {
			t.Errorf("%v acted for %s, %v", acted, reference, err)
		}
	}
	for reference, want := range map[string]int{"1": 1, "2502": 2} {
		if came, err := w.CountFaultRequest(t.Context(), w.Sandbox.Tenant, reference); err != nil || came != want {
			t.Errorf("request %d with %s, %v", came, reference, err)
		}
	}
	if err := w.RemoveOldUsage(t.Context()); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]int{
		"select count(*) from native_tokens": 2, "select count(*) from fault_acts": 6, "select count(*) from fault_requests": 8,
	} {
		if got := w.Count(sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}

// Users whose API key has ended count no more, and callers at one time do not pass the bound together.
func TestNativeUsersThatLiveAreCounted(t *testing.T) {
	w := newFixture(t)
	add := func(first, second byte) (bool, error) {
		return w.AddNativeUser(t.Context(), w.Sandbox.Tenant, nativestore.User{
			Operator: payments.MTN, ID: payments.ID{14: first, 15: second}, MadeWith: w.Key, CallbackHost: "shop.example",
		})
	}
	fill := func(first byte) {
		t.Helper()
		var callers sync.WaitGroup
		var added atomic.Int64
		for second := range byte(nativestore.MaxUsers + 20) {
			callers.Go(func() {
				made, err := add(first, second)
				if made {
					added.Add(1)
				} else if !errors.Is(err, nativestore.ErrTooManyUsers) {
					t.Errorf("a user was not added: %v", err)
				}
			})
		}
		callers.Wait()
		if got := w.Count("select count(*) from native_users"); added.Load() != nativestore.MaxUsers || got != nativestore.MaxUsers {
			t.Errorf("%d users were added, and there are %d", added.Load(), got)
		}
	}
	fill(1)
	w.Exec("update native_users set made_with = sha256('a key of before')")
	fill(2)
	w.Exec("insert into api_keys (tenant, hash, expires_at) values ($1, sha256('an old key'), now() + interval '1 hour')", w.Sandbox.Tenant)
	w.Exec("update native_users set made_with = sha256('an old key')")
	if _, err := add(3, 1); !errors.Is(err, nativestore.ErrTooManyUsers) {
		t.Errorf("users of a key that still works do not count: %v", err)
	}
	w.Exec("update api_keys set expires_at = now() where hash = sha256('an old key')")
	fill(3)
}

// notices gives a sandbox n callbacks of an operator that belong to no transaction, each with an attempt. The first is the oldest.
func (w *fixture) notices(n int, operator payments.Operator, age time.Duration) {
	w.T.Helper()
	w.Exec(`with added as (
			insert into native_callbacks (tenant, id, operator, kind, url, sent, state, created_at, recorded_at)
			select $1, lpad(to_hex(i), 32, '0')::uuid, $3, 'balance', 'http://shop/', '{}', 'failed', now() - $4::interval, now() - $4::interval
			from generate_series($5::bigint + 1, $5::bigint + $2::integer) i returning id)
		insert into callback_attempts (tenant, id, attempt, started_at, duration_ms) select $1, id, 1, now(), 1 from added`,
		w.Sandbox.Tenant, n, operator, age, w.Count("select count(*) from native_callbacks where tenant = $1", w.Sandbox.Tenant))
}

func (w *fixture) countNotices(where string) [2]int {
	w.T.Helper()
	return [2]int{
		w.Count("select count(*) from native_callbacks where tenant = $1"+where, w.Sandbox.Tenant),
		w.Count("select count(*) from callback_attempts a join native_callbacks using (tenant, id) where tenant = $1"+where, w.Sandbox.Tenant),
	}
}

func TestASandboxKeepsItsNewestCallbacksOfNoTransaction(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	w.asked("paid", "http://127.0.0.1:1/paid") // belongs to a transaction, and does not count
	w.notices(3, payments.Airtel, time.Hour)
	other.notices(3, payments.MTN, time.Hour)
	w.notices(ledger.MaxNotices+50, payments.MTN, time.Hour)
	for i := range byte(2) {
		id, n := payments.ID{0: 1, 15: i}, ledger.Notice{Operator: payments.MTN, Kind: "balance", URL: "http://shop/", Sent: []byte(`{}`)}
		if _, err := w.AddNotice(t.Context(), w.Sandbox.Tenant, id, &n); err != nil {
			t.Fatal(err)
		}
	}
	for where, want := range map[string][2]int{
		" and operator = 'mtn'": {ledger.MaxNotices, ledger.MaxNotices - 2}, " and operator = 'airtel'": {3, 3}, " and operator is null": {1, 0},
	} {
		if got := w.countNotices(where); got != want {
			t.Errorf("%s: %v callbacks and attempts, want %v", where, got, want)
		}
	}
	if n := w.Count("select count(*) from callback_attempts where tenant = $1", w.Sandbox.Tenant); n != ledger.MaxNotices-2+3 {
		t.Errorf("%d attempts are left", n)
	}
	if got := other.countNotices(""); got != [2]int{3, 3} {
		t.Errorf("the other sandbox has %v", got)
	}
}

func TestOldCallbacksOfNoTransactionAreRemoved(t *testing.T) {
	w := newFixture(t)
	w.asked("paid", "http://127.0.0.1:1/paid")
	w.notices(2500, payments.MTN, 31*24*time.Hour)
	w.notices(3, payments.MTN, 29*24*time.Hour)
	if err := w.RemoveOldUsage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := w.countNotices(""); got != [2]int{4, 3} || w.Count("select count(*) from callback_attempts") != 3 {
		t.Errorf("%v callbacks and attempts are left", got)
	}
}
