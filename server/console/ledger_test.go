package console_test

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

func TestLedgerShowsWhetherItAddsUp(t *testing.T) {
	f := newFixture(t)
	b := f.browser()
	b.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	row := func() string { return words(b.get(checkout + "/ledger").text) }
	for _, want := range []string{"Everything adds up", "Float in RWF the merchant 100,000 0 0 0 0 RWF 100,000"} {
		if got := row(); !strings.Contains(got, want) {
			t.Errorf("the ledger has no %q: %s", want, got)
		}
	}
	f.exec(fmt.Sprintf("update floats set balance = balance + 7 where tenant = %d", f.of("checkout").Tenant))
	for _, want := range []string{
		"The ledger does not add up.", "Float in RWF The balance is RWF 7 more than its movements tell, after movement 0, the last one.",
		"RWF 100,007 +7 away from its movements",
	} {
		if got := row(); !strings.Contains(got, want) {
			t.Errorf("the ledger has no %q: %s", want, got)
		}
	}
	if got := b.get(other + "/ledger"); got.status != http.StatusSeeOther {
		t.Errorf("the session of another sandbox: %d", got.status)
	}
}

// The float of the sandbox's own country is the first one.
func TestFloatsAreInTheOrderOfTheEnvironments(t *testing.T) {
	f := newFixture(t)
	own := f.config.Environments[0]
	own.Operator, own.Country = payments.Orange, payments.CoteDIvoire
	f.config.Environments = append([]sandboxes.EnvironmentConfig{own}, f.config.Environments...)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 100_000, payments.XOF: 200_000}
	f.apply(f.config, key)
	f.of("checkout")
	b := f.signedIn(checkout, key)
	for _, page := range []string{"/overview", "/ledger"} {
		text := words(b.get(checkout + page).text)
		if xof, rwf := strings.Index(text, "Float in XOF"), strings.Index(text, "Float in RWF"); xof < 0 || rwf < xof {
			t.Errorf("%s has XOF at %d and RWF at %d", page, xof, rwf)
		}
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
	if !strings.Contains(first, "<bdi>"+html.EscapeString(tamed)+"</bdi>") || strings.Contains(first, "<script>alert") {
		t.Errorf("the name is no isolated text: %s", first)
	}
}

// moved makes payments until the float has this number of movements.
func (f *fixture) moved(movements int) {
	f.t.Helper()
	for i := 1; i < movements; i++ {
		f.pay(key, stranger, fmt.Sprintf("ref-%03d", i), fmt.Sprintf(`,"scenario":"success","order_ref":"order-%03d"`, i))
	}
}

// entryNumbers returns the numbers of the movements on a page, in its order.
func entryNumbers(text string) (numbers []string) {
	for _, found := range regexp.MustCompile(`<td class="num quiet c5">([^<]*)</td>`).FindAllStringSubmatch(text, -1) {
		numbers = append(numbers, found[1])
	}
	return numbers
}

func TestAccountHasItsMovements(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", fmt.Sprintf(`{"msisdn":"+250788100001","name":%q,"balance":5000}`, hostile))
	f.pay(key, "+250788100001", "ref-1", `,"scenario":"success","order_ref":`+quoted(hostile))
	f.pay(key, stranger, "ref-2", `,"scenario":"success"`)
	b := f.signedIn(checkout, key)
	for path, want := range map[string][]string{
		"/ledger/RWF": {
			"RWF 103,940. 3 movements, not proven yet.", "100,000 0 +3,940 0 0 RWF 103,940 0 of 3 proven",
			"outside:RWF 2,000 float:RWF 1,970 commission:RWF 30 +1,970 103,940", tamed + " 2,000 float:RWF 1,970 commission:RWF 30 +1,970 101,970",
			"opening by the configuration opening:RWF 100,000 float:RWF 100,000 +100,000 100,000", "1 to 3 of 3",
		},
		"/ledger/+250788100001":   {"RWF 3,000. 2 movements", "5,000 0 −2,000 0 0 RWF 3,000", "−2,000 3,000", "+5,000 5,000"},
		"/ledger/%2B250788100001": {"1 to 2 of 2"},
	} {
		got := b.get(checkout + path)
		for _, text := range want {
			if got.status != http.StatusOK || !strings.Contains(words(got.text), text) {
				t.Errorf("%s: %d, no %q: %s", path, got.status, text, words(part(got.text, "<main", "</main>")))
			}
		}
		if strings.Contains(got.text, "<script>alert") || !strings.Contains(got.text, "<bdi>"+html.EscapeString(tamed)+"</bdi>") {
			t.Errorf("%s: a name is no isolated text", path)
		}
	}
	for _, none := range []string{"/ledger/XOF", "/ledger/+250788100002", "/ledger/x", "/ledger/+250788100002/entries.csv", "/ledger/RWF/x"} {
		if got := b.get(checkout + none); got.status != http.StatusNotFound {
			t.Errorf("%s answered %d", none, got.status)
		}
	}
	if got := f.signedIn(other, otherKey).get(other + "/ledger/+250788100001"); got.status != http.StatusNotFound {
		t.Errorf("the test client of another sandbox: %d", got.status)
	}
}

