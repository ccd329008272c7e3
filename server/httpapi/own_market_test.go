package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Examples in errors are of the sandbox: of its first enabled environment, or of the one that the request is most like.
func TestExamplesAreOfTheSandbox(t *testing.T) {
	f := newFixture(t)
	f.allow()
	apply := func(c sandboxes.Config) {
		f.sandbox(c, key)
		f.call("GET", "/v1/health", nil) // it reads the configuration
	}
	rwanda := "currency=RWF operator=mtn country=RW msisdn=+250788123456"
	ci := "currency=XOF operator=orange country=CI msisdn=+2250707123456"
	empty := object{"currency": nil, "msisdn": nil}
	for name, c := range map[string]struct {
		first int // index of the environment that is the first
		body  object
		want  string
	}{
		"the first":                       {0, payment("r", empty, object{"operator": 1, "country": 1}), rwanda},
		"another first":                   {2, payment("r", empty, object{"operator": 1, "country": 1}), ci},
		"a disabled first":                {1, payment("r", empty, object{"operator": 1, "country": 1}), rwanda},
		"like the country":                {0, payment("r", empty, object{"operator": 1, "country": "CI"}), strings.Replace(ci, "country=CI ", "", 1)},
		"like the operator":               {0, payment("r", empty, object{"operator": "orange", "country": 1}), strings.Replace(ci, "operator=orange ", "", 1)},
		"like the number":                 {0, payment("r", object{"currency": nil, "operator": 1, "country": 1, "msisdn": "+225 07 07"}), ci},
		"like the number, without a plus": {0, payment("r", object{"currency": nil, "operator": 1, "country": 1, "msisdn": "00225070707"}), ci},
		"like the number, the other":      {2, payment("r", object{"currency": nil, "operator": 1, "country": 1, "msisdn": "250 788"}), rwanda},
		"like no environment":             {2, payment("r", object{"currency": nil, "operator": 1, "country": 1, "msisdn": "+33 6"}), ci},
	} {
		config := f.config
		config.Environments = append([]sandboxes.EnvironmentConfig{f.config.Environments[c.first]}, f.config.Environments[:c.first]...)
		config.Environments = append(config.Environments, f.config.Environments[c.first+1:]...)
		apply(config)
		for _, path := range []string{"/v1/payments", "/v1/disbursements"} {
			got := f.call("POST", path, c.body)
			wrong, _ := got.body["detail"].(object)["fieldErrors"].(object)
			if got.status != http.StatusBadRequest {
				t.Fatalf("%s: answered %d %s", name, got.status, got.raw)
			}
			for _, example := range strings.Fields(c.want) {
				field, value, _ := strings.Cut(example, "=")
				if !strings.HasSuffix(strings.Trim(fmt.Sprint(wrong[field]), "[]"), ", for example "+value) {
					t.Errorf("%s, %s: %s is %v, want the example %s", path, name, field, wrong[field], value)
				}
			}
		}
	}
	f.config.Environments = f.config.Environments[2:]
	apply(f.config)
	for path, body := range map[string]any{"/v1/test_clients": "[]", "/v1/console_links": object{"msisdn": "07"}} {
		if got := f.call("POST", path, body); !strings.Contains(got.raw, "+2250707123456") || strings.Contains(got.raw, "+250") {
			t.Errorf("%s: answered %d %s", path, got.status, got.raw)
		}
	}
	got := f.call("POST", "/v1/expectations/evaluate", object{"expect": []object{{"testClient": object{"msisdn": "+225 07", "balance": 0}}}})
	if got.status != http.StatusBadRequest || strings.Contains(got.raw, "+2507") {
		t.Errorf("answered %d %s", got.status, got.raw)
	}
}

// A page that strangers may read does not tell whether a sandbox is there, so its examples are nobody's.
func TestPageOfASandboxTellsNothingOfIt(t *testing.T) {
	f := newFixture(t)
	f.config.Environments = f.config.Environments[2:]
	f.sandbox(f.config, key)
	f.call("GET", "/v1/health", nil)
	w, err := http.Get(f.url + "/sandboxes/" + f.config.Namespace + "/" + f.config.Name + "/docs")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	page, err := io.ReadAll(w.Body)
	if err != nil || w.StatusCode != http.StatusOK || !strings.Contains(string(page), "+250788123456") || strings.Contains(string(page), "+2250707123456") {
		t.Errorf("answered %d (%v) with examples of the sandbox", w.StatusCode, err)
	}
}
