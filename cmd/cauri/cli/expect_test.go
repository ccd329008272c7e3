package cli

import (
	"encoding/xml"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/expectations"
	"github.com/cauri-dev/cauri/server/junit"
	"github.com/cauri-dev/cauri/test/ports"
)

// expectFile writes a file for the command.
func expectFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "order-1042.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const expectedOnce = `kind: SandboxEnvironment
---
apiVersion: cauri.dev/v1alpha1
kind: Expectation
metadata: {name: paid-once}
spec:
  sandboxRef: {name: checkout}
  settle: 0s
  expect:
  - transactions: {where: {orderRef: order-1, status: SUCCESS}, count: 1}
  - float: {currency: RWF, equals: 1295}
  - nothingElse: true
`

func TestExpect(t *testing.T) {
	f := newFixture(t)
	f.run("pay", "--scenario=success", "--amount=300", "--order-ref=order-1")
	file := expectFile(t, expectedOnce)
	f.run("expect", "-f", file).want(t, ExitSuccess, "met", "paid-once", "float RWF: 1295")

	f.run("pay", "--scenario=success", "--amount=1", "--order-ref=order-1")
	report := filepath.Join(t.TempDir(), "report.xml")
	failed := f.run("expect", "-f", file, "--junit="+report, "-o", "json")
	failed.want(t, ExitNegative, "1 of 1 expectations failed. paid-once: transactions where orderRef=order-1 status=SUCCESS: 1. "+
		"Observed: 2 transactions. The line cannot be met any more.")
	if got := entries[judgement](t, failed)[0]; got.Verdict != expectations.Failed || len(got.Results) != 3 {
		t.Errorf("the result is %+v", got)
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	var suites junit.Report
	if err := xml.Unmarshal(text, &suites); err != nil {
		t.Fatal(err)
	}
	s := suites.Suites[0]
	if s.Name != "paid-once" || s.Tests != 3 || s.Failures != 2 || s.Cases[0].Failure.Message != "observed: 2 transactions" ||
		s.Cases[2].Failure != nil {
		t.Fatalf("the report is\n%s", text)
	}
	for i, want := range []string{
		"transactions where orderRef=order-1 status=SUCCESS: 1. Observed: 2 transactions. The line cannot be met any more.",
		"float RWF: 1295. Observed: 1296. The line was not met when another one had failed.",
	} {
		if got := s.Cases[i].Failure.Text; got != want {
			t.Errorf("case %d says %q, want %q", i, got, want)
		}
	}
}

// Each line of a report has its own reason and its own time: one that is met, until it was, and one that is not, until that was clear.
func TestReportHasTheReasonAndTheTimeOfEachLine(t *testing.T) {
	began := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	e := &expected{name: "order", began: began, decided: began.Add(30 * time.Second)}
	terms := expectations.Terms{Deadline: e.decided}
	results := []expectations.Result{{Line: "a", Observed: "1"}, {Line: "b", Met: true, Observed: "2"}, {Line: "c", Observed: "3"}}
	for _, now := range []time.Time{began.Add(5 * time.Second), e.decided} {
		e.state = terms.Judge(&e.state, results, now)
	}
	const late = "The line was not met in time."
	want := junit.Suite{Name: "order", Tests: 3, Failures: 2, Time: "30.000", Cases: []junit.Case{
		{Class: "order", Name: "a", Time: "30.000", Failure: &junit.Failure{Message: "observed: 1", Text: "a. Observed: 1. " + late}},
		{Class: "order", Name: "b", Time: "5.000"},
		{Class: "order", Name: "c", Time: "30.000", Failure: &junit.Failure{Message: "observed: 3", Text: "c. Observed: 3. " + late}},
	}}
	if diff := cmp.Diff(want, junitSuiteOf(e)); diff != "" {
		t.Error(diff)
	}
}

func TestExpectOnlyWhatIsNew(t *testing.T) {
	f := newFixture(t)
	f.run("pay", "--scenario=success", "--amount=300", "--order-ref=order-1")
	f.run("expect", "-f", expectFile(t, "since: Creation\nsettle: 0s\nexpect:\n- nothingElse: true\n")).want(t, ExitSuccess, "order-1042")
}

// What a test waits for does not come any more after a reset, and what an empty sandbox meets says nothing of the test.
func TestExpectWhileTheSandboxIsReset(t *testing.T) {
	f := newFixture(t)
	target, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	target.Path = ""
	for name, lines := range map[string]string{
		"unmet":    "expect: [{transactions: {where: {orderRef: order-2}, count: 1}}]",
		"settling": "settle: 1h\nexpect: [{transactions: {where: {orderRef: order-2}, count: 0}}]",
		"new":      "since: Creation\nexpect: [{transactions: {count: 1}}]",
	} {
		api, asked := httputil.NewSingleHostReverseProxy(target), atomic.Int32{}
		resetting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			api.ServeHTTP(w, r)
			if strings.HasSuffix(r.URL.Path, "/evaluate") && asked.Add(1) == 3 {
				f.send(http.MethodPost, "/v1/reset", "")
			}
		}))
		t.Cleanup(resetting.Close)
		report := filepath.Join(t.TempDir(), "report.xml")
		r := run(t, Options{}, "expect", "-f", expectFile(t, "within: 1h\n"+lines), "--junit="+report, "-o", "json",
			"--url="+resetting.URL+"/sandboxes/team/checkout", "--api-key="+testKey)
		r.want(t, ExitNegative, "order-1042: The sandbox was reset while the command waited.")
		if got := entries[judgement](t, r)[0]; got.Verdict != expectations.Failed || got.Reason != expectations.ReasonSandboxReset {
			t.Errorf("%s: the result is %+v", name, got)
		}
		text, err := os.ReadFile(report)
		if err != nil || !strings.Contains(string(text), `failures="1"`) || !strings.Contains(string(text), "The sandbox was reset") {
			t.Errorf("%s: %v, the report is\n%s", name, err, text)
		}
	}
}

// A service that is busy for a while is asked again.
func TestExpectOfABusyService(t *testing.T) {
	f := newFixture(t)
	target, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	target.Path = ""
	api, asked := httputil.NewSingleHostReverseProxy(target), atomic.Int32{}
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/evaluate") && asked.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"error":"overloaded","message":"busy"}`)
			return
		}
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(busy.Close)
	run(t, Options{}, "expect", "-f", expectFile(t, "within: 1m\nsettle: 0s\nexpect: [{transactions: {count: 0}}]"),
		"--url="+busy.URL+"/sandboxes/team/checkout", "--api-key="+testKey).want(t, ExitSuccess, "met")
}

