package console_test

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/console"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// heard gives the sandbox checkout a webhook. Nothing listens at its URL.
func (f *fixture) heard() {
	f.t.Helper()
	f.config.Webhook = &sandboxes.WebhookConfig{URL: "http://127.0.0.1:1/hook?token=x", Retry: sandboxes.DefaultRetryPolicy}
	f.apply(f.config, key)
	f.of("checkout")
}

// attempted stores an attempt to send the event of a transaction. status is 0 if no answer came.
func (f *fixture) attempted(tx, state string, status int, problem, body string) {
	f.t.Helper()
	id, err := payments.ParseID(tx)
	if err != nil {
		f.t.Fatal(err)
	}
	f.exec(`with e as (update events set state = $2::event_state, attempts = attempts + 1,
		due_at = case when $2 = 'queued' then now() + interval '1 hour' end, delivered_at = case when $2 = 'delivered' then now() end where id = $1 returning *),
		failed as (insert into unacknowledged_events (tenant, id, operator, created_at, attempt)
			select tenant, id, '', created_at, attempts from e where $5 <> ''
			on conflict (tenant, id, operator) do update set attempt = excluded.attempt),
		acked as (delete from unacknowledged_events u using e where u.id = e.id and $5 = '')
		insert into delivery_attempts (tenant, event_id, attempt, started_at, real_started_at, duration_ms, response_status, response_body, error)
		select tenant, id, attempts, '2026-05-31T12:00:00.123Z', '2026-05-31T10:00:00Z', 31, nullif($3, 0), $4, nullif($5, '') from e`,
		id[:], state, status, []byte(body), problem)
}

func TestPaymentShowsWhatHappened(t *testing.T) {
	f := newFixture(t)
	f.heard()
	tx := f.pay(key, stranger, "ref-1", `,"order_ref":"order-1","scenario":"success"`)
	refund := path.Base(f.create(key, "/v1/payments/"+tx+"/refund", `{"amount":500,"reference":"back-1"}`))
	f.attempted(tx, "queued", 500, "the receiver answered 500", "no such\n order")
	f.attempted(tx, "delivered", 204, "", "")
	b := f.signedIn(checkout, key)
	got := b.get(checkout + "/payments/" + tx)
	if got.status != http.StatusOK {
		t.Fatalf("%d: %s", got.status, got.text)
	}
	got.has(t, "RWF 2,000 Success", "RWF 500 of it went back; 1,500 can still be refunded.", "POST /v1/payments", "It asks for the scenario success.",
		"Float +1,970, now 101,970", "Event payment.completed Delivered", "Acknowledged by attempt 2.",
		"Attempt 1 answered 500 in 31 ms 12:00:00 no such order 10:00:00 in real time", "Attempt 2 answered 204 in 31 ms",
		"Refund of RWF 500 Success Float −500. No commission comes back.",
		"Amount of the request 2,000 Customer's commission 0 Customer pays customerTotal 2,000 Operator keeps 1.5 % −30 You receive netAmount 1,970",
		"You: 30 (100 %) Customer: 0 (0 %)", "The answer of the operator MTN (raw)", `"_simulated": true`)
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788100007","balance":5000}`)
	own := f.pay(key, "+250788100007", "ref-2", `,"scenario":"success"`)
	for id, links := range map[string][]string{tx: {"RWF?to=2"}, refund: {"RWF?to=3"}, own: {"RWF?to=4", "+250788100007?to=2"}} {
		for _, link := range links {
			if text := b.get(checkout + "/payments/" + id).text; !strings.Contains(text, `href="../ledger/`+link+`"`) {
				t.Errorf("no link to the movement %s: %s", link, words(part(text, `id="timeline"`, "</ol>")))
			}
			if first := part(b.get(checkout+"/ledger/"+link).text, "data-key=", ">"); first != `"`+link[strings.Index(link, "=")+1:]+`"` {
				t.Errorf("%s begins with %s", link, first)
			}
		}
	}
	if !strings.Contains(got.text, `href="../payments/`+refund+`"`) {
		t.Errorf("no link to the refund %s: %s", refund, got.text)
	}
	b.get(checkout+"/payments/"+refund).has(t, "− RWF 500 Success", "got RWF 500 back from", "Your float pays 500", "POST /v1/payments/"+tx+"/refund")
	if list := b.get(checkout + "/payments").text; !strings.Contains(list, `href="payments/`+tx+`"`) {
		t.Error("the list has no link to the payment")
	}
	if found := b.get(checkout + "/find?q=" + tx); found.header.Get("Location") != "payments/"+tx {
		t.Errorf("the search leads to %q", found.header.Get("Location"))
	}
}

