package sandboxes_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/secrets"
)

// rotated are credentials with a key that was issued in place of another one.
func rotated(key, replaces sandboxes.KeyHash, grace time.Duration) sandboxes.Credentials {
	return sandboxes.Credentials{APIKeyHash: key, Replaces: &replaces, Grace: grace, SigningSecret: secret, KeyRotation: fmt.Sprint(key[0])}
}

func (w *fixture) applyCredentials(c sandboxes.Credentials) {
	w.T.Helper()
	if err := w.ApplyCredentials(w.T.Context(), w.Config.UID, c); err != nil {
		w.T.Fatal(err)
	}
}

// keys are the sandbox's keys by their first byte, each with how long it still works, to the hour.
func (w *fixture) keys() map[byte]string {
	w.T.Helper()
	keys := map[byte]string{}
	for _, line := range read[[]string](w, `select array_agg(encode(hash, 'hex') || ' ' || coalesce(round(extract(epoch from expires_at - now()) / 3600) || 'h', 'on'))
		from api_keys where tenant = $1`, w.Sandbox.Tenant) {
		hash, works, _ := strings.Cut(line, " ")
		first, err := hex.DecodeString(hash[:2])
		if err != nil {
			w.T.Fatal(err)
		}
		keys[first[0]] = works
	}
	return keys
}

func TestKeyRotation(t *testing.T) {
	day := 24 * time.Hour
	one, two, three, four := sandboxes.KeyHash{1}, sandboxes.KeyHash{2}, sandboxes.KeyHash{3}, sandboxes.KeyHash{4}
	plain := func(key sandboxes.KeyHash) sandboxes.Credentials {
		return sandboxes.Credentials{APIKeyHash: key, SigningSecret: secret, Grace: day}
	}
	for name, c := range map[string]struct {
		steps []sandboxes.Credentials
		want  map[byte]string
	}{
		"the replaced key works for the grace": {[]sandboxes.Credentials{plain(one), rotated(two, one, day)}, map[byte]string{1: "24h", 2: "on"}},
		"each for its own": {
			[]sandboxes.Credentials{plain(one), rotated(two, one, day), rotated(three, two, 3*time.Hour)},
			map[byte]string{1: "24h", 2: "3h", 3: "on"},
		},
		"a grace of 0 revokes it": {[]sandboxes.Credentials{plain(one), rotated(two, one, 0)}, map[byte]string{2: "on"}},
		"and every older one": {
			[]sandboxes.Credentials{plain(one), rotated(two, one, day), rotated(three, two, 0)},
			map[byte]string{3: "on"},
		},
		"a grace of 0 later": {
			[]sandboxes.Credentials{plain(one), rotated(two, one, day), rotated(two, one, 0)},
			map[byte]string{2: "on"},
		},
		"a longer grace later changes nothing": {
			[]sandboxes.Credentials{plain(one), rotated(two, one, day), rotated(two, one, 7*day)},
			map[byte]string{1: "24h", 2: "on"},
		},
		"and gives nothing back": {
			[]sandboxes.Credentials{plain(one), rotated(two, one, 0), rotated(two, one, day)},
			map[byte]string{2: "on"},
		},
		"a lost key stops working at once": {[]sandboxes.Credentials{plain(one), plain(two)}, map[byte]string{2: "on"}},
		"not the ones before it": {
			[]sandboxes.Credentials{plain(one), rotated(two, one, day), plain(three)},
			map[byte]string{1: "24h", 3: "on"},
		},
		"a replaced key that comes back": {
			[]sandboxes.Credentials{plain(one), rotated(two, one, day), rotated(one, one, day)},
			map[byte]string{1: "on"},
		},
		"a key that was never the sandbox's": {[]sandboxes.Credentials{plain(one), rotated(two, four, day)}, map[byte]string{2: "on"}},
		"the database missed a rotation":     {[]sandboxes.Credentials{plain(one), rotated(three, two, day)}, map[byte]string{3: "on"}},
		"the same again": {
			[]sandboxes.Credentials{plain(one), rotated(two, one, day), rotated(two, one, day)},
			map[byte]string{1: "24h", 2: "on"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			for _, step := range c.steps {
				w.applyCredentials(step)
			}
			if diff := cmp.Diff(c.want, w.keys()); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
			before := w.Written()
			w.applyCredentials(c.steps[len(c.steps)-1])
			if diff := cmp.Diff(before, w.Written()); diff != "" {
				t.Errorf("applied again (-before +after):\n%s", diff)
			}
		})
	}
}

// What is over is removed, and changes nothing for anybody.
func TestExpiredKeyIsRemoved(t *testing.T) {
	w := newFixture(t)
	w.applyCredentials(rotated(sandboxes.KeyHash{2}, w.Key, time.Hour))
	w.Exec("update api_keys set expires_at = now() where expires_at is not null")
	version := read[int64](w, "select version from config_version")
	w.applyCredentials(rotated(sandboxes.KeyHash{2}, w.Key, time.Hour))
	if diff := cmp.Diff(map[byte]string{2: "on"}, w.keys()); diff != "" {
		t.Error(diff)
	}
	if got := read[int64](w, "select version from config_version"); got != version {
		t.Error("the directories have to read the sandbox again")
	}
}

