package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cauri-dev/cauri/test/conformance/rules"
	"github.com/cauri-dev/cauri/test/conformance/suite"
)

// api is the minimal API that the suite needs to start.
func api(t *testing.T) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer key" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if r.URL.Path != "/sandbox/api/v1/meta" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = fmt.Fprintf(w, `{"path": %q}`, r.URL.Path)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/sandbox"
}

// outcome is the result of a run of the suite.
type outcome struct {
	code           int
	stdout, stderr string
}

func runRules(t *testing.T, rules []suite.Rule, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := conform(t.Context(), args, rules, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// against runs rules against an API.
func against(t *testing.T, rules []suite.Rule, args ...string) outcome {
	t.Helper()
	return runRules(t, rules, append([]string{"-url", api(t) + "/", "-key", "key"}, args...)...)
}

// wantOutput compares an outcome with the exit code and with all or parts of the output.
func wantOutput(t *testing.T, got outcome, code int, parts ...string) {
	t.Helper()
	if got.code != code {
		t.Errorf("the exit code is %d, want %d\n%s%s", got.code, code, got.stdout, got.stderr)
	}
	for _, part := range parts {
		if !strings.Contains(got.stdout+got.stderr, part) {
			t.Errorf("it printed\n%s%s\nwant %q in it", got.stdout, got.stderr, part)
		}
	}
}

var (
	holds  = suite.Rule{ID: "a/holds", Text: "it holds", Check: func(*suite.Check) {}}
	breaks = suite.Rule{ID: "a/breaks", Text: "it is as it should be", Check: func(c *suite.Check) {
		c.Problem("first")
		c.Fail("second")
		c.Problem("never said")
	}}
	skipped = suite.Rule{ID: "a/skipped", Text: "nobody knows", Check: func(c *suite.Check) { c.NotChecked("there is no way to") }}
)

func TestRulesThatHold(t *testing.T) {
	wantOutput(t, against(t, []suite.Rule{holds}), suite.ExitPassed, "1 passed, 0 failed, 0 not checked")
	wantOutput(t, against(t, []suite.Rule{holds}, "-v"), suite.ExitPassed, "ok   a/holds: it holds\n")
}

func TestAFailureNamesItsRule(t *testing.T) {
	got := against(t, []suite.Rule{holds, breaks})
	wantOutput(
		t,
		got,
		suite.ExitFailed,
		"FAIL a/breaks: it is as it should be\n     - first\n     - second\n1 passed, 1 failed, 0 not checked\n",
	)
	if strings.Contains(got.stdout, "never said") {
		t.Error("the check went on after it had failed")
	}
}

func TestWhatIsNotCheckedHasNotPassed(t *testing.T) {
	another := skipped
	another.ID = "a/another"
	wantOutput(t, against(t, []suite.Rule{skipped, holds, another}), suite.ExitPassed,
		"not checked: there is no way to\n     a/skipped, a/another\n1 passed, 0 failed, 2 not checked\n")
	const nothing = "0 passed, 0 failed, 1 not checked\nnothing was checked"
	wantOutput(t, against(t, []suite.Rule{skipped}), suite.ExitBroken, nothing)
	wantOutput(t, against(t, nil), suite.ExitBroken, "0 passed, 0 failed, 0 not checked\nnothing was checked")
	problemFirst := suite.Rule{ID: "a/both", Text: "both", Check: func(c *suite.Check) { c.Problem("wrong"); c.NotChecked("no way") }}
	wantOutput(t, against(t, []suite.Rule{problemFirst}), suite.ExitFailed, "FAIL a/both", "0 passed, 1 failed, 0 not checked")
}

func TestManyProblemsAreCutShort(t *testing.T) {
	many := suite.Rule{ID: "a/many", Text: "many", Check: func(c *suite.Check) {
		for i := range 10 {
			c.Problem("number %d", i)
		}
	}}
	wantOutput(t, against(t, []suite.Rule{many}), suite.ExitFailed, "- number 5\n     - and 4 more")
	wantOutput(t, against(t, []suite.Rule{many}, "-v"), suite.ExitFailed, "- number 9\n")
}

func TestACheckThatPanicsFails(t *testing.T) {
	panics := suite.Rule{ID: "a/panics", Text: "it does not", Check: func(*suite.Check) { panic("oh") }}
	wantOutput(t, against(t, []suite.Rule{panics, holds}), suite.ExitFailed, "the check broke: oh", "1 passed, 1 failed")
}

func TestRulesThatMustBeAlone(t *testing.T) {
	var running, most atomic.Int32
	busy := func(c *suite.Check) {
		now := running.Add(1)
		defer running.Add(-1)
		most.Store(max(most.Load(), now))
		c.Get("/meta")
	}
	var rules []suite.Rule
	for i := range 8 {
		rules = append(rules, suite.Rule{ID: fmt.Sprintf("a/alone-%d", i), Text: "alone", Alone: true, Check: busy})
	}
	wantOutput(t, against(t, rules), suite.ExitPassed, "8 passed")
	if most.Load() != 1 {
		t.Errorf("%d of them ran at once", most.Load())
	}
}

// A log that keeps the last refused requests loses one while hundreds of others come.
func TestRulesAboutTheRequestLogAreAlone(t *testing.T) {
	for _, r := range rules.All() {
		if strings.HasPrefix(r.ID, "requests/") && !r.Alone {
			t.Errorf("%s runs beside rules whose requests are refused", r.ID)
		}
	}
}

func TestRulesAboutAllAnswers(t *testing.T) {
	about := func(id, path, problem string) suite.Rule {
		return suite.Rule{ID: id, Text: "all answers", Look: func(a suite.Answer) suite.Verdict {
			return suite.Verdict{Applies: a.Request.Path == path, Problem: problem}
		}}
	}
	calls := suite.Rule{ID: "a/calls", Text: "it calls", Check: func(c *suite.Check) { c.Get("/one"); c.Get("/two") }}
	got := against(
		t,
		[]suite.Rule{about("look/good", "/one", ""), about("look/bad", "/two", "not good"), about("look/none", "/three", "bad"), calls},
	)
	wantOutput(
		t,
		got,
		suite.ExitFailed,
		"FAIL look/bad: all answers\n     - GET /two answered 404",
		"not good",
		"not checked: no answer of this kind came\n     look/none",
		"2 passed, 1 failed, 1 not checked",
	)
}

func TestSelectingRules(t *testing.T) {
	wantOutput(t, against(t, []suite.Rule{holds, breaks}, "-run", "^a/h"), suite.ExitPassed, "1 passed, 0 failed, 0 not checked")
	wantOutput(
		t,
		runRules(t, []suite.Rule{holds, breaks}, "-list", "-run", "breaks"),
		suite.ExitPassed,
		"a/breaks: it is as it should be\n1 rules\n",
	)
}

func TestWhatTheSuiteCannotRunWith(t *testing.T) {
	url := api(t)
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"nothing":          {nil, "-url"},
		"no key":           {[]string{"-url", url}, "-key"},
		"a wrong key":      {[]string{"-url", url, "-key", "wrong"}, "401"},
		"a bad pattern":    {[]string{"-url", url, "-key", "key", "-run", "("}, "-run"},
		"no API":           {[]string{"-url", url + "/elsewhere", "-key", "key"}, "no API at"},
		"nobody listens":   {[]string{"-url", "http://127.0.0.1:1", "-key", "key"}, "was not answered"},
		"a stray argument": {[]string{"-url", url, "-key", "key", "all"}, `"all" is no flag`},
		"no secret":        {[]string{"-url", url, "-key", "key", "-webhook", "127.0.0.1:0"}, "-secret"},
	} {
		t.Run(name, func(t *testing.T) {
			wantOutput(t, runRules(t, []suite.Rule{holds}, test.args...), suite.ExitBroken, test.want)
		})
	}
}

func TestTheKeyIsNotPrinted(t *testing.T) {
	leaks := suite.Rule{ID: "a/leaks", Text: "leaks", Check: func(c *suite.Check) { c.Fail("%s", c.Get("/payments?token="+c.Client.Key)) }}
	wantOutput(t, against(t, []suite.Rule{leaks}), suite.ExitFailed, "GET /payments?token=<key> answered")
}

func TestTheTimeEnds(t *testing.T) {
	waits := suite.Rule{ID: "a/waits", Text: "waits", Check: func(c *suite.Check) { c.Pause(suite.Patience) }}
	wantOutput(t, against(t, []suite.Rule{waits}, "-timeout", "200ms"), suite.ExitFailed, "the time of -timeout is over")
}

func TestEveryRuleIsNamed(t *testing.T) {
	form := regexp.MustCompile(`^[a-z0-9]+/[a-z0-9-]+$`)
	seen := map[string]bool{}
	for _, r := range rules.All() {
		if !form.MatchString(r.ID) || seen[r.ID] {
			t.Errorf("the id %q is malformed or not the only one", r.ID)
		}
		seen[r.ID] = true
		if r.Text == "" || strings.HasSuffix(r.Text, ".") {
			t.Errorf("%s has the text %q, want a sentence without a full stop", r.ID, r.Text)
		}
		if (r.Check == nil) == (r.Look == nil) {
			t.Errorf("%s needs either a check or a look", r.ID)
		}
	}
}

// TestSandboxIsTheFixtures checks that sandbox.yaml matches fixtures.go.
func TestSandboxIsTheFixtures(t *testing.T) {
	written, err := os.ReadFile("sandbox.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, e := range suite.Environments {
		parts = append(
			parts,
			fmt.Sprintf(
				"operator: %s\n    country: %s\n    commissionBps: %d\n    merchantAbsorptionPct: %d\n",
				e.Operator,
				e.Country,
				e.CommissionBPS,
				e.AbsorptionPct,
			),
		)
	}
	for _, card := range []suite.SimCard{
		suite.Payer, suite.Blocked, suite.Poor, suite.Cancels, suite.WrongPIN, suite.Ignores, suite.Ported,
		suite.Manual, suite.Foreign, suite.Rich, suite.Taken, suite.AirtelPayer, suite.AirtelBlocked,
		suite.AirtelPurse, suite.OrangePayer, suite.OrangeBlocked, suite.OrangePurse,
		suite.MoovPayer, suite.MoovBlocked,
	} {
		parts = append(
			parts,
			fmt.Sprintf(
				"name: conformance-%s\n  namespace: default\nspec:\n  sandboxRef:\n    name: conformance\n  msisdn: %q\n",
				card.Name,
				card.MSISDN,
			),
		)
	}
	for _, part := range parts {
		if !strings.Contains(string(written), part) {
			t.Errorf("sandbox.yaml does not have\n%s", part)
		}
	}
}

// TestOverloadedServiceIsAskedAgain runs a rule against a service that is overloaded at its first request, as one that
// shares its machine may be.
func TestOverloadedServiceIsAskedAgain(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/busy") && asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error": "overloaded", "message": "Later.", "detail": null}`))
			return
		}
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	asks := suite.Rule{ID: "a/asks", Text: "it is answered", Check: func(c *suite.Check) { c.Expect(c.Get("/busy"), http.StatusOK) }}
	wantOutput(t, runRules(t, []suite.Rule{asks}, "-url", server.URL, "-key", "key"), suite.ExitPassed, "1 passed")
}
