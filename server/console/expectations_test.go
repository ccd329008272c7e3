package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// expect adds an expectation, as the controller does.
func (f *fixture) expect(number int, name, lines string) {
	f.t.Helper()
	err := f.store.BeginExpectation(f.t.Context(), f.config.UID, sandboxes.ExpectationConfig{
		UID: fmt.Sprintf("55555555-5555-5555-5555-%012d", number), Name: name, Lines: []byte(lines), Within: time.Hour,
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

func TestExpectations(t *testing.T) {
	f := newFixture(t)
	b := f.signedIn(checkout, key)
	empty := b.get(checkout + "/expectations")
	empty.has(t, "No test has said what has to happen", "No expectations yet", "sandboxRef: {name: checkout}", "cauri expect -f")
	if !strings.Contains(empty.text, `data-every="10"`) {
		t.Error("a page without an open expectation is not read every 10 s")
	}
	f.expect(1, "paid-once", `[{"nothingElse":true},{"transactions":{"where":{"orderRef":"a<b>\u202e"},"count":1}}]`)
	f.expect(2, "nothing-happens", `[{"nothingElse":true}]`)
	waits := b.get(checkout + "/expectations")
	waits.has(t, "Of the expectations of this sandbox, 2 are open.", "paid-once Open No line was evaluated yet. Open since", "Waits nothing else",
		"59 min", "nothing-happens")
	if strings.Contains(waits.text, "a<b>") || strings.Contains(waits.text, "\u202e") || !strings.Contains(waits.text, `data-every="3"`) {
		t.Error("a line is markup or changes the direction of writing, or open expectations are not read every 3 s")
	}
	worker := ledgertest.OpenAs(t, f.db, ledgertest.Worker)
	if _, err := worker.EvaluateAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.get(checkout+"/expectations").has(t, "Of the expectations of this sandbox, 1 is open, 1 is met.", "nothing-happens Met All lines were met and stayed so",
		"A line is not met yet.", "The first line that is not met: transactions where orderRef=a<b>: 1", "Observed: 0 transactions")
	french := b.send(http.MethodGet, checkout+"/expectations", nil, accepting("fr"))
	french.has(t, "Observé : aucune transaction", "Observé : aucune autre transaction")
	f.exec("update expectations set due_at = now() - interval '5 minutes' where name = 'paid-once'")
	b.get(checkout+"/expectations").has(t, "paid-once Open What follows may be old: it was to be evaluated")
	f.exec("update expectations set verdict = 'Failed', reason = 'DeadlineExceeded', due_at = null where name = 'paid-once'")
	b.get(checkout+"/expectations").has(t, "paid-once Failed A line was not met in time. Decided at")
	const other = "/sandboxes/team/other/console"
	if text := f.signedIn(other, otherKey).get(other + "/expectations").text; strings.Contains(text, "nothing-happens") {
		t.Error("another sandbox shows the expectation")
	}
}

// The pages of expectations do not overlap, and leave none out.
func TestOlderExpectations(t *testing.T) {
	f := newFixture(t)
	for i := range 45 {
		f.expect(i, fmt.Sprintf("number-%02d", i), `[{"nothingElse":true}]`)
	}
	b := f.signedIn(checkout, key)
	seen, path := "", checkout+"/expectations"
	for range 3 {
		text := b.get(path).text
		seen += words(text)
		if _, after, more := strings.Cut(part(text, `class="pager"`, "</nav>"), "expectations?after="); more {
			path = checkout + "/expectations?after=" + after[:36]
		}
	}
	for i := range 45 {
		if n := strings.Count(seen, fmt.Sprintf("number-%02d Open", i)); n != 1 {
			t.Errorf("number %d is on %d pages", i, n)
		}
	}
}

func TestEvaluateLinesByHand(t *testing.T) {
	f := newFixture(t)
	viewer := f.browser()
	viewer.send(http.MethodPost, checkout+"/link", url.Values{"token": {f.link(sandboxes.ConsoleAccess{Role: sandboxes.ConsoleViewer})}})
	for _, b := range []*browser{f.signedIn(checkout, key), viewer} {
		for _, text := range []string{
			"- float: {currency: RWF, equals: 100000}\n- transactions: {count: 2}", "expect:\n- nothingElse: true\n- float: {currency: RWF, equals: 100000}",
			`{"kind": "Expectation", "spec": {"expect": [{"nothingElse": true}, {"float": {"currency": "RWF", "equals": 100000}}]}}`,
		} {
			got := b.post(checkout, "/expectations", url.Values{"lines": {text}})
			if got.has(t, "Met float RWF: 100000 Observed: 100000"); got.status != http.StatusOK {
				t.Errorf("%s is answered %d", text, got.status)
			}
		}
		for text, want := range map[string]string{
			"- nothing: true": "expect[0] has an unknown field", "a: [": "did not find expected", "": "must be a list of 1 to 50 lines",
			`- merchant: {get: "http://localhost"}`: "is for `cauri expect` only",
		} {
			got := b.post(checkout, "/expectations", url.Values{"lines": {text}})
			if got.has(t, want); got.status != http.StatusUnprocessableEntity {
				t.Errorf("%q is answered %d", text, got.status)
			}
		}
	}
}
