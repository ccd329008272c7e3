package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestLedgerShowsWhetherItAddsUp(t *testing.T) {
	f := newFixture(t)
	b := f.browser()
	b.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	row := func() string {
		text := b.get(checkout + "/ledger").text
		return strings.Join(strings.Fields(html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " "))), " ")
	}
	for _, want := range []string{"Everything adds up", "Float in RWF the merchant 100,000 0 0 0 0 RWF 100,000"} {
		if got := row(); !strings.Contains(got, want) {
			t.Errorf("the ledger has no %q: %s", want, got)
		}
	}
	f.exec(fmt.Sprintf("update floats set balance = balance + 7 where tenant = %d", f.of("checkout").Tenant))
	for _, want := range []string{"The ledger does not add up", "RWF 100,007 +7 away from its movements"} {
		if got := row(); !strings.Contains(got, want) {
			t.Errorf("the ledger has no %q: %s", want, got)
		}
	}
	if got := b.get(other + "/ledger"); got.status != http.StatusSeeOther {
		t.Errorf("the session of another sandbox: %d", got.status)
	}
}

func TestLedgerIsTurnedByPages(t *testing.T) {
	f := newFixture(t)
	for i := range 60 {
		f.create(key, "/v1/test_clients", fmt.Sprintf(`{"msisdn":"+2507881000%02d","name":%q}`, i, hostile))
	}
	b := f.signedIn(checkout, key)
	first, second := b.get(checkout+"/ledger").text, b.get(checkout+"/ledger?after=%2B250788100048").text
	if !strings.Contains(first, `href="ledger?after=%2B250788100048">Next`) || !strings.Contains(second, `aria-disabled="true">Next`) {
		t.Errorf("the first page has no link to the second, or the second to a third: %s", first)
	}
	if one, two := strings.Count(first, "<tr>"), strings.Count(second, "<tr>"); one != 51 || two != 12 {
		t.Errorf("%d and %d rows, want 51 and 12 with those of the headers", one, two)
	}
	if !strings.Contains(first, "<bdi>"+html.EscapeString(hostile)+"</bdi>") || strings.Contains(first, "<script>alert") {
		t.Errorf("the name is no isolated text: %s", first)
	}
}
