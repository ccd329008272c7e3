package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// The overview says that payments work only while no limit, no environment and no fault is in their way.
func TestOverviewSaysWhyPaymentsAreRefused(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	f.pay(key, stranger, "ref-1", "")
	with := func(want string, change func(*sandboxes.Config)) {
		t.Helper()
		config := f.config
		change(&config)
		f.apply(config, key)
		f.of("checkout")
		got := b.get(checkout + "/overview")
		if _, lead, _ := strings.Cut(got.text, `id="lead">`); !strings.HasPrefix(lead, want) {
			t.Errorf("want %q, and the page is %s", want, words(got.text))
		}
	}
	with("Payments work.", func(*sandboxes.Config) {})
	with("Payments are refused: all environments of the sandbox are disabled.", func(c *sandboxes.Config) {
		c.Environments = []sandboxes.EnvironmentConfig{c.Environments[0]}
		c.Environments[0].Enabled = false
	})
	with("The fault down refuses requests on purpose.", func(c *sandboxes.Config) {
		c.Faults = []byte(`[{"name":"slow","api":{"delay":"1ms"}},{"name":"past","when":{"until":"2020-01-01T00:00:00Z"},"api":{"status":503}},` +
			`{"name":"down","when":{"first":2},"api":{"status":503}}]`)
	})
	f.exec("insert into fault_counts (tenant, name, digest, acts, last_at) select tenant, 'down', $1, 2, now() from organizations where name = 'checkout'",
		f.of("checkout").Faults[2].Digest())
	b.get(checkout+"/overview").has(t, "Overview Payments work.") // the fault is over
	quota := func(c *sandboxes.Config) { c.MonthlyQuota = new(int64(1)) }
	with("Payments work.", quota)
	f.pay(key, stranger, "ref-2", "")
	with("Payments are refused: the quota of 1 transaction a month is used up.", quota)
	with("Requests are refused: there was 1 in the last minute, which is the limit.", func(c *sandboxes.Config) {
		c.RateLimit = new(int32(1))
		f.exec("insert into rate_usage (tenant, second, granted) select tenant, extract(epoch from now())::bigint, 1 from organizations where name = 'checkout'")
	})
	if got := f.ask(key, http.MethodGet, "/v1/payments", ""); got != http.StatusTooManyRequests {
		t.Errorf("a request answers %d", got)
	}
}
