package operators_test

import (
	"os"
	"path/filepath"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// Every call and every fact names an existing test, and the page of fidelity has the present tables.
func TestFactsAreHeldByTestsAndPublished(t *testing.T) {
	var tests strings.Builder
	for _, folder := range []string{"../httpapi", "../console", "../worker", "../webhooks", "operatorapi", "mpesa", "."} {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
		}
	}
	held := func(what, name string) {
		t.Helper()
		test, exchange, named := strings.Cut(name, "/")
		if test == "" || !strings.Contains(tests.String(), "func "+test+"(") {
			t.Errorf("%s: there is no test %q", what, test)
		}
		if _, err := os.Stat("../httpapi/testdata/native/" + exchange + ".http"); named && err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	page, err := os.ReadFile("../../docs/fidelity.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, api := range operators.NativeAPIs() {
		for _, route := range api.Routes {
			if !strings.HasPrefix(route.Doc.Test, operatorapi.ExchangesTest+"/") {
				t.Errorf("%s %s is not held by exchanges, but by %s", route.Method, route.Path, route.Doc.Test)
			}
			held(route.Method+" "+route.Path, route.Doc.Test)
		}
		for _, fact := range api.Facts {
			held(fact.What, fact.Test)
		}
		if !strings.Contains(string(page), api.Summary()) || !strings.Contains(string(page), api.Fidelity()) {
			t.Errorf("docs/fidelity.md does not have the present tables of %s: run `go run ./hack/fidelity`", api.Operator)
		}
	}
}

// The SecretForm of an API matches each of its credentials, so that the request log can hide them anywhere.
func TestCredentialsOfEveryAPIHaveAForm(t *testing.T) {
	other := map[string]string{
		"moov-encryption-key": "all clients have it", "airtel-pin": "four digits, which requests have encrypted",
		"mpesa-shortcode": "a number of six digits, which callbacks have", "mpesa-initiator-name": "a name, which is not secret",
		"mtn-api-user": "a name, in the form of every reference",
	}
	for _, api := range operators.NativeAPIs() {
		if api.SecretForm == nil {
			t.Errorf("%s has no SecretForm", api.Operator)
			continue
		}
		for name, credential := range api.SecretEntries("cauri_sk_test_x", "whsec_x") {
			if hidden := api.SecretForm.FindString(credential); hidden != credential && other[name] == "" {
				t.Errorf("%s: of %s, the form of credentials matches %q", api.Operator, name, hidden)
			}
		}
	}
}

// Every text of a request that Cauri keeps has a maximum length. The limit of the body is not enough, because each text
// is stored, repeated and listed.
func TestTextsOfRequestsAreBounded(t *testing.T) {
	notKept := map[string]string{
		"providerCallbackHost": "its host is kept, of 253 characters", "currency": "it is one of the environment", "Language": "ignored",
		"referenceIdToRefund": "it is looked up", "Password": "it is compared", "InitiatorName": "it is compared", "Initiator": "it is compared",
		"SecurityCredential": "it has 256 bytes",
	}
	var check func(call string, fields []operatorapi.Field)
	check = func(call string, fields []operatorapi.Field) {
		for _, f := range fields {
			check(call, f.Fields)
			if f.Fields == nil && f.Enum == nil && f.Max == 0 && notKept[f.Name] == "" && !bounded(t, f.Pattern) {
				t.Errorf("%s: %s has no bound", call, f.Name)
			}
		}
	}
	for _, api := range operators.NativeAPIs() {
		for _, route := range api.Routes {
			check(route.Path, route.Doc.Headers)
			check(route.Path, route.Doc.Request)
		}
	}
}

// bounded reports whether a pattern limits the length of a text.
func bounded(t *testing.T, pattern string) bool {
	t.Helper()
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	endless := false
	var walk func(*syntax.Regexp)
	walk = func(r *syntax.Regexp) {
		endless = endless || r.Op == syntax.OpStar || r.Op == syntax.OpPlus || r.Op == syntax.OpRepeat && r.Max < 0
		for _, sub := range r.Sub {
			walk(sub)
		}
	}
	walk(parsed)
	return !endless && strings.HasPrefix(pattern, "^") && strings.HasSuffix(pattern, "$")
}
