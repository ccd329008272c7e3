package localapi

import (
	"context"
	"fmt"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/cauri-dev/cauri/config/crd"
)

// faultsField is the list of faults in the object that [FaultProblems] validates.
const faultsField = "faults"

// faultKind returns the schema and the rules of spec.faults, as those of an object with this list alone.
var faultKind = sync.OnceValues(func() (*kind, error) {
	text, err := crd.Files.ReadFile("cauri.dev_sandboxenvironments.yaml")
	if err != nil {
		return nil, err
	}
	var definition apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &definition); err != nil {
		return nil, err
	}
	version := &definition.Spec.Versions[0]
	spec := version.Schema.OpenAPIV3Schema.Properties["spec"]
	version.Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{
		Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{faultsField: spec.Properties["faults"]},
	}
	return newKind(definition.Spec)
})

// FaultProblems returns what is wrong with a fault, which is JSON as in spec.faults, in the words of the resource:
// messages by field. An empty field stands for the whole fault. The result is empty for a valid fault.
func FaultProblems(fault []byte) map[string][]string {
	k, err := faultKind()
	if err != nil {
		panic(fmt.Errorf("reading the embedded CustomResourceDefinition: %w", err))
	}
	var entry map[string]any
	if err := utiljson.Unmarshal(fault, &entry); err != nil {
		return map[string][]string{"": {"is not a JSON object"}}
	}
	obj := &unstructured.Unstructured{Object: map[string]any{faultsField: []any{entry}}}
	problems := map[string][]string{}
	add := func(path, message string) {
		path = strings.TrimPrefix(strings.TrimPrefix(path, faultsField+"[0]"), ".")
		problems[path] = append(problems[path], message)
	}
	unknown, err := k.unknownFields(obj)
	if err != nil {
		add("", err.Error())
	}
	for _, u := range unknown {
		_, path, _ := strings.Cut(u.Error(), `"`)
		add(strings.TrimSuffix(path, `"`), "is unknown")
	}
	for _, e := range k.validateCustom(context.Background(), obj, nil, nil) {
		if e.Field != (*field.Path)(nil).String() { // another error names the field
			add(e.Field, plain(e))
		}
	}
	return problems
}

// plain returns the message of an error without its field and its value, which may be a whole object.
func plain(e *field.Error) string {
	message := e.Detail
	if message == "" || e.Type == field.ErrorTypeNotSupported {
		message = e.ErrorBody()
	}
	_, after, found := strings.Cut(message, e.Field+" in body ")
	if found {
		return after
	}
	return message
}
