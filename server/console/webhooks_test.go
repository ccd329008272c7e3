package console_test

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

// evt returns the id of the event of a transaction.
func evt(tx string) string { return "evt_" + strings.TrimPrefix(tx, "TX_") }

// failing stores a failed attempt to send the event of a transaction, and earlier failures.
func (f *fixture) failing(tx, problem string) {
	f.t.Helper()
	id, err := payments.ParseID(tx)
	if err != nil {
		f.t.Fatal(err)
	}
	f.attempted(tx, "queued", 0, problem, "")
	tenant := f.of("checkout").Tenant
	f.exec(`insert into endpoint_health (tenant, failures, failing_since, last_failure_at, last_failure, last_failed, last_failed_attempt)
		select $1, 3, '2026-05-31T12:00:00Z', now(), $2, $3, attempts from events where tenant = $1 and id = $3
		on conflict (tenant) do update set last_failure = $2, last_failed_attempt = excluded.last_failed_attempt`, tenant, problem, id[:])
}

func TestWebhooksOfASandboxWithoutOne(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	got := b.get(checkout + "/webhooks")
	got.has(t, "Nobody receives events yet", "kubectl cauri -n team listen checkout", "shop.team.svc/webhooks")
	if strings.Contains(got.text, "<table") {
		t.Errorf("there is a table: %s", got.text)
	}
	tx := f.pay(key, stranger, "ref-1", "")
	b.get(checkout+"/webhooks").has(t, "None is sent: this sandbox has no webhook.", "payment.completed ref-1", "Unknown number", "Not sent")
	b.get(checkout+"/webhooks/"+evt(tx)).has(t, "It is not sent", "nobody: there is no webhook", "Nothing was signed yet")
}

// The page and the overview show the cause of a failure.
func TestWebhooksSayWhereTheFaultIs(t *testing.T) {
	f := newFixture(t)
	f.heard()
	tx := f.pay(key, stranger, "ref-1", "")
	b := f.signedIn(checkout, key)
	if got := words(b.get(checkout + "/webhooks").text); strings.Contains(got, "since") || !strings.Contains(got, "Waiting 1") {
		t.Errorf("a healthy webhook: %s", got)
	}
	for problem, want := range map[string]string{
		"dial tcp 127.0.0.1:1: connect: connection refused":                "Nothing listens at 127.0.0.1:1 since",
		"no answer within 10s":                                             "127.0.0.1:1 gives no answer within 10 s since",
		"dial tcp: lookup shop.example: no such host":                      "No address is known for 127.0.0.1:1 since",
		"tls: failed to verify certificate: x509: certificate has expired": "The certificate of 127.0.0.1:1 is not accepted since",
		"events may not be sent to 10.0.0.1: it is private":                "Cauri may not send to 127.0.0.1:1 since",
		"EOF":                       "127.0.0.1:1 ends the connection without an answer since",
		"the receiver answered 401": "Your receiver answers 401 since",
		"the receiver answered 503": "Your receiver answers 503 since",
		hostile:                     "Events do not arrive at 127.0.0.1:1 since",
	} {
		f.failing(tx, problem)
		page := b.get(checkout + "/webhooks")
		page.has(t, want)
		if !strings.Contains(page.text, `href="webhooks/`+evt(tx)+`">See why`) {
			t.Errorf("%s: no link to the event: %s", problem, page.text)
		}
		overview := b.get(checkout + "/overview")
		overview.has(t, "Payments work, and one thing needs you. "+want)
		if refuses := strings.Contains(overview.text, "Receiver refuses events"); refuses != strings.HasSuffix(problem, "401") {
			t.Errorf("%s: the overview says that the receiver refuses: %t", problem, refuses)
		}
		for _, text := range []string{page.text, overview.text} {
			if strings.Contains(text, "token=x") || strings.Contains(text, "<script>alert") {
				t.Errorf("%s: the page has more of the URL or the failure than it may: %s", problem, text)
			}
		}
	}
}

