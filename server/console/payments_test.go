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

// pay makes a payment by the API.
func (f *fixture) pay(key, msisdn, reference, fields string) string {
	f.t.Helper()
	body := fmt.Sprintf(`{"amount":2000,"currency":"RWF","operator":"mtn","country":"RW","msisdn":%q,"reference":%q,"application":"shop"%s}`,
		msisdn, reference, fields)
	path := strings.Split(f.create(key, "/v1/payments", body), "/")
	return path[len(path)-1]
}

// create sends a request to the API, and returns the header Location of the answer.
func (f *fixture) create(key, path, body string) string {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodPost, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusCreated {
		f.t.Fatalf("%s answered %d to %s", path, got.StatusCode, body)
	}
	return got.Header.Get("Location")
}

const (
	stranger = "+250788999999"
	// hostile is a text with markup, and with marks of the direction of writing.
	hostile = "\u202e<script>alert(1)</script>'\"\u2066"
	// tamed is hostile as pages show it.
	tamed = "<script>alert(1)</script>'\""
)

func quoted(text string) string { return fmt.Sprintf("%q", text) }

// rowsOf returns the orders of the rows of a list, in its order.
func rowsOf(text string) []string {
	var orders []string
	for _, found := range regexp.MustCompile(`<td class="hide-s of"><span class="ref"[^>]*><bdi>([^<]*)</bdi>`).FindAllStringSubmatch(text, -1) {
		orders = append(orders, html.UnescapeString(found[1]))
	}
	return orders
}

func TestPaymentsOfAnEmptySandbox(t *testing.T) {
	got := newFixture(t).signedIn(checkout, key).get(checkout + "/payments")
	if got.status != http.StatusOK || !strings.Contains(got.text, "Nothing has been paid since the last reset.") ||
		strings.Contains(got.text, "<table") {
		t.Errorf("%d: %s", got.status, got.text)
	}
}

func TestPaymentsAreTurnedByPages(t *testing.T) {
	f := newFixture(t)
	for i := range 60 {
		f.pay(key, stranger, fmt.Sprintf("order-%02d", i), "")
	}
	f.pay(otherKey, stranger, "of-another-sandbox", "")
	b := f.signedIn(checkout, key)
	link := func(text, name string) string {
		found := regexp.MustCompile(`href="([^"]*)">` + name + `</a>`).FindStringSubmatch(text)
		if found == nil {
			return ""
		}
		return checkout + "/" + html.UnescapeString(found[1])
	}
	var pages []string // first and last row of each page
	read := func(path string) string {
		text := b.get(path).text
		rows := rowsOf(text)
		pages = append(pages, fmt.Sprintf("%s to %s", rows[0], rows[len(rows)-1]))
		return text
	}
	text := read(checkout + "/payments")
	if link(text, "Newer") != "" {
		t.Error("the first page leads to a newer one")
	}
	for link(text, "Older") != "" {
		text = read(link(text, "Older"))
	}
	for link(text, "Newer") != "" {
		text = read(link(text, "Newer"))
	}
	want := "order-59 to order-35, order-34 to order-10, order-09 to order-00, order-34 to order-10, order-59 to order-35"
	if got := strings.Join(pages, ", "); got != want {
		t.Errorf("pages %s, want %s", got, want)
	}
}

