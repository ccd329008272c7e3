package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/console"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// ask sends a request to the API, and returns the status of the answer.
func (f *fixture) ask(key, method, path, body string) int {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	_ = got.Body.Close()
	return got.StatusCode
}

// logged flushes the request log.
func (f *fixture) logged() {
	f.t.Helper()
	if err := f.log.Flush(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// words returns the text of a page without its markup.
func words(text string) string {
	text = strings.ReplaceAll(text, `</span><wbr><span class="nowrap">`, "") // in the name of an event
	text = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(text, " ")
	return strings.Join(strings.Fields(html.UnescapeString(text)), " ")
}

// part returns the part of a page between two texts.
func part(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	within, _, _ := strings.Cut(rest, to)
	return within
}

// requestRows returns the texts of the rows of the request log, without the times.
func requestRows(text string) (rows []string) {
	for _, row := range strings.Split(part(text, "<tbody>", "</tbody>"), "<tr")[1:] {
		_, row, _ = strings.Cut(row, "</time>")
		rows = append(rows, words("<tr"+row))
	}
	return rows
}

func TestRequestsSayWhatIsWrong(t *testing.T) {
	f := newFixture(t)
	f.ask(key, http.MethodPost, "/v1/payments", `{"amount":"15000","currency":"RWF","msisdn":"0788000001","application":"shop","pin":"975310"}`)
	f.ask(key, http.MethodGet, "/v1/payments?status=DONE", "")
	f.ask(key, http.MethodGet, "/v1/payments/TX_00000000000000000000000000", "")
	f.ask(otherKey, http.MethodPost, "/v1/payments", `{}`)
	f.logged()
	b := f.signedIn(checkout, key)
	text := b.get(checkout + "/requests").text
	want := []string{
		"GET /v1/payments/TX_…0000 not_found There is no transaction with this id in this sandbox. 404",
		"GET /v1/payments invalid_params status is wrong 400",
		"POST /v1/payments invalid_body amount, msisdn and reference are wrong 400",
	}
	if got := requestRows(text); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	last := regexp.MustCompile(`href="(requests/log_[^"]*)"`).FindAllStringSubmatch(text, -1)[2][1]
	one := b.get(checkout + "/" + last)
	for _, want := range []string{
		"Refused: 3 fields are wrong. Correct the fields in detail.fieldErrors . Keep the reference .", `{ "amount": "15000", expected integer, for example 25000`, `"currency": "RWF", "msisdn": "0788000001",`,
		`"application": "shop", "reference" was not sent is required`, "Not kept pin . Headers and keys are never kept.", "All requests",
	} {
		if got := words(part(one.text, `<main`, `</main>`)); !strings.Contains(got, want) {
			t.Errorf("the request has no %q: %s", want, got)
		}
	}
	if one.status != http.StatusOK || strings.Contains(one.text, "975310") || !strings.Contains(one.text, `class="on"`) {
		t.Errorf("%d, a PIN, or the row is not marked: %s", one.status, one.text)
	}
	for path, want := range map[string]int{
		"/requests/log_00000000000000000000000000": 404, "/requests/TX_00000000000000000000000000": 404, "/requests/x": 404,
		"/requests?older=x&newer=y": 200,
	} {
		if got := b.get(checkout + path); got.status != want {
			t.Errorf("%s answered %d, want %d", path, got.status, want)
		}
	}
	if got := f.signedIn(other, otherKey).get(other + "/" + last); got.status != http.StatusNotFound {
		t.Errorf("the console of another sandbox answered %d", got.status)
	}
}

func TestRequestsAreFiltered(t *testing.T) {
	f := newFixture(t)
	f.ask(key, http.MethodGet, "/v1/payments?limit=0", "")
	f.ask(key, http.MethodGet, "/v1/events/evt_00000000000000000000000000", "")
	f.logged()
	b := f.signedIn(checkout, key)
	for query, want := range map[string]int{
		"": 2, "status=404": 1, "status=&error=&path=": 2, "error=invalid_params": 1, "path=/v1/events": 1, "path=/v2": 0,
		"error=" + url.QueryEscape(hostile): 0,
	} {
		got := b.get(checkout + "/requests?" + query)
		if n := len(requestRows(got.text + "<tbody></tbody>")); got.status != http.StatusOK || n != want || strings.Contains(got.text, "<script>alert") {
			t.Errorf("%s: %d, %d rows, want %d", query, got.status, n, want)
		}
	}
	for query, want := range map[string]string{
		"status=abc": "Write an HTTP status", "status=99": "Write an HTTP status", "path=v1": "Write the beginning of a path", "error=%00": "At most 120",
		"error=" + strings.Repeat("x", 121): "At most 120",
	} {
		if got := b.get(checkout + "/requests?" + query); got.status != http.StatusOK || !strings.Contains(got.text, want) {
			t.Errorf("%s: %d, want %q", query, got.status, want)
		}
	}
	text := html.UnescapeString(b.get(checkout + "/requests?show=all&status=404&path=/v1/events").text)
	for _, want := range []string{
		`--data-urlencode 'all=true' --data-urlencode 'status=404' --data-urlencode 'path=/v1/events'`,
		`href="requests?path=%2Fv1%2Fevents&show=all"><bdi>status 404</bdi>`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s: %s", want, text)
		}
	}
}

// The shown request stays beside the list when a newer one comes. The browser reads the list again from a path of the
// same depth, so that its relative links stay right.
func TestRequestsStayBesideALiveList(t *testing.T) {
	f := newFixture(t)
	f.ask(key, http.MethodGet, "/v1/payments?limit=0", "")
	f.logged()
	b := f.signedIn(checkout, key)
	again := regexp.MustCompile(`hx-get="(requests\?one=log_[A-Z0-9]{26})"`).FindStringSubmatch(b.get(checkout + "/requests").text)
	f.ask(key, http.MethodGet, "/v1/payments?limit=x", "")
	f.logged()
	text := b.get(checkout + "/" + again[1]).text
	marked := regexp.MustCompile(`<tr class="on" data-key="(log_[A-Z0-9]{26})">`).FindStringSubmatch(text)
	if len(requestRows(text)) != 2 || "requests?one="+marked[1] != again[1] || strings.Contains(text, "chosen") {
		t.Errorf("%s shows %s: %s", again[1], marked[1], text)
	}
	for _, gone := range []string{"log_00000000000000000000000000", "x"} {
		if got := b.get(checkout + "/requests?one=" + gone); got.status != http.StatusOK || len(requestRows(got.text)) != 2 {
			t.Errorf("with the request %s: %d", gone, got.status)
		}
	}
}

func TestRequestsAreTurnedByPages(t *testing.T) {
	f := newFixture(t)
	for i := range 60 {
		f.ask(key, http.MethodGet, fmt.Sprintf("/v1/payments?limit=%d", 1000+i), "")
	}
	f.logged()
	b := f.signedIn(checkout, key)
	link := func(text, name string) string {
		found := regexp.MustCompile(`href="([^"]*)">` + name + `</a>`).FindStringSubmatch(text)
		if found == nil {
			return ""
		}
		return checkout + "/" + html.UnescapeString(found[1])
	}
	text := b.get(checkout + "/requests").text
	rows := []int{len(requestRows(text))}
	for _, name := range []string{"Older", "Older", "Newer", "Newer"} {
		text = b.get(link(text, name)).text
		rows = append(rows, len(requestRows(text)))
	}
	if fmt.Sprint(rows) != "[25 25 10 25 25]" || link(text, "Newer") != "" {
		t.Errorf("the pages have %v rows", rows)
	}
}

func TestRequestsThatSucceedAreThereWhileSomebodyLooks(t *testing.T) {
	f := newFixture(t)
	f.pay(key, stranger, "before", "")
	b := f.signedIn(checkout, key)
	f.logged()
	if got := requestRows(b.get(checkout+"/requests?show=all").text + "<tbody></tbody>"); len(got) != 1 { // the sign-in
		t.Errorf("before: %q", got)
	}
	f.pay(key, stranger, "after", "")
	f.logged()
	got := requestRows(b.get(checkout + "/requests?show=all").text)
	if len(got) != 2 || got[0] != "POST /v1/payments 201" || got[1] != "POST /console/sign-in sign in with the key done" {
		t.Errorf("while somebody looks: %q", got)
	}
	if text := b.get(checkout + "/requests").text; !strings.Contains(text, "Nothing was refused since the last reset.") || strings.Contains(text, "<tbody>") {
		t.Errorf("the refused ones: %s", text)
	}
}

// Only requests of /v1 get advice.
func TestRequestsAdviseTheAPIOnly(t *testing.T) {
	f := newFixture(t)
	f.signedIn(checkout, key).post(checkout, "/reset", url.Values{"name": {"wrong"}})
	f.logged()
	text := words(f.viewer().get(checkout + "/requests?show=changes").text)
	if !strings.Contains(text, "Not done in this console: reset the sandbox.") || strings.Contains(text, "fieldErrors") {
		t.Errorf("the change that was refused: %s", text)
	}
}

func TestRequestsHaveWhatPeopleChanged(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	b.post(checkout, "/clock", url.Values{"by": {"1h"}})
	viewer := f.browser()
	viewer.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	viewer.post(checkout, "/clock", url.Values{"by": {"1h"}})
	f.ask(key, http.MethodGet, "/v1/payments?limit=0", "")
	f.logged()
	text := viewer.get(checkout + "/requests?show=changes").text
	want := []string{
		"POST /console/clock forbidden advance the clock 403", "POST /console/link sign in by a link done",
		"POST /console/clock advance the clock done", "POST /console/sign-in sign in with the key done",
	}
	if got := requestRows(text); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if one := words(part(text, `id="one"`, "</section>")); !strings.Contains(one, "A session of the console with the role viewer: cs_") {
		t.Errorf("the change does not say who made it: %s", one)
	}
}

func TestRequestsSayWhatToSendInstead(t *testing.T) {
	f := newFixture(t)
	for body, want := range map[string]string{
		`{"amount":"15000","currency":"RWF","msisdn":"0788 000 001","reference":"r-1","application":"shop"}`: `{ "amount": 15000, "currency": "RWF", ` +
			`"msisdn": "+250788000001", "reference": "r-1", "application": "shop" }`,
		`{"amount":1500,"currency":"XOF","msisdn":"+250788000001","reference":"it's","application":"shop"}`: `"currency": "RWF", "msisdn": "+250788000001", "reference": "it's",`,
		`{"amount":0,"currency":"RWF","msisdn":"+250788000001","reference":"r-2","application":"shop"}`:     `{ "amount": 25000, "currency": "RWF",`,
		`{"amount":"much","reference":{"pin":1},"application":"shop"}`:                                      "",
		`{"amount":"15000"`: "",
	} {
		f.ask(key, http.MethodPost, "/v1/payments", body)
		f.logged()
		text := f.signedIn(checkout, key).get(checkout + "/requests").text
		got := words(part(text, "<span>Send instead</span>", "</figure>"))
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("in place of %s: %s, want %s", body, got, want)
		}
		if want == "" {
			continue
		}
		command := html.UnescapeString(regexp.MustCompile(`data-copy="([^"]*)" aria-label="Copy this request`).FindStringSubmatch(text)[1])
		_, sent, _ := strings.Cut(command, " -d '")
		sent = strings.ReplaceAll(strings.TrimSuffix(sent, "'"), `'\''`, "'")
		if status := f.ask(key, http.MethodPost, "/v1/payments", sent); status != http.StatusCreated {
			t.Errorf("what is to be sent instead, %s, answered %d", sent, status)
		}
	}
}

