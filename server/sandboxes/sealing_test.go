package sandboxes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// sealedFixture has secrets of every kind, all encrypted by one key.
func sealedFixture(t *testing.T, key string) *fixture {
	t.Helper()
	w := newFixture(t, func(c *sandboxes.Config) {
		c.Operators = []sandboxes.OperatorAccess{
			{
				Store:       c.Stores[0],
				Operator:    payments.Airtel,
				Country:     "RW",
				Credentials: &sandboxes.OperatorCredentials{ClientID: "id", ClientSecret: "hush"},
			},
		}
	})
	s := w.Opened(ledgertest.Options{KeyRing: ledgertest.Ring(t, key)})
	w.Exec("update organizations set signing_secret = null")
	for _, secret := range []string{"first", "second"} {
		if err := s.ApplyCredentials(t.Context(), w.Config.UID, sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: secret}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.ApplySandbox(t.Context(), w.Config); err != nil {
		t.Fatal(err)
	}
	return w
}

func sealedBy(t *testing.T, s *ledgertest.Store) map[string]int {
	t.Helper()
	counts, err := s.SealedSecrets(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	for _, c := range counts {
		by[c.Key] = c.Secrets
	}
	return by
}

// TestReseal takes a key away under a sandbox that nobody applies again.
func TestReseal(t *testing.T) {
	older, newer := ledgertest.NewKey(t), ledgertest.NewKey(t)
	w := sealedFixture(t, older)
	w.Exec("update organizations set previous_secret_until = now() + interval '5 hours'")
	keys := ledgertest.Ring(t, newer, older)
	s := w.Opened(ledgertest.Options{KeyRing: keys})
	if diff := cmp.Diff(map[string]int{keys.Keys()[1]: 3}, sealedBy(t, s)); diff != "" {
		t.Fatal(diff)
	}
	version := read[int64](w, "select version from config_version")

	done, err := s.Reseal(t.Context())
	if want := (sandboxes.Resealed{Secrets: 2}); err != nil || done != want { // two rows
		t.Errorf("got %+v, %v, want %+v", done, err, want)
	}
	if diff := cmp.Diff(map[string]int{keys.Keys()[0]: 3}, sealedBy(t, s)); diff != "" {
		t.Error(diff)
	}
	if got := w.signing(ledgertest.Ring(t, newer)); got != "second first 5" {
		t.Errorf("signs with %q", got)
	}
	if got := read[int64](w, "select version from config_version"); got != version {
		t.Error("the directories have to read the sandbox again")
	}
	before := w.Written()
	if done, err := s.Reseal(t.Context()); err != nil || done != (sandboxes.Resealed{}) {
		t.Errorf("again: %+v, %v", done, err)
	}
	// The resource finds nothing to do, with the newer key alone.
	s = w.Opened(ledgertest.Options{KeyRing: ledgertest.Ring(t, newer)})
	if _, err := s.ApplySandbox(t.Context(), w.Config); err != nil {
		t.Fatal(err)
	}
	if err := s.ApplyCredentials(t.Context(), w.Config.UID, sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: "second"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("rows (-before +after):\n%s", diff)
	}
}

// A reconciliation encrypts again what it comes to, too.
func TestApplyingSealsThePreviousSecretAgain(t *testing.T) {
	for applied, want := range map[string]string{"second": "second first 24", "third": "third second 24 first 24"} {
		t.Run(applied, func(t *testing.T) {
			older, newer := ledgertest.NewKey(t), ledgertest.NewKey(t)
			w := sealedFixture(t, older)
			s := w.Opened(ledgertest.Options{KeyRing: ledgertest.Ring(t, newer, older)})
			if err := s.ApplyCredentials(t.Context(), w.Config.UID, sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: applied}); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Reseal(t.Context()); err != nil { // of those before the previous one it takes care
				t.Fatal(err)
			}
			if got := w.signing(ledgertest.Ring(t, newer)); got != want {
				t.Errorf("signs with %q, want %q", got, want)
			}
		})
	}
}

// What cannot be opened stays, and keeps nothing else back.
func TestResealLeavesWhatItCannotOpen(t *testing.T) {
	lost, older, newer := ledgertest.NewKey(t), ledgertest.NewKey(t), ledgertest.NewKey(t)
	w := sealedFixture(t, older)
	foreign := ledgertest.Seal(t, ledgertest.Ring(t, lost), w.Config.UID, "zeroth")
	w.Exec("update organizations set previous_secret = $1", foreign)
	s := w.Opened(ledgertest.Options{KeyRing: ledgertest.Ring(t, newer, older)})
	done, err := s.Reseal(t.Context())
	if want := (sandboxes.Resealed{Secrets: 1, Failed: 1}); err != nil || done != want {
		t.Errorf("got %+v, %v, want %+v", done, err, want)
	}
	want := map[string]int{ledgertest.Ring(t, newer).Keys()[0]: 2, ledgertest.Ring(t, lost).Keys()[0]: 1}
	if diff := cmp.Diff(want, sealedBy(t, s)); diff != "" {
		t.Error(diff)
	}
	if err := s.ApplyCredentials(t.Context(), w.Config.UID, sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: "second"}); err != nil {
		t.Errorf("applying: %v", err)
	}
}

func TestResealNeedsAKeyRing(t *testing.T) {
	w := newFixture(t)
	if _, err := w.Opened(ledgertest.Options{}).Reseal(t.Context()); err != secrets.ErrNoKeyRing {
		t.Errorf("got %v", err)
	}
}

// An old encryption key can be taken away once the credentials were applied under the new one.
func TestSecretIsSealedAnewByTheNewKey(t *testing.T) {
	w := newFixture(t)
	older, newer := ledgertest.NewKey(t), ledgertest.NewKey(t)
	credentials := sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: secret}
	for _, keys := range [][]string{{older}, {newer, older}} {
		store := w.Opened(ledgertest.Options{KeyRing: ledgertest.Ring(t, keys...)})
		if err := store.ApplyCredentials(t.Context(), w.Config.UID, credentials); err != nil {
			t.Fatal(err)
		}
	}
	renewed := w.Opened(ledgertest.Options{KeyRing: ledgertest.Ring(t, newer)})
	if got, err := renewed.SigningSecret(t.Context(), w.Config.UID); got != secret {
		t.Errorf("without the old key: %q, %v", got, err)
	}
	before := w.Written()
	if err := renewed.ApplyCredentials(t.Context(), w.Config.UID, credentials); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, w.Written()); diff != "" {
		t.Errorf("applied again (-before +after):\n%s", diff)
	}
}
