package testkit

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ParseObject reads one object from YAML.
func ParseObject(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	json, err := yaml.ToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	return object
}