// Every route that changes something has a text that says what it does.
func TestChangesHaveWords(t *testing.T) {
	for _, r := range console.Routes() {
		if r.Method != http.MethodGet && r.Does == "" {
			t.Errorf("%s %s does not say what it changes", r.Method, r.Path)
		}
	}
}

func TestRequestsShowTextsAsText(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("é<b>", 200)
	f.ask(key, http.MethodPost, "/v1/payments", fmt.Sprintf(`{"amount":0,"order_ref":%q,"description":%q,"reference":%q}`, "\u202e<script>alert(1)", long, "r"))
	f.logged()
	text := f.signedIn(checkout, key).get(checkout + "/requests").text
	if strings.Contains(text, "<script>alert") || strings.Contains(text, "<b>é") || strings.Contains(text, "\u202e") ||
		!strings.Contains(text, `\u202e&lt;script&gt;`) {
		t.Errorf("a text of the request is markup, or turns the direction: %s", text)
	}
}

func TestRequestsWithoutAKeyAndWithoutAnAnswer(t *testing.T) {
	f := newFixture(t)
	f.ask("cauri_sk_test_wrong", http.MethodGet, "/sandboxes/team/checkout/v1/payments", "")
	f.logged()
	f.log.Add(requests.Entry{Tenant: f.of("checkout").Tenant, Kind: requests.Failed, Method: "POST", Path: "/v1/payments", Fault: "lost-answer"})
	f.logged()
	f.config.Suspended = true
	f.apply(f.config, key)
	b := f.browser()
	b.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	text := b.get(checkout + "/requests").text
	for _, want := range []string{
		"POST /v1/payments the connection was closed without an answer lost-answer no answer", "GET /v1/payments unauthorized it came without a valid key 401",
		"This sandbox is suspended.",
	} {
		if got := words(text); !strings.Contains(got, want) {
			t.Errorf("the log has no %q: %s", want, got)
		}
	}
}

// A path without a parameter tells what it changes, also where another path with one fits it.
func TestChangesHaveTheNameOfTheirPath(t *testing.T) {
	for path, want := range map[string]string{
		"/webhooks/grade": "check the receiver", "/webhooks/evt_1": "compare bytes with an event", "/handsets/new": "add a test client",
	} {
		if got := console.ChangeAt("POST", path); got != want {
			t.Errorf("%s changes: %q, want %q", path, got, want)
		}
	}
}