// A suspended sandbox answers 503 too, and does not become another one by waiting.
func TestExpectOfASuspendedSandbox(t *testing.T) {
	asked := atomic.Int32{}
	suspended := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"error":"suspended","message":"The sandbox is suspended."}`)
	}))
	t.Cleanup(suspended.Close)
	run(t, Options{}, "expect", "-f", expectFile(t, "within: 10m\nsettle: 0s\nexpect: [{transactions: {count: 0}}]"),
		"--url="+suspended.URL+"/sandboxes/team/checkout", "--api-key="+testKey).want(t, ExitUnavailable, "The sandbox is suspended")
	if n := asked.Load(); n > 2 {
		t.Errorf("it was asked %d times", n)
	}
}

// An evaluation that ends with an error is red in every report, also in place of a green one of an earlier run.
func TestExpectThatWasNotJudged(t *testing.T) {
	file := expectFile(t, "expect:\n- nothingElse: true\n- transactions: {count: 0}\n")
	report, summary := filepath.Join(t.TempDir(), "report.xml"), filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(report, []byte("green"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(summaryVariable, summary)
	url := "http://127.0.0.1:" + ports.ForTest(t) + "/sandboxes/team/checkout"
	run(t, Options{}, "expect", "-f", file, "--junit="+report, "--github", "--url="+url, "--api-key="+testKey).
		want(t, ExitUnavailable, "nothing listens")
	text, err := os.ReadFile(report)
	if err != nil || !strings.Contains(string(text), `failures="1"`) || !strings.Contains(string(text), "It was not judged: ") {
		t.Errorf("%v, the report is\n%s", err, text)
	}
	if text, err := os.ReadFile(summary); err != nil || !strings.Contains(string(text), "| failed | order\\-1042 |") {
		t.Errorf("%v, the summary is\n%s", err, text)
	}
}

func TestExpectOfTheMerchant(t *testing.T) {
	f := newFixture(t)
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"paid":true,"lines":[1,2],"by":"alice"}`)
	}))
	t.Cleanup(shop.Close)
	for wanted, code := range map[string]int{
		`{"paid": true, "lines": [1, 2]}`: ExitSuccess, `{"paid": true, "lines": [1]}`: ExitNegative, `{"credited": 1}`: ExitNegative,
	} {
		r := f.run("expect", "-f", expectFile(t, "within: 5s\nsettle: 0s\nexpect:\n- merchant: {get: \""+shop.URL+"\", json: "+wanted+"}\n- nothingElse: true\n"))
		r.want(t, code, "200 {\"paid\":true")
	}
}

