package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// api is as much of an API as the suite needs to begin.
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

// outcome is what a run of the suite leaves behind.
type outcome struct {
	code           int
	stdout, stderr string
}

func runRules(t *testing.T, rules []rule, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := conform(t.Context(), args, rules, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

// against runs rules against an API.
func against(t *testing.T, rules []rule, args ...string) outcome {
	t.Helper()
	return runRules(t, rules, append([]string{"-url", api(t) + "/", "-key", "key"}, args...)...)
}

// wantOutput compares an outcome with the exit code and with what is printed, all of it or parts.
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
	holds  = rule{id: "a/holds", text: "it holds", check: func(*check) {}}
	breaks = rule{id: "a/breaks", text: "it is as it should be", check: func(c *check) {
		c.problem("first")
		c.fail("second")
		c.problem("never said")
	}}
	skipped = rule{id: "a/skipped", text: "nobody knows", check: func(c *check) { c.notChecked("there is no way to") }}
)

func TestRulesThatHold(t *testing.T) {
	wantOutput(t, against(t, []rule{holds}), exitPassed, "1 passed, 0 failed, 0 not checked")
	wantOutput(t, against(t, []rule{holds}, "-v"), exitPassed, "ok   a/holds: it holds\n")
}

func TestAFailureNamesItsRule(t *testing.T) {
	got := against(t, []rule{holds, breaks})
	wantOutput(t, got, exitFailed, "FAIL a/breaks: it is as it should be\n     - first\n     - second\n1 passed, 1 failed, 0 not checked\n")
	if strings.Contains(got.stdout, "never said") {
		t.Error("the check went on after it had failed")
	}
}

func TestWhatIsNotCheckedHasNotPassed(t *testing.T) {
	another := skipped
	another.id = "a/another"
	wantOutput(t, against(t, []rule{skipped, holds, another}), exitPassed,
		"not checked: there is no way to\n     a/skipped, a/another\n1 passed, 0 failed, 2 not checked\n")
	problemFirst := rule{id: "a/both", text: "both", check: func(c *check) { c.problem("wrong"); c.notChecked("no way") }}
	wantOutput(t, against(t, []rule{problemFirst}), exitFailed, "FAIL a/both", "0 passed, 1 failed, 0 not checked")
}

func TestManyProblemsAreCutShort(t *testing.T) {
	many := rule{id: "a/many", text: "many", check: func(c *check) {
		for i := range 10 {
			c.problem("number %d", i)
		}
	}}
	wantOutput(t, against(t, []rule{many}), exitFailed, "- number 5\n     - and 4 more")
	wantOutput(t, against(t, []rule{many}, "-v"), exitFailed, "- number 9\n")
}

func TestACheckThatPanicsFails(t *testing.T) {
	panics := rule{id: "a/panics", text: "it does not", check: func(*check) { panic("oh") }}
	wantOutput(t, against(t, []rule{panics, holds}), exitFailed, "the check broke: oh", "1 passed, 1 failed")
}

func TestRulesThatMustBeAlone(t *testing.T) {
	var running, most atomic.Int32
	busy := func(c *check) {
		now := running.Add(1)
		defer running.Add(-1)
		most.Store(max(most.Load(), now))
		c.get("/meta")
	}
	var rules []rule
	for i := range 8 {
		rules = append(rules, rule{id: fmt.Sprintf("a/alone-%d", i), text: "alone", alone: true, check: busy})
	}
	wantOutput(t, against(t, rules), exitPassed, "8 passed")
	if most.Load() != 1 {
		t.Errorf("%d of them ran at once", most.Load())
	}
}

func TestRulesAboutAllAnswers(t *testing.T) {
	about := func(id, path, problem string) rule {
		return rule{id: id, text: "all answers", look: func(a answer) verdict { return verdict{a.request.path == path, problem} }}
	}
	calls := rule{id: "a/calls", text: "it calls", check: func(c *check) { c.get("/one"); c.get("/two") }}
	got := against(t, []rule{about("look/good", "/one", ""), about("look/bad", "/two", "not good"), about("look/none", "/three", "bad"), calls})
	wantOutput(t, got, exitFailed, "FAIL look/bad: all answers\n     - GET /two answered 404", "not good", "not checked: no answer of this kind came\n     look/none", "2 passed, 1 failed, 1 not checked")
}

func TestSelectingRules(t *testing.T) {
	wantOutput(t, against(t, []rule{holds, breaks}, "-run", "^a/h"), exitPassed, "1 passed, 0 failed, 0 not checked")
	wantOutput(t, runRules(t, []rule{holds, breaks}, "-list", "-run", "breaks"), exitPassed, "a/breaks: it is as it should be\n1 rules\n")
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
			wantOutput(t, runRules(t, []rule{holds}, test.args...), exitBroken, test.want)
		})
	}
}

func TestTheKeyIsNotPrinted(t *testing.T) {
	leaks := rule{id: "a/leaks", text: "leaks", check: func(c *check) { c.fail("%s", c.get("/payments?token="+c.client.key)) }}
	wantOutput(t, against(t, []rule{leaks}), exitFailed, "GET /payments?token=<key> answered")
}

func TestTheTimeEnds(t *testing.T) {
	waits := rule{id: "a/waits", text: "waits", check: func(c *check) { c.pause(patience) }}
	wantOutput(t, against(t, []rule{waits}, "-timeout", "200ms"), exitFailed, "the time of -timeout is over")
}