func TestStoredCredentials(t *testing.T) {
	w := newFixture(t)
	read := func() sandboxes.StoredCredentials {
		t.Helper()
		stored, err := w.StoredCredentials(t.Context(), w.Config.UID)
		if err != nil {
			t.Fatal(err)
		}
		return stored
	}
	before := read()
	two := rotated(sandboxes.KeyHash{2}, w.Key, time.Hour)
	two.SecretRotation = "s"
	w.applyCredentials(two)
	after := read()
	if after.Version <= before.Version {
		t.Errorf("version %d follows %d", after.Version, before.Version)
	}
	want := sandboxes.StoredCredentials{
		Version:        after.Version,
		APIKeys:        []sandboxes.KeyHash{{2}},
		KeyRotation:    "2",
		SigningSecret:  secret,
		SecretRotation: "s",
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{fmt.Sprintf("%v %+v %#v", after, after, after), fmt.Sprintf("%v %+v %#v", two, two, two)} {
		if strings.Contains(text, secret) {
			t.Errorf("a printed value shows the secret: %s", text)
		}
	}
}

// Of two controllers that chose by the same credentials, the second has to choose again.
func TestCredentialsFollowAVersion(t *testing.T) {
	w := newFixture(t)
	stored, err := w.StoredCredentials(t.Context(), w.Config.UID)
	if err != nil {
		t.Fatal(err)
	}
	first, late := rotated(sandboxes.KeyHash{2}, w.Key, time.Hour), rotated(sandboxes.KeyHash{3}, w.Key, time.Hour)
	first.Following, late.Following = stored.Version, stored.Version
	w.applyCredentials(first)
	if err := w.ApplyCredentials(t.Context(), w.Config.UID, late); !errors.Is(err, sandboxes.ErrCredentialsChanged) {
		t.Errorf("got %v, want ErrCredentialsChanged", err)
	}
	if diff := cmp.Diff(map[byte]string{1: "1h", 2: "on"}, w.keys()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	w.applyCredentials(first) // its answer was lost: there is nothing to do
}

// signing is what the sandbox signs with: the present secret and, each with the hours that are left, those before it.
func (w *fixture) signing(ring *secrets.KeyRing) string {
	w.T.Helper()
	sealed := read[[][]byte](w, `select array_remove(array[signing_secret, previous_secret] || older_secrets, null) from organizations`)
	hours := read[[]int](w, `select array(select round(extract(epoch from until - now()) / 3600)::int
		from unnest(array_remove(array[previous_secret_until] || older_secrets_until, null)) until order by until desc) from organizations`)
	var all []string
	for i, one := range sealed {
		text, err := ring.Open(w.Config.UID, one)
		if err != nil {
			w.T.Fatal(err)
		}
		if i > 0 {
			text += fmt.Sprint(" ", hours[i-1])
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func TestSigningSecretOverlaps(t *testing.T) {
	w := newFixture(t)
	keys := ledgertest.Ring(t, ledgertest.NewKey(t))
	s := w.Opened(ledgertest.Options{KeyRing: keys})
	apply := func(secret, rotation, want string) {
		t.Helper()
		for range 2 { // the second time it changes nothing, and does not prolong the overlap
			c := sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: secret, SecretRotation: rotation}
			if err := s.ApplyCredentials(t.Context(), w.Config.UID, c); err != nil {
				t.Fatal(err)
			}
			if got := w.signing(keys); got != want {
				t.Errorf("signs with %q, want %q", got, want)
			}
			var prints []string
			for i, word := range strings.Fields(want) { // secrets, each but the first with its hours
				if i == 0 || i%2 == 1 {
					prints = append(prints, secrets.Fingerprint(word))
				}
			}
			if diff := cmp.Diff(prints, read[[]string](w, "select secret_fingerprints from organizations")); diff != "" {
				t.Errorf("fingerprints of %q (-want +got):\n%s", want, diff)
			}
		}
		if got := read[string](w, "select secret_rotation from organizations"); got != rotation {
			t.Errorf("made for %q, want %q", got, rotation)
		}
	}
	w.Exec("update organizations set signing_secret = null")
	apply("first", "", "first")
	apply("first", "1", "first") // another rotation value alone makes no other secret
	apply("second", "2", "second first 24")
	w.Exec("update organizations set previous_secret_until = now() + interval '5 hours'")
	apply("second", "2", "second first 5")
	apply("third", "2", "third second 24 first 5") // the first overlap goes on
	w.Exec("update organizations set previous_secret_until = now() + interval '23 hours'")
	apply("fourth", "3", "fourth third 24 second 23 first 5")
	w.Exec(
		"update organizations set previous_secret_until = now() + interval '23 hours', older_secrets_until[1] = now() + interval '22 hours'",
	)
	apply("fifth", "4", "fifth fourth 24 third 23 second 22") // three at most
	w.Exec("update organizations set older_secrets_until[2] = now()")
	apply("fifth", "4", "fifth fourth 24 third 23")
	w.Exec("update organizations set previous_secret_until = now(), older_secrets_until[1] = now()")
	apply("fifth", "4", "fifth")
	if got := read[int](
		w,
		"select count(*)::int from organizations where previous_secret_until is not null or older_secrets_until <> '{}'",
	); got != 0 {
		t.Error("the end of an overlap is still there")
	}
}

func TestCredentialsReplaceTheOnesBefore(t *testing.T) {
	w := newFixture(t)
	directory := sandboxes.NewDirectory(w.Store.DB)
	knows := func(key sandboxes.KeyHash) bool {
		t.Helper()
		if err := directory.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, ok := directory.ByKey(key)
		return ok
	}
	newKey := sandboxes.KeyHash{2}
	if !knows(w.Key) || knows(newKey) {
		t.Fatal("the first key does not work")
	}
	if err := w.ApplyCredentials(
		t.Context(),
		w.Config.UID,
		sandboxes.Credentials{APIKeyHash: newKey, SigningSecret: "another secret of my own"},
	); err != nil {
		t.Fatal(err)
	}
	if knows(w.Key) || !knows(newKey) {
		t.Error("the new key has not replaced the old one")
	}
	if got, err := w.SigningSecret(t.Context(), w.Config.UID); got != "another secret of my own" {
		t.Errorf("the signing secret is %q, %v", got, err)
	}
	if got := w.Count("select count(*) from organizations where position(convert_to('secret', 'utf8') in signing_secret) > 0"); got != 0 {
		t.Error("the signing secret is stored as it is")
	}
}

func TestCredentialsOfNoSandbox(t *testing.T) {
	w := newFixture(t)
	credentials := sandboxes.Credentials{SigningSecret: secret}
	if err := w.ApplyCredentials(t.Context(), nobody, credentials); !errors.Is(err, sandboxes.ErrNoOrganization) {
		t.Errorf("applying: %v", err)
	}
	if got, err := w.SigningSecret(t.Context(), nobody); got != "" || err != nil {
		t.Errorf("reading: %q, %v", got, err)
	}
	if err := w.ApplyCredentials(t.Context(), "checkout", credentials); err == nil {
		t.Error("a UID that is no UUID was taken")
	}
	if _, err := w.SigningSecret(t.Context(), "checkout"); err == nil {
		t.Error("a UID that is no UUID was taken")
	}
}

func TestKeyBelongsToOneSandbox(t *testing.T) {
	w := newFixture(t)
	other := w.beside("other")
	taken := sandboxes.Credentials{APIKeyHash: w.Key, SigningSecret: secret}
	if err := w.ApplyCredentials(t.Context(), other.Config.UID, taken); !errors.Is(err, sandboxes.ErrKeyTaken) {
		t.Fatalf("got %v, want ErrKeyTaken", err)
	}
	w.Reload()
	other.Reload() // its own key still works
	if w.Sandbox.Name != "checkout" {
		t.Errorf("the key belongs to %s", w.Sandbox.Name)
	}
	if err := w.DeleteSandbox(t.Context(), w.Config.UID); err != nil {
		t.Fatal(err)
	}
	if err := w.ApplyCredentials(t.Context(), other.Config.UID, taken); err != nil {
		t.Errorf("the key of a sandbox that is gone: %v", err)
	}
}

func TestSandboxesRacingForAKey(t *testing.T) {
	w := newFixture(t)
	const racers = 8
	racing := make([]*fixture, racers)
	for i := range racing {
		racing[i] = w.beside(fmt.Sprint("racer-", i))
	}
	results := make(chan error)
	for _, racer := range racing {
		go func() {
			results <- w.ApplyCredentials(context.Background(), racer.Config.UID, sandboxes.Credentials{
				APIKeyHash: [32]byte(bytes.Repeat([]byte{9}, 32)), SigningSecret: secret,
			})
		}()
	}
	won := 0
	for range racers {
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.Is(err, sandboxes.ErrKeyTaken):
			t.Error(err)
		}
	}
	if got := read[int](w, "select count(*)::int from api_keys where hash = $1", bytes.Repeat([]byte{9}, 32)); won != 1 || got != 1 {
		t.Errorf("%d have the key, and %d rows say so", won, got)
	}
}

func TestCredentialsNeedAKeyRing(t *testing.T) {
	w := newFixture(t)
	s := w.Opened(ledgertest.Options{})
	if _, err := s.SigningSecret(t.Context(), w.Config.UID); !errors.Is(err, secrets.ErrNoKeyRing) {
		t.Errorf("reading: %v", err)
	}
	if err := s.ApplyCredentials(
		t.Context(),
		w.Config.UID,
		sandboxes.Credentials{APIKeyHash: sandboxes.KeyHash{2}, SigningSecret: secret},
	); !errors.Is(
		err,
		secrets.ErrNoKeyRing,
	) {
		t.Errorf("applying: %v", err)
	}
	w.Reload() // and the key is what it was
}