func TestWrongExpectationFiles(t *testing.T) {
	f := newFixture(t)
	for text, want := range map[string]string{
		"a: [":                  "did not find expected",
		"kind: Secret":          "has no expectation: write kind: Expectation",
		"expect: []":            "order-1042: expect must have 1 to 50 lines",
		"withn: 3s\nexpect: []": `unknown field "withn": write expect, within, settle or since`,
		"within: 1s\nexpect: [{nothingElse: true}]":       "within must be a duration from 5s to 24h0m0s",
		"since: Yesterday\nexpect: [{nothingElse: true}]": "since must be Reset or Creation",
	} {
		f.run("expect", "-f", expectFile(t, text)).want(t, ExitUsage, want)
	}
	f.run("expect").want(t, ExitUsage, "pass a file with -f")
	f.run("expect", "-f", "nowhere.yaml").want(t, ExitUsage, "nowhere.yaml")
}

// What others wrote can neither break out of its place in a report nor command GitHub Actions.
func TestReportsAreEscaped(t *testing.T) {
	e := &expected{name: "a|b"}
	e.state.Verdict = expectations.Failed
	e.state.Results = []expectations.Dated{{Line: "x", Observed: "\n::error::<img src=x>\x00`|"}}
	var out strings.Builder
	printJudgements(&out, []*expected{e})
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			t.Errorf("a line is %q", line)
		}
	}
	summary := filepath.Join(t.TempDir(), "summary.md")
	if err := addSummary(summary, "result expectation line observed", cells([]*expected{e})); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(summary)
	if err != nil {
		t.Fatal(err)
	}
	const want = "| result | expectation | line | observed |\n| --- | --- | --- | --- |\n" +
		"| failed | a\\|b | x | \\\\u000a\\\\u003a\\:error\\:\\:&lt;img src=x&gt;\\\\u0000\\`\\| |\n\n"
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
	report := filepath.Join(t.TempDir(), "report.xml")
	if err := writeJUnit(report, expectReport([]*expected{e})); err != nil {
		t.Fatal(err)
	}
	text, err = os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(text, &junit.Report{}); err != nil {
		t.Errorf("%v:\n%s", err, text)
	}
}

func TestGitHubSummaryNeedsItsVariable(t *testing.T) {
	t.Setenv(summaryVariable, "")
	if _, err := summaryFile(true); ExitCode(err) != ExitUsage {
		t.Errorf("the error is %v", err)
	}
}

// An expectation does not wait for the merchant's program of another one.
func TestExpectationsAreEvaluatedBesideEachOther(t *testing.T) {
	f := newFixture(t)
	var asked atomic.Int32
	other := make(chan struct{})
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			close(other)
			return
		}
		asked.Add(1)
		select {
		case <-other:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(shop.Close)
	file := func(path string) string {
		return expectFile(t, "settle: 0s\nexpect:\n- merchant: {get: \""+shop.URL+path+"\"}\n")
	}
	f.run("expect", "-f", file("/first"), "-f", file("/other")).want(t, ExitSuccess, "/first", "/other")
	if n := asked.Load(); n != 1 {
		t.Errorf("the first one was asked %d times", n)
	}
}

// What is met when the command looks long after the time of within may have come too late.
func TestExpectThatLooksLate(t *testing.T) {
	shop := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(shop.Close)
	for after, want := range map[time.Duration]string{
		29 * time.Second: expectations.ReasonSettling,
		31 * time.Second: expectations.ReasonSettling,
		75 * time.Second: expectations.ReasonEvaluatedLate,
	} {
		e := &expected{
			lines:  []expectations.Line{{Merchant: &expectations.Merchant{Get: shop.URL}}},
			within: 30 * time.Second, settle: time.Second, began: time.Now(),
		}
		if err := e.evaluate(t.Context(), nil, func() time.Time { return e.began.Add(after) }); err != nil || e.state.Reason != want {
			t.Errorf("after %s: %s, %v", after, e.state.Reason, err)
		}
	}
}