func TestAccountIsTurnedByPages(t *testing.T) {
	f := newFixture(t)
	f.moved(60)
	b := f.signedIn(checkout, key)
	link := func(text, name string) string {
		found := regexp.MustCompile(`href="([^"]*)">` + name + `</a>`).FindStringSubmatch(text)
		if found == nil {
			return ""
		}
		return checkout + "/ledger/" + html.UnescapeString(strings.TrimPrefix(found[1], "../ledger/"))
	}
	text := b.get(checkout + "/ledger/RWF").text
	var pages []string
	for _, name := range []string{"Older", "Older", "Newer", "Newer", ""} {
		numbers := entryNumbers(text)
		pages = append(pages, numbers[0]+" to "+numbers[len(numbers)-1])
		if name != "" {
			text = b.get(link(text, name)).text
		}
	}
	if got, want := strings.Join(pages, ", "), "60 to 36, 35 to 11, 10 to 1, 35 to 11, 60 to 36"; got != want || link(text, "Newer") != "" {
		t.Errorf("pages %s, want %s", got, want)
	}
	for _, query := range []string{"?to=0", "?to=-1", "?to=x", "?to=9999999999999999999"} {
		if got := b.get(checkout + "/ledger/RWF" + query); got.status != http.StatusOK || entryNumbers(got.text)[0] != "60" {
			t.Errorf("%s: %d, want the first page", query, got.status)
		}
	}
}

func TestExportHasAllMovements(t *testing.T) {
	f := newFixture(t)
	const harmful = `=HYPERLINK("http://x"),-1`
	f.pay(key, stranger, "+first", `,"scenario":"success","order_ref":`+quoted(harmful))
	f.exec(`insert into adjustments (tenant, currency, delta, number, balance_after)
		select tenant, 'RWF', 1, 2 + n, 101970 + n from organizations, generate_series(1, 1200) n where name = 'checkout'`)
	f.exec("update floats set movements = movements + 1200, balance = balance + 1200 where tenant = (select tenant from organizations where name = 'checkout')")
	b := f.browser()
	b.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	got := b.get(checkout + "/ledger/RWF/entries.csv")
	if got.header.Get("Content-Disposition") != `attachment; filename="checkout-ledger-RWF.csv"` || got.header.Get("Cache-Control") != "no-store" ||
		got.header.Get("Content-Type") != "text/csv; charset=utf-8; header=present" {
		t.Errorf("the headers are %v", got.header)
	}
	rows, err := csv.NewReader(strings.NewReader(got.text)).ReadAll()
	if err != nil || len(rows) != 1+2+3+2*1200 || rows[0][0] != "account" || rows[len(rows)-1][1] != "1202" {
		t.Fatalf("%v, %d rows", err, len(rows))
	}
	if rows[3][5] != "'+first" || rows[3][6] != "'"+harmful {
		t.Errorf("a spreadsheet takes these cells for formulas: %q", rows[3])
	}
	if got := f.browser().get(checkout + "/ledger/RWF/entries.csv"); got.status != http.StatusSeeOther || strings.Contains(got.text, "float:RWF") {
		t.Errorf("without a session: %d", got.status)
	}
}

func TestLedgerIsVerifiedNow(t *testing.T) {
	f := newFixture(t)
	f.pay(key, stranger, "ref-1", `,"scenario":"success"`)
	ledgertest.Verifies(t, f.db)
	b := f.signedIn(checkout, key)
	for account, want := range map[string]string{"": "../ledger", "RWF": "../ledger/RWF", "//example.com": "../ledger"} {
		got := b.post(checkout, "/ledger/verify", url.Values{"account": {account}})
		if got.status != http.StatusSeeOther || got.header.Get("Location") != want {
			t.Errorf("%q: %d to %q", account, got.status, got.header.Get("Location"))
		}
	}
	if text := words(b.get(checkout + "/ledger/RWF").text); !strings.Contains(text, "2 of 2 movements proven,") || !strings.Contains(text, "2 proven") {
		t.Errorf("the account is not proven: %s", text)
	}
	if text := words(b.get(checkout + "/ledger").text); !strings.Contains(text, "no movement is missing. Verified 0 s ago") &&
		!strings.Contains(text, "Verified 1 s ago") {
		t.Errorf("the ledger does not say when: %s", text)
	}
	f.exec("update transactions set merchant_balance_after = merchant_balance_after + 5 where reference = 'ref-1'")
	b.post(checkout, "/ledger/verify", nil)
	text := words(b.get(checkout + "/ledger/RWF").text)
	for _, want := range []string{"The ledger does not add up.", "The balance is RWF 5 more than its movements tell, between the movements 1 and 2."} {
		if strings.Count(text, want) == 0 {
			t.Errorf("the account has no %q: %s", want, text)
		}
	}
	viewer := f.browser()
	viewer.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	if text := viewer.get(checkout + "/ledger").text; strings.Contains(text, "Verify everything now") {
		t.Error("a viewer sees the button")
	}
}

// A page shows amounts of 15 digits in full.
func TestAccountHasLargeAmounts(t *testing.T) {
	f := newFixture(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 1_000_000_000_000_000}
	f.config.Reset = "again"
	f.config.Suspended = true
	f.apply(f.config, key)
	f.of("checkout")
	text := words(f.signedIn(checkout, key).get(checkout + "/ledger/RWF").text)
	if strings.Count(text, "1,000,000,000,000,000") < 4 || !strings.Contains(text, "This sandbox is suspended.") {
		t.Errorf("the account: %s", text)
	}
}
