package httpapi_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
)

// The document has what the operations have in common once. Written out again, it is what each operation says of itself.
func TestSharedAnswersLoseNothing(t *testing.T) {
	t.Parallel()
	c := theContract(t)
	if most := 240_000; len(c.served) > most {
		t.Errorf("the document has %d bytes, want at most %d", len(c.served), most)
	}
	common := c.document[apidoc.CommonHeaders].(object)
	references := 0
	for _, o := range apidoc.Operations {
		var whole object
		if err := json.Unmarshal(encoded(t, o.Describe()), &whole); err != nil {
			t.Fatal(err)
		}
		described := whole["responses"].(object)
		operation := c.operation(o.Method, o.Path)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(described)), slices.Sorted(maps.Keys(operation["responses"].(object)))); diff != "" {
			t.Errorf("%s answers (-described +served):\n%s", o.ID, diff)
		}
		for status, want := range described {
			served, at := c.answer(operation, "", status)
			if at != "" {
				references++
			}
			if name := at[strings.LastIndex(at, "/")+1:]; at != "" && !strings.HasPrefix(name, "Error-"+status+"-") {
				t.Errorf("%s refers for %s to %s", o.ID, status, name)
			}
			got, full := maps.Clone(served), want.(object)
			headers := maps.Clone(common)
			own, _ := served["headers"].(object)
			maps.Copy(headers, own)
			got["headers"] = headers
			for name, header := range full["headers"].(object) {
				if diff := cmp.Diff(header, headers[name]); diff != "" {
					t.Errorf("%s %s: the header %s (-described +served):\n%s", o.ID, status, name, diff)
				}
			}
			full["headers"] = headers // those that only some answers have are optional
			if diff := cmp.Diff(full, got); diff != "" {
				t.Errorf("%s %s (-described +served):\n%s", o.ID, status, diff)
			}
		}
	}
	if components := len(c.document["components"].(object)["responses"].(object)); references < 5*components {
		t.Errorf("%d components are referred to %d times", components, references)
	}
}

// The document of one operation is valid, has all that the operation refers to, and nothing else.
func TestOneOperationHasADocumentOfItsOwn(t *testing.T) {
	t.Parallel()
	c, sizes := theContract(t), []int{}
	for _, path := range []string{"/v1/openapi.json", "/v1/openapi-3.0.json"} {
		for _, o := range apidoc.Operations {
			served := servedAt(t, "http://api.test"+path+"?operation="+o.ID).Body.Bytes()
			sizes = append(sizes, len(served))
			part := &contract{served: served}
			if err := json.Unmarshal(served, &part.document); err != nil {
				t.Fatal(err)
			}
			if got := part.operation(o.Method, o.Path); len(part.document["paths"].(object)) != 1 || got["operationId"] != o.ID {
				t.Errorf("%s: the paths are %v", o.ID, part.document["paths"])
			}
			referred := map[string]bool{}
			for _, found := range regexp.MustCompile(`"\$ref":"#/(components/[^"]+)"`).FindAllSubmatch(served, -1) {
				referred[string(found[1])] = true
			}
			for kind, named := range part.document["components"].(object) {
				for name := range named.(object) {
					if place := "components/" + kind + "/" + name; !referred[place] && kind != "securitySchemes" {
						t.Errorf("%s: nothing refers to %s", o.ID, place)
					}
					delete(referred, "components/"+kind+"/"+name)
				}
			}
			if len(referred) > 0 {
				t.Errorf("%s lacks %v", o.ID, referred)
			}
			if o.ID == apidoc.CreatePayment.ID && strings.HasSuffix(path, "openapi.json") {
				checkOpenAPI31(t, served)
				if diff := cmp.Diff(c.operation(o.Method, o.Path), part.operation(o.Method, o.Path)); diff != "" {
					t.Errorf("%s (-whole +alone):\n%s", o.ID, diff)
				}
			}
		}
	}
	if slices.Sort(sizes); sizes[len(sizes)-1] > 40_000 {
		t.Errorf("the largest has %d bytes, the median %d", sizes[len(sizes)-1], sizes[len(sizes)/2])
	} else {
		t.Logf("the largest has %d bytes, the median %d", sizes[len(sizes)-1], sizes[len(sizes)/2])
	}
}

func TestAnUnknownOperationHasNoDocument(t *testing.T) {
	f := newFixture(t)
	got := f.call("GET", "/v1/openapi.json?operation=createpayment", nil)
	wrong, _ := got.body["detail"].(object)["fieldErrors"].(object)["operation"].([]any)
	if got.status != 400 || len(wrong) != 1 || !strings.Contains(wrong[0].(string), "createPayment, getPayment") {
		t.Errorf("answered %d: %s", got.status, got.raw)
	}
}
