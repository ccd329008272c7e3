package controllers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// conditionTypes are the types of conditions that the API has, in the groups of its source: those of sandboxes and TestClients
// first, then those of sandboxes, then those of Expectations.
func conditionTypes(t *testing.T) (groups [][]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../api/v1alpha1/condition_types.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		var group []string
		for _, spec := range declaration.(*ast.GenDecl).Specs {
			constant := spec.(*ast.ValueSpec)
			if !strings.HasPrefix(constant.Names[0].Name, "Condition") {
				continue
			}
			value, err := strconv.Unquote(constant.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			group = append(group, value)
		}
		if len(group) > 0 {
			groups = append(groups, group)
		}
	}
	return groups
}

// What kubectl explain tells of the conditions names each type that the kind may have.
func TestConditionsAreExplained(t *testing.T) {
	t.Parallel()
	groups := conditionTypes(t)
	for file, types := range map[string][][]string{
		"cauri.dev_sandboxenvironments.yaml": groups[:3], "cauri.dev_testclients.yaml": groups[:1],
		"cauri.dev_expectations.yaml": {{"Reconciling", "Stalled"}, groups[3]},
	} {
		text, err := os.ReadFile("../config/crd/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			t.Fatal(err)
		}
		explained := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties["conditions"].Description
		words := strings.FieldsFunc(explained, func(r rune) bool { return strings.ContainsRune(" ,;.\n", r) })
		named := map[string]bool{}
		for _, word := range words {
			named[word] = true
		}
		for _, group := range types {
			for _, one := range group {
				if !named[one] {
					t.Errorf("%s: the conditions are explained without %s: %q", file, one, explained)
				}
			}
		}
	}
}