func TestEventsAreFilteredAndTurned(t *testing.T) {
	f := newFixture(t)
	f.heard()
	var last string
	for i := range 30 {
		last = f.pay(key, stranger, fmt.Sprintf("order-%02d", i), "")
	}
	f.attempted(last, "delivered", 204, "", "")
	f.pay(otherKey, stranger, "of-another-sandbox", "")
	b := f.signedIn(checkout, key)
	orders := func(text string) (all []string) {
		for _, found := range regexp.MustCompile(`<span class="sub"[^>]*>(?:<span[^>]*>[^<]*</span> )?<bdi>([^<]*)</bdi>`).FindAllStringSubmatch(text, -1) {
			all = append(all, html.UnescapeString(found[1]))
		}
		return all
	}
	first := b.get(checkout + "/webhooks").text
	older := regexp.MustCompile(`href="([^"]*)">Older</a>`).FindStringSubmatch(first)
	if rows := orders(first); len(rows) != 25 || rows[0] != "order-29" || older == nil {
		t.Fatalf("the first page has %q", rows)
	}
	second := b.get(checkout + "/" + html.UnescapeString(older[1])).text
	if rows := orders(second); len(rows) != 5 || rows[4] != "order-00" || !strings.Contains(second, `href="webhooks?newer=`) {
		t.Errorf("the second page has %q: %s", rows, second)
	}
	for query, want := range map[string]int{
		"state=delivered": 1, "state=queued": 25, "state=failed": 0, "event=payment.completed&after=2020-01-01": 25, "event=payment.refunded": 0,
		"event=operator.callback": 0, "tx=" + last: 1, "before=2020-01-01": 0, "state=&tx=": 25,
	} {
		got := b.get(checkout + "/webhooks?" + query)
		if rows := orders(got.text); got.status != http.StatusOK || len(rows) != want {
			t.Errorf("%s: %d, %d rows, want %d", query, got.status, len(rows), want)
		}
	}
	for _, query := range []string{"tx=TX_1", "after=tomorrow", "state=x", "event=x"} {
		if got := b.get(checkout + "/webhooks?" + query); got.status != http.StatusOK || len(orders(got.text)) != 0 {
			t.Errorf("%s: %d: %s", query, got.status, got.text)
		}
	}
	if text := html.UnescapeString(b.get(checkout + "/webhooks?state=delivered&tx=" + last).text); !strings.Contains(text, `/api/v1/events" -H "Authorization: Bearer $CAURI_API_KEY" --data-urlencode 'state=delivered' --data-urlencode 'tx_id=`+last+"'") {
		t.Errorf("the page has no command: %s", text)
	}
}

func TestWebhooksShowTextsAsText(t *testing.T) {
	f := newFixture(t)
	f.heard()
	f.create(key, "/v1/test_clients", fmt.Sprintf(`{"msisdn":"+250788100002","name":%q}`, hostile))
	tx := f.pay(key, "+250788100002", "ref-1", `,"scenario":"blocked","order_ref":`+quoted(hostile)+`,"description":`+quoted(hostile))
	f.attempted(tx, "queued", 500, "the receiver answered 500", hostile)
	b := f.viewer()
	for _, path := range []string{"/webhooks", "/webhooks/" + evt(tx)} {
		got := b.get(checkout + path)
		if got.status != http.StatusOK || strings.Contains(got.text, "<script>alert") || !strings.Contains(got.text, "<bdi>"+html.EscapeString(tamed)+"</bdi>") {
			t.Errorf("%s: %d: %s", path, got.status, got.text)
		}
		for _, found := range regexp.MustCompile(`(?s)<(pre|p|code)[ >].*?</(pre|p|code)>`).FindAllString(got.text, -1) {
			if strings.ContainsAny(found, "\u202e\u2066") {
				t.Errorf("%s: this turns its direction: %s", path, found)
			}
		}
	}
}
