package httpapi

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/httpapi/apidoc"
	"github.com/cauri-dev/cauri/server/httpfront"
	"github.com/cauri-dev/cauri/server/service"
)

// refusals are all errors that the APIs answer.
var refusals = slices.Concat(service.Refusals, httpfront.Refusals)

// Each refusal has an answer and a description. Other tests hold docs/api.md, its translation and the French of the console
// against the descriptions.
func TestEachRefusalIsAnsweredAndDescribed(t *testing.T) {
	t.Parallel()
	documented := documentedCodes()
	for _, r := range refusals {
		e := cmp.Or(refusalOf(r.Example), failureOf(r.Example))
		if e.Code != r.Code {
			t.Errorf("%T %q is answered with %s, want %s: add its answer to answers", r.Example, r.Example, e.Code, r.Code)
			continue
		}
		described := func(c apidoc.ErrorCase) bool { return c.Example.Code == e.Code && c.Example.Status == e.Status }
		if !slices.ContainsFunc(apidoc.ErrorCases, described) {
			t.Errorf("apidoc.ErrorCases does not describe %d %s", e.Status, e.Code)
		}
		if !documented[r.Of][r.Code] && r.Code != httpfront.MisdirectedCode { // which comes before any operation
			t.Errorf("the OpenAPI document has no operation that answers with %s", r.Code)
		}
	}
}

// documentedCodes returns the error codes in the OpenAPI document: those of operations that record a transaction as
// [service.Orders], and all as the others.
func documentedCodes() map[service.Requests]map[string]bool {
	all, ofOrders := map[string]bool{}, map[string]bool{}
	for _, o := range apidoc.Operations {
		orders := slices.Contains([]string{apidoc.CreatePayment.ID, apidoc.CreateRefund.ID, apidoc.CreateDisbursement.ID}, o.ID)
		for _, response := range o.Describe().Responses {
			content := response.Content[apidoc.MediaJSON]
			if content == nil {
				continue
			}
			for code := range content.Examples {
				all[code], ofOrders[code] = true, ofOrders[code] || orders
			}
		}
	}
	return map[service.Requests]map[string]bool{service.AnyRequest: all, service.Orders: ofOrders, service.OnlyV1: all}
}

// An error that only /v1 knows would be `internal` in the other APIs.
func TestEachAnswerIsOfARefusal(t *testing.T) {
	t.Parallel()
	for i, answer := range answers {
		if !slices.ContainsFunc(refusals, func(r service.Refusal) bool { return answer(r.Example) != nil }) {
			t.Errorf("the error of answers[%d] has no row in service.Refusals", i)
		}
	}
}

// Only errors.go and failures.go know the errors of other packages, so that no handler has an answer beside the list.
func TestHandlersLeaveErrorsToTheList(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	ofView, errView := filepath.Glob("view/*.go")
	if err := cmp.Or(err, errView); err != nil {
		t.Fatal(err)
	}
	below := []string{"httpfront", "ledger", "payments", "postgres", "proof", "sandboxes", "service"}
	for _, name := range slices.Concat(files, ofView) {
		if strings.HasSuffix(name, "_test.go") || name == "errors.go" || name == "failures.go" {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if selector, ok := n.(*ast.SelectorExpr); ok {
				of, _ := selector.X.(*ast.Ident)
				if of != nil && slices.Contains(below, of.Name) && strings.HasPrefix(selector.Sel.Name, "Err") && selector.Sel.Name != "ErrBadID" {
					t.Errorf("%s answers %s.%s itself: return it, and add its answer to errors.go", name, of.Name, selector.Sel.Name)
				}
			}
			_, ofSignature := n.(*ast.FuncType)
			return !ofSignature
		})
	}
}