// The page explains a pending payment, and every outcome.
func TestPaymentSaysWhyItFailed(t *testing.T) {
	f := newFixture(t)
	f.create(key, "/v1/test_clients", `{"msisdn":"+250788100001","name":"Awa","behavior":"Manual","balance":5000}`)
	open := f.pay(key, "+250788100001", "open", "")
	b := f.signedIn(checkout, key)
	got := b.get(checkout + "/payments/" + open)
	got.has(t, "RWF 2,000 Pending", "is asked to pay", "The phone rang It asks for the PIN to pay RWF 2,000.", "not yet", "Where the money will go")
	f.exec("update transactions set status = 'TIMEOUT', due_at = null, completed_at = created_at + interval '90 seconds'")
	got = b.get(checkout + "/payments/" + open)
	got.has(t, "did not pay", "Nobody answered in time.", "+1 min 30 s", "No answer The prompt ended without one.", "The money stayed", "Nothing moved")
	unknown := f.pay(key, stranger, "unknown", "")
	b.get(checkout+"/payments/"+unknown).has(t, "Unknown number", "no test client of the sandbox has it")
	for _, s := range payments.Statuses {
		if s == payments.Pending || s == payments.Success {
			continue
		}
		f.exec("update transactions set status = $1 where reference = 'unknown'", string(s))
		if got := b.get(checkout + "/payments/" + unknown); got.status != http.StatusOK || !strings.Contains(got.text, string(s)) {
			t.Errorf("%s: %d", s, got.status)
		}
	}
}

func TestPaymentThatDoesNotExist(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	of := f.pay(otherKey, stranger, "of-another-sandbox", "")
	for _, id := range []string{of, "TX_0000000000000000000000000", "x", "%3Cscript%3E"} {
		got := b.get(checkout + "/payments/" + id)
		if got.status != http.StatusNotFound || !strings.Contains(words(got.text), "There is no such payment") {
			t.Errorf("%s: %d: %s", id, got.status, got.text)
		}
	}
}

// A merchant's texts are escaped, on the page and in the code.
func TestPaymentShowsTextsAsText(t *testing.T) {
	f := newFixture(t)
	name := strings.Repeat("Nyiramana", 10) + hostile
	f.create(key, "/v1/test_clients", fmt.Sprintf(`{"msisdn":"+250788100001","name":%q,"balance":1000000000000}`, name[:100]))
	f.create(key, "/v1/test_clients", fmt.Sprintf(`{"msisdn":"+250788100002","name":%q,"balance":1000000000000}`, hostile))
	b := f.signedIn(checkout, key)
	for i, msisdn := range []string{stranger, "+250788100001", "+250788100002"} {
		text := fmt.Sprintf(`{"amount":1000000000000,"currency":"RWF","operator":"mtn","country":"RW","msisdn":%q,"application":"shop","scenario":"success",
			"reference":%s,"order_ref":%s,"description":%s,"order_url":"https://shop.example/?<script>"}`,
			msisdn, quoted(fmt.Sprint(hostile, i)), quoted(hostile), quoted(hostile+strings.Repeat("x", 100)))
		got := b.get(checkout + "/payments/" + path.Base(f.create(key, "/v1/payments", text)))
		if got.status != http.StatusOK || strings.Contains(got.text, "<script>alert") || strings.Contains(got.text, "<script>\"") {
			t.Errorf("%s: %d: %s", msisdn, got.status, got.text)
		}
		for _, tag := range []string{"pre", "p"} { // code and sentences
			for _, found := range regexp.MustCompile(`(?s)<`+tag+`[ >].*?</`+tag+`>`).FindAllString(got.text, -1) {
				if strings.ContainsAny(found, "\u202e\u2066") {
					t.Errorf("this turns its direction: %s", found)
				}
			}
		}
		if strings.Contains(got.text, key) {
			t.Error("the page has the API key")
		}
		got.has(t, "RWF 1,000,000,000,000", `\u202e<script>alert(1)</script>`)
	}
}

func TestPaymentOfASuspendedSandboxForAViewer(t *testing.T) {
	f := newFixture(t)
	tx := f.pay(key, stranger, "ref-1", "")
	b := f.viewer()
	f.config.Suspended = true
	f.apply(f.config, key)
	f.of("checkout")
	got := b.get(checkout + "/payments/" + tx)
	got.has(t, "This sandbox is suspended.", "Unknown number")
	if got.status != http.StatusOK {
		t.Errorf("%d", got.status)
	}
	if got := f.browser().get(checkout + "/payments/" + tx); got.status != http.StatusSeeOther {
		t.Errorf("nobody: %d", got.status)
	}
	if got := b.get(other + "/payments/" + tx); got.status != http.StatusSeeOther {
		t.Errorf("the session of another sandbox: %d", got.status)
	}
}