func TestEveryRuleIsNamed(t *testing.T) {
	form := regexp.MustCompile(`^[a-z0-9]+/[a-z0-9-]+$`)
	seen := map[string]bool{}
	for _, r := range allRules() {
		if !form.MatchString(r.id) || seen[r.id] {
			t.Errorf("the id %q is malformed or not the only one", r.id)
		}
		seen[r.id] = true
		if r.text == "" || strings.HasSuffix(r.text, ".") {
			t.Errorf("%s has the text %q, want a sentence without a full stop", r.id, r.text)
		}
		if (r.check == nil) == (r.look == nil) {
			t.Errorf("%s needs either a check or a look", r.id)
		}
	}
}

func TestCompare(t *testing.T) {
	got, err := answer{body: []byte(`{"n": 5, "float": 5.0, "s": "x", "null": null, "o": {"b": true}, "at": "2026-05-31T10:00:00Z"}`)}.object()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		want object
		ok   bool
	}{
		"equal":               {object{"n": 5, "s": "x", "null": nil, "o": object{"b": true}}, true},
		"another integer":     {object{"n": 6}, false},
		"a float":             {object{"float": 5}, false},
		"a text for a number": {object{"n": "5"}, false},
		"null for absent":     {object{"missing": nil}, false},
		"absent":              {object{"missing": absent}, true},
		"present":             {object{"s": absent}, false},
		"within an object":    {object{"o": object{"b": false}}, false},
		"no object":           {object{"s": object{}}, false},
		"matchers":            {object{"n": between(5, 5), "s": matching("^x$"), "null": nullOr(anyText), "at": timestamp, "o": anyObject}, true},
		"out of bounds":       {object{"n": between(6, 9)}, false},
		"no integer":          {object{"float": anyInteger}, false},
		"no time":             {object{"s": timestamp}, false},
		"null is no text":     {object{"null": anyText}, false},
		"absent or a text":    {object{"missing": absentOr(anyText), "s": absentOr(anyText)}, true},
		"another text":        {object{"s": otherThan("y")}, true},
		"the same text":       {object{"s": otherThan("x")}, false},
		"none of the texts":   {object{"s": oneOf("a", "b")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if problems := compare("", got, test.want); (len(problems) == 0) != test.ok {
				t.Errorf("the problems are %q", problems)
			}
		})
	}
}

func TestAnswersThatAreNoObject(t *testing.T) {
	for _, body := range []string{"", "null", "[]", "{}{}", "{", `"x"`} {
		if o, err := (answer{body: []byte(body)}).object(); err == nil {
			t.Errorf("%q was taken for %v", body, o)
		}
	}
}

func TestSplitOf(t *testing.T) {
	for _, test := range []struct {
		env                              environment
		amount                           int64
		commission, merchant, net, total int64
		mode                             string
	}{
		{mtnRW, 25_000, 375, 375, 24_625, 25_000, "merchant"},
		{mtnRW, 33, 0, 0, 33, 33, "merchant"},
		{mtnRW, 100, 2, 2, 98, 100, "merchant"}, // 1.5 rounds up
		{orangeCI, 10_000, 275, 0, 10_000, 10_275, "customer"},
		{airtelRW, 10_000, 333, 167, 9_833, 10_166, "merchant"},
		{airtelRW, moneyAmount, 33, 17, moneyNet, moneyTotal, "merchant"},
		{moovBJ, 40, 1, 0, 40, 41, "customer"},
		{mtnBJ, largestAmount, 999_900_000_000, 509_949_000_000, 490_051_000_000, 1_489_951_000_000, "merchant"},
	} {
		want := object{
			"commission": test.commission, "merchantShare": test.merchant, "customerShare": test.commission - test.merchant,
			"netAmount": test.net, "customerTotal": test.total, "commissionMode": test.mode,
		}
		got := object{}
		written, _ := json.Marshal(splitOf(test.env, test.amount).fields())
		_ = json.Unmarshal(written, &got)
		if problems := compare("", got, want); len(problems) > 0 {
			t.Errorf("%d by %s: %q", test.amount, test.env, problems)
		}
	}
}

func TestSignatures(t *testing.T) {
	// The example of the Standard Webhooks libraries.
	got := standardSignature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("the signature is %s, want %s", got, want)
	}
	// RFC 4231, test case 2.
	header := http.Header{"X-Service-Signature": {"sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"}}
	if problem := signatureProblem("Jefe", header, []byte("what do ya want for nothing?")); problem != "" {
		t.Error(problem)
	}
	if signatureProblem("Jefe", http.Header{}, nil) == "" {
		t.Error("a body without a signature was taken")
	}
}

// TestSandboxIsTheFixtures keeps sandbox.yaml and fixtures.go together.
func TestSandboxIsTheFixtures(t *testing.T) {
	written, err := os.ReadFile("sandbox.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, e := range environments {
		parts = append(parts, fmt.Sprintf("operator: %s\n    country: %s\n    commissionBps: %d\n    merchantAbsorptionPct: %d\n", e.operator, e.country, e.commissionBPS, e.absorptionPct))
	}
	for _, card := range []simCard{
		payer, blocked, poor, cancels, wrongPIN, ignores, ported, manual, foreign, rich, airtelPayer, airtelBlocked, airtelPurse, orangePayer, orangeBlocked, orangePurse,
		moovPayer, moovBlocked,
	} {
		parts = append(parts, fmt.Sprintf("name: conformance-%s\n  namespace: default\nspec:\n  sandboxRef:\n    name: conformance\n  msisdn: %q\n", card.name, card.msisdn))
	}
	for _, part := range parts {
		if !strings.Contains(string(written), part) {
			t.Errorf("sandbox.yaml does not have\n%s", part)
		}
	}
}
