package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
)

// Pages of `cauri dev` name what its user has: no cluster, no Secret.
func TestPagesOfDevNameNoCluster(t *testing.T) {
	f := newFixture(t, func(o *fronts.Options) { o.RefusedHost = func(*http.Request) string { return "" } })
	f.create(key, "/v1/test_clients", `{"msisdn":"`+awa+`","name":"awa"}`)
	f.exec("update sims set source = 'resource' where msisdn = '" + awa + "'")
	wrong := f.browser().send(http.MethodPost, checkout+"/sign-in", url.Values{"key": {"cauri_sk_test_wrong"}})
	if !strings.Contains(wrong.text, "<details open>") {
		t.Error("the help for the key is closed after a wrong key")
	}
	wrong.has(t, "cauri dev has printed it in its terminal", "CAURI_API_KEY")
	b := f.signedIn(checkout, key)
	all := map[string]string{"a wrong key": wrong.text}
	for _, path := range strings.Fields("overview handsets payments webhooks requests ledger expectations try faults stories setup reset") {
		all[path] = b.get(checkout + "/" + path).text
	}
	all["a client"] = b.get(checkout + "/handsets/" + awa + "/change").text
	for name, text := range all {
		for _, word := range []string{"kubectl", "Secret<", "of the Secret", ".svc"} {
			if strings.Contains(text, word) {
				t.Errorf("%s says %s", name, word)
			}
		}
	}
	b.get(checkout+"/setup").has(t, "CAURI_MTN_API_KEY", "cauri dev --country=RW --print-sample", "cauri dev -f sandbox.yaml")
}
