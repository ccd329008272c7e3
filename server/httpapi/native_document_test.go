package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/fronts"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
)

// The document of an operator's own API has each of its calls, with how sure we are of it, and anybody may read it.
func TestDocumentsOfOperators(t *testing.T) {
	t.Parallel()
	for _, api := range operators.NativeAPIs() {
		served := servedAt(t, "http://api.test/operators/"+string(api.Operator)+"/openapi.json")
		checkOpenAPI31(t, served.Body.Bytes())
		var document struct {
			Paths map[string]map[string]struct {
				OperationID string                     `json:"operationId"`
				Responses   map[string]json.RawMessage `json:"responses"`
				Security    []map[string][]string      `json:"security"`
				Fidelity    map[string]string          `json:"x-fidelity"`
				Parameters  []struct{ Name, In string }
			}
			Fidelity []map[string]string `json:"x-fidelity"`
		}
		if err := json.Unmarshal(served.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		if len(document.Fidelity) != len(api.Facts) {
			t.Errorf("%s: the document has %d facts, want %d", api.Operator, len(document.Fidelity), len(api.Facts))
		}
		exchanges := newCoverage(t, api)
		described, ids := 0, map[string]bool{}
		for _, path := range document.Paths {
			described += len(path)
		}
		if want := len(api.Described()); described != want {
			t.Errorf("%s: the document has %d calls, want %d", api.Operator, described, want)
		}
		for _, r := range api.Described() {
			o, found := document.Paths[r.Path][strings.ToLower(r.Method)]
			if !found || o.Fidelity["mark"] != string(r.Doc.Mark) || o.Fidelity["source"] != r.Doc.Source || o.Fidelity["test"] != r.Doc.Test {
				t.Errorf("%s %s has the fidelity %v", r.Method, r.Path, o.Fidelity)
				continue
			}
			for part, example := range map[string]string{"body": r.Doc.Body, strconv.Itoa(r.Doc.Status): r.Doc.Answer} {
				name := r.Method + " " + r.Path
				if problem := exchanges.misfit(name+" "+part, []byte(example)); problem != "" {
					t.Errorf("the example of %s, %s: %s", name, part, problem)
				}
			}
			if ids[o.OperationID] {
				t.Errorf("%s %s has the id %s of another call", r.Method, r.Path, o.OperationID)
			}
			for _, why := range api.Refusals(r) {
				if status := strconv.Itoa(exchanges.refusal(r, why, nil).Status); o.Responses[status] == nil {
					t.Errorf("%s %s has no answer %s for %s", r.Method, r.Path, status, why)
				}
			}
			ids[o.OperationID] = true
			if (r.Access == operatorapi.ByKey) != (o.Security == nil) {
				t.Errorf("%s %s needs %v", r.Method, r.Path, o.Security)
			}
			inPath := 0
			for _, p := range o.Parameters {
				if p.In == "path" {
					inPath++
				}
			}
			if want := strings.Count(r.Path, "{"); inPath != want {
				t.Errorf("%s %s has %d parameters in its path, want %d", r.Method, r.Path, inPath, want)
			}
		}
	}
}

// A client that imports the document calls the sandbox where it came from.
func TestDocumentsOfOperatorsNameWhereTheyWereAskedFor(t *testing.T) {
	t.Parallel()
	public, err := url.Parse("https://Pay.test/")
	if err != nil {
		t.Fatal(err)
	}
	server := fronts.New(fronts.Options{BaseURL: public})
	for asked, want := range map[string]string{
		"http://pay.test/sandboxes/team/checkout/operators/mtn/openapi.json": "https://Pay.test/sandboxes/team/checkout/operators/mtn",
		"http://cauri-api.cauri-system:8080/operators/mtn/openapi.json":      "http://cauri-api.cauri-system:8080/operators/mtn",
	} {
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, asked, nil))
		var document struct {
			Servers []struct{ URL string }
		}
		if err := json.Unmarshal(recorder.Body.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		if len(document.Servers) != 1 || document.Servers[0].URL != want {
			t.Errorf("%s: the servers are %v, want %s", asked, document.Servers, want)
		}
	}
}