// The code sends the request unchanged, with any text of a merchant.
func TestCodeSendsTheRequest(t *testing.T) {
	t.Parallel()
	text := "it's \"quoted\" \\n $HOME {$x} `id` $(id) ${x} </pre> \u202e\u2066 é \U0001F600 \U000E0041 \x7f"
	address := "https://shop.example/'"
	made := payments.Transaction{
		Details: payments.Details{
			Currency: "RWF", MSISDN: "+250788000001", Reference: "ref", Description: &text, OrderURL: &address,
			URLProtected: true, Scenario: payments.ScenarioSuccess,
		},
		ID: payments.ID{15: 1}, Type: payments.Collection, Amount: 25000, Operator: payments.MTN, Country: "RW",
		OrderRef: text, Store: "shop",
	}
	parent := payments.ID{15: 2}
	refund := payments.Transaction{Details: payments.Details{Reference: text}, Type: payments.Refund, ParentID: &parent, Amount: 5}
	payout := made
	payout.Type, payout.Scenario = payments.Disbursement, ""
	common := map[string]any{
		"amount": 25000., "currency": "RWF", "msisdn": made.MSISDN, "reference": "ref", "application": "shop", "order_ref": text, "description": text,
		"order_url": address, "is_url_protected": true,
	}
	with := func(more map[string]any) map[string]any {
		all := map[string]any{}
		for _, each := range []map[string]any{common, more} {
			for name, value := range each {
				all[name] = value
			}
		}
		return all
	}
	for way, c := range map[string]struct {
		of   *payments.Transaction
		want map[string]any
	}{
		"/api/v1/payments":                                {&made, with(map[string]any{"scenario": "success"})},
		"/api/v1/disbursements":                           {&payout, with(map[string]any{"operator": "mtn", "country": "RW"})},
		"/api/v1/payments/" + parent.String() + "/refund": {&refund, map[string]any{"amount": 5., "reference": text}},
	} {
		for language, code := range console.CodeOf("http://shop.example:8080/sandboxes/team/checkout", c.of) {
			sent := run(t, language, code)
			if sent == "" {
				continue
			}
			var got map[string]any
			if err := json.Unmarshal([]byte(sent), &got); err != nil {
				t.Errorf("%s: %v in %s", language, err, code)
			} else if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s sends (-want +got):\n%s", language, diff)
			}
			if !strings.Contains(code, `"http://shop.example:8080/sandboxes/team/checkout`+way+`"`) || !strings.Contains(code, "CAURI_API_KEY") || strings.ContainsAny(code, "\u202e\u2066\U000E0041\x7f") {
				t.Errorf("%s: %s", language, code)
			}
		}
	}
}

// run returns the body that the code sends. It returns "" if this machine does not have the language.
func run(t *testing.T, language, code string) string {
	t.Helper()
	if language == "Go" {
		found := regexp.MustCompile("(?s)`.*`").FindString(code)
		body, err := strconv.Unquote(found)
		if err != nil {
			t.Fatalf("%v: %s", err, code)
		}
		if _, err := parser.ParseExpr("func() error {\n" + code + "\n}"); err != nil {
			t.Errorf("%v: %s", err, code)
		}
		return body
	}
	programs := map[string]struct{ name, before, after string }{
		"curl":       {"sh", `curl() { while [ "$1" != -d ]; do shift; done; printf %s "$2"; }` + "\n", ""},
		"JavaScript": {"node", "const fetch = async (_, r) => { process.stdout.write(r.body); process.exit(); };\n", ""},
		"Python":     {"python3", "import sys, urllib.request\nurllib.request.urlopen = lambda r: sys.exit(print(r.data.decode()))\n", ""},
		"PHP": {"php", "<?php function curl_init() {} function curl_setopt_array($c, $o) { echo $o[3]; exit; } function curl_exec() {}\n" +
			"const CURLOPT_RETURNTRANSFER = 1, CURLOPT_HTTPHEADER = 2, CURLOPT_POSTFIELDS = 3; ?>", ""},
	}
	p := programs[language]
	program, err := exec.LookPath(p.name)
	if err != nil {
		return ""
	}
	name := filepath.Join(t.TempDir(), "code.mjs")
	if err := os.WriteFile(name, []byte(p.before+code), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, name)
	noExtension := "PHP_INI_SCAN_DIR=" + filepath.Dir(name) // without extensions such as curl: the test defines their functions
	command.Env = append(os.Environ(), "CAURI_API_KEY=k", noExtension)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v: %s\n%s", language, err, out, code)
	}
	return string(out)
}