func TestPaymentsAreFiltered(t *testing.T) {
	f := newFixture(t)
	f.pay(key, stranger, "ref-1", `,"order_ref":"first"`)
	f.pay(key, "+250788999998", "ref-2", `,"order_ref":"it's 'second'"`)
	f.exec("update transactions set status = 'TIMEOUT' where reference = 'ref-2'")
	b := f.signedIn(checkout, key)
	all := []string{"it's 'second'", "first"}
	for query, want := range map[string][]string{
		"status=&market=&order=":                 all,
		"status=TIMEOUT":                         all[:1],
		"market=mtn-RW&number=00250+788+999+999": all[1:],
		"market=airtel-RW":                       nil,
		"type=refund":                            nil,
		"order=first":                            all[1:],
		"order=ref-2":                            all[:1], // a reference
		"order=" + url.QueryEscape(hostile):      nil,
		"store=shop&before=2200-01-01":           all,
		"store=none":                             nil,
		"after=2200-01-01+10:30":                 nil,
	} {
		got := b.get(checkout + "/payments?" + query)
		if rows := rowsOf(got.text); got.status != http.StatusOK || strings.Join(rows, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %d, rows %q, want %q", query, got.status, rows, want)
		}
		if strings.Contains(got.text, "<script>") {
			t.Errorf("%s: the page has the markup of its query", query)
		}
	}
	for query, want := range map[string]string{
		"number=abc": "Write it with its country code", "after=tomorrow": "Write a day", "order=" + strings.Repeat("x", 121): "At most 120",
		"order=%00": "At most 120", "status=NOTHING": "A filter cannot be read", "market=mtn": "A filter cannot be read",
		"store=%ff": "A filter cannot be read",
	} {
		if got := b.get(checkout + "/payments?" + query); got.status != http.StatusOK || !strings.Contains(got.text, want) ||
			len(rowsOf(got.text)) > 0 {
			t.Errorf("%s: %d, want %q in %s", query, got.status, want, got.text)
		}
	}
	text := html.UnescapeString(b.get(checkout + "/payments?status=TIMEOUT&order=" + url.QueryEscape(all[0])).text)
	for _, want := range []string{
		`--data-urlencode 'status=TIMEOUT' --data-urlencode 'order_ref=it'\''s '\''second'\'''`,
		`href="payments?status=TIMEOUT"><bdi>order or reference it's 'second'</bdi>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s: %s", want, text)
		}
	}
}

func TestPaymentsShowTextsAsText(t *testing.T) {
	f := newFixture(t)
	f.pay(key, stranger, "ref-1", `,"order_ref":`+quoted(hostile)+`,"description":`+quoted(hostile))
	text := f.signedIn(checkout, key).get(checkout + "/payments").text
	if !strings.Contains(text, "<bdi>"+html.EscapeString(tamed)+"</bdi>") || strings.Contains(text, "<script>alert") {
		t.Errorf("the order is no isolated text: %s", text)
	}
}

func TestPaymentsOfASuspendedSandboxForAViewer(t *testing.T) {
	f := newFixture(t)
	f.pay(key, stranger, "ref-1", "")
	b := f.browser()
	b.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	f.config.Suspended = true
	f.apply(f.config, key)
	f.of("checkout")
	got := b.get(checkout + "/payments")
	if got.status != http.StatusOK || !strings.Contains(got.text, "This sandbox is suspended.") || len(rowsOf(got.text)) != 1 {
		t.Errorf("%d: %s", got.status, got.text)
	}
	if got := f.browser().get(checkout + "/payments"); got.status != http.StatusSeeOther {
		t.Errorf("nobody: %d", got.status)
	}
	if got := b.get(other + "/payments"); got.status != http.StatusSeeOther {
		t.Errorf("the session of another sandbox: %d", got.status)
	}
}

func TestFindLeadsToWhatItFinds(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	for text, want := range map[string]string{
		"":                    "payments",
		" +250 788 000-001 ":  "payments?number=%2B250788000001",
		"00250788000001":      "payments?number=%2B250788000001",
		"order 7&status=NONE": "payments?order=order+7%26status%3DNONE",
		"//example.com":       "payments?order=%2F%2Fexample.com",
	} {
		got := b.get(checkout + "/find?" + url.Values{"q": {text}}.Encode())
		if got.status != http.StatusSeeOther || got.header.Get("Location") != want {
			t.Errorf("%q: %d to %q, want %q", text, got.status, got.header.Get("Location"), want)
		}
	}
}

// A payout that failed has no minus, because nothing moved.
func TestFailedPayoutsHaveNoMinus(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	list := func() string { return words(b.get(checkout + "/payments?type=disbursement").text) }
	f.ask(key, http.MethodPost, "/v1/disbursements", `{"amount":7001,"currency":"RWF","operator":"mtn","country":"RW","msisdn":"`+stranger+
		`","reference":"out-1","application":"shop"}`)
	if text := list(); !strings.Contains(text, "RWF 7,001") || strings.Contains(text, "−7,001") {
		t.Errorf("a failed payout: %s", text)
	}
}

// A transaction has the name that its payer had. A number that is another SIM's now, or has another name, stands alone.
func TestNamesAreThoseOfTheTime(t *testing.T) {
	f := newFixture(t)
	const number, past, renamed, other = "+250788700001", "Aya Past", "Binta Renamed", "Chance Other"
	const success = `,"scenario":"success"`
	f.heard()
	b := f.signedIn(checkout, key)
	change := func(method, path, body string) {
		t.Helper()
		if status := f.ask(key, method, "/v1/test_clients"+path, body); status >= http.StatusMultipleChoices {
			t.Fatalf("%s %s is answered %d", method, path, status)
		}
	}
	has := func(id, want string) {
		t.Helper()
		for _, path := range []string{"/payments/" + id, "/webhooks/evt_" + strings.TrimPrefix(id, "TX_"), "/payments?number=" + url.QueryEscape(number), "/webhooks", "/overview", "/ledger/RWF"} {
			text := b.get(checkout + path).text
			for _, name := range []string{past, renamed, other} {
				if strings.Contains(text, name) != (name == want) {
					t.Errorf("%s: %s is there: %t, want %q", path, name, strings.Contains(text, name), want)
				}
			}
		}
	}
	client := func(name string) {
		t.Helper()
		change("POST", "", fmt.Sprintf(`{"msisdn":%q,"operator":"mtn","country":"RW","name":%q,"balance":50000}`, number, name))
	}
	client(past)
	first := f.pay(key, number, "order-1", success)
	has(first, past)
	change("PATCH", "/"+number, fmt.Sprintf(`{"name":%q}`, renamed))
	has(first, "")
	change("PATCH", "/"+number, `{"balance":40000}`) // it keeps the name
	has(f.pay(key, number, "order-2", success), renamed)
	change("DELETE", "/"+number, "")
	client(other)
	has(first, "")
	has(f.pay(key, number, "order-3", success), other)
}
