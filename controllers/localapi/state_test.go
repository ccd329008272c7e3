package localapi

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/postgres"
)

// keeping is a process that keeps its resources in the database.
func keeping(t *testing.T, databaseURL string, options Options) *process {
	t.Helper()
	db, err := postgres.Open(databaseURL, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	options.State = InDatabase(db.Unscoped())
	return startOn(t, databaseURL, options)
}

// row reads one row of the database into values.
func (p *process) row(sql string, values ...any) {
	p.Helper()
	if err := ledgertest.Connect(p, p.databaseURL).QueryRow(p.Context(), sql).Scan(values...); err != nil {
		p.Fatal(err)
	}
}

// sandbox is what must not change when a process ends and another one starts.
type sandbox struct {
	APIKey, SigningSecret, Organization string
	UID                                 string
	Generation                          int64
	Tenant, Float, SIM                  int64
}

func (p *process) sandbox() (s sandbox) {
	p.Helper()
	credentials := p.credentials()
	s.APIKey, s.SigningSecret, s.Organization = credentials["api-key"], credentials["webhook-signing-secret"], credentials["organization-id"]
	s.UID, s.Generation = string(p.Sandboxes()[0].UID), p.Sandboxes()[0].Generation
	p.row("select tenant, f.balance, s.balance from organizations join floats f using (tenant) join sims s using (tenant) where retained_at is null",
		&s.Tenant, &s.Float, &s.SIM)
	return s
}

func TestRestart(t *testing.T) {
	t.Parallel()
	databaseURL := ledgertest.URL(t)
	first := keeping(t, databaseURL, Options{})
	first.apply(checkout + alice)
	manifest := strings.Replace(checkout, "spec:", "spec:\n  reset: run-1", 1) + alice
	first.apply(manifest) // generation 2
	conn := ledgertest.Connect(t, databaseURL)
	for _, sql := range []string{"update floats set balance = 1234", "update sims set balance = 321"} { // as by payments
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	before := first.sandbox()
	first.stop()

	second := keeping(t, databaseURL, Options{})
	said := second.apply(manifest)
	if diff := cmp.Diff([]string{"sandboxenvironment.cauri.dev/checkout unchanged", "testclient.cauri.dev/alice unchanged"}, said); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before, second.sandbox()); diff != "" {
		t.Errorf("the second process changed it: %s", diff)
	}
	second.stop()

	third := keeping(t, databaseURL, Options{})
	third.apply(strings.Replace(manifest, "amount: 1000", "amount: 2000", 1))
	changed := before
	changed.Generation, changed.Float = before.Generation+1, 2000
	if diff := cmp.Diff(changed, third.sandbox()); diff != "" {
		t.Errorf("another opening balance: %s", diff)
	}
}

// What was removed from the files while no process ran is deleted at the next start.
func TestRestartDeletes(t *testing.T) {
	t.Parallel()
	databaseURL := ledgertest.URL(t)
	first := keeping(t, databaseURL, Options{})
	first.apply(checkout + alice)
	first.stop()
	second := keeping(t, databaseURL, Options{})
	said := second.apply(checkout)
	if !slices.Contains(said, "testclient.cauri.dev/alice deleted") {
		t.Errorf("it said %q", said)
	}
	ledgertest.Eventually(t, func() bool {
		var sims int
		second.row("select count(*) from sims", &sims)
		return sims == 0
	})
}

// A sandbox whose ttl ended while no process ran starts again.
func TestRestartAfterTheTTL(t *testing.T) {
	t.Parallel()
	databaseURL := ledgertest.URL(t)
	manifest := strings.Replace(checkout, "spec:", "spec:\n  ttl: 2h", 1)
	first := keeping(t, databaseURL, Options{})
	first.apply(manifest)
	first.stop()
	const yesterday = `update dev_resources set object = jsonb_set(object, '{metadata,creationTimestamp}', '"2026-01-01T00:00:00Z"')`
	if _, err := ledgertest.Connect(t, databaseURL).Exec(t.Context(), yesterday); err != nil {
		t.Fatal(err)
	}
	second := keeping(t, databaseURL, Options{})
	said := second.apply(manifest)
	want := []string{"sandboxenvironment.cauri.dev/checkout deleted", "sandboxenvironment.cauri.dev/checkout created"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
}

// Without a state, a sandbox of an earlier process is another one: its rows are retained, and its key no longer works.
func TestRestartWithoutState(t *testing.T) {
	t.Parallel()
	databaseURL := ledgertest.URL(t)
	first := startOn(t, databaseURL, Options{})
	first.apply(checkout + alice)
	before := first.sandbox()
	first.stop()
	second := startOn(t, databaseURL, Options{})
	second.apply(checkout + alice)
	if after := second.sandbox(); after.APIKey == before.APIKey || after.Tenant == before.Tenant || after.Float != 1000 {
		t.Errorf("it was %+v and is %+v", before, after)
	}
	var keys int
	if second.row("select count(*) from api_keys", &keys); keys != 1 {
		t.Errorf("%d keys work", keys)
	}
}

func TestChosenKey(t *testing.T) {
	t.Parallel()
	const key, other = "cauri_sk_test_0123456789abcdefghijABCDEFGHIJkl", "cauri_sk_test_00000000000000000000000000000000"
	databaseURL := ledgertest.URL(t)
	rotating := strings.Replace(checkout, "spec:", "spec:\n  keyRotation: 2026-11", 1)
	first := keeping(t, databaseURL, Options{APIKey: key})
	first.apply(rotating + alice)
	if got := first.sandbox().APIKey; got != key {
		t.Errorf("the key is %q", got)
	}
	first.stop()
	second := keeping(t, databaseURL, Options{APIKey: other})
	second.apply(rotating + alice)
	if got := second.sandbox(); got.APIKey != other || got.SigningSecret == "" {
		t.Errorf("the credentials are %+v", got)
	}
	if _, err := New(t.Context(), Options{APIKey: "secret"}); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("another form: %v", err)
	}
	_, err := second.Apply(t.Context(), manifests(t, checkout+"---"+strings.ReplaceAll(checkout, "checkout", "other")))
	if err == nil || !strings.Contains(err.Error(), "a chosen API key is for one sandbox, and there are 2") {
		t.Errorf("two sandboxes: %v", err)
	}
}
