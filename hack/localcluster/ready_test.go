package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

func parseObject(t *testing.T, text string) *unstructured.Unstructured {
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

func TestReadiness(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: cauri.dev/v1alpha1\nkind: SandboxEnvironment\nmetadata: {name: a, generation: 3}\n"
	cases := map[string]struct {
		status string
		says   string // empty: ready
	}{
		"ready":                       {"status: {conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}", ""},
		"generation beside":           {"status: {observedGeneration: 3, conditions: [{type: Ready, status: 'True'}]}", ""},
		"nothing yet":                 {"", "does the controller run"},
		"of an older generation":      {"status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", "generation 3 is not looked at"},
		"only the summary is present": {"status: {observedGeneration: 3, conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", "generation 3 is not looked at"},
		"not ready":                   {"status: {conditions: [{type: Ready, status: 'False', observedGeneration: 3, reason: SecretConflict, message: in use}]}", "SecretConflict: in use"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := readiness(parseObject(t, head+c.status))
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantAdvice(t, err, c.says)
		})
	}
}
