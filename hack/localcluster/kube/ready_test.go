package kube

import (
	"testing"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestReadiness(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: cauri.dev/v1alpha1\nkind: SandboxEnvironment\nmetadata: {name: a, generation: 3}\n"
	cases := map[string]struct {
		status string
		says   string // empty: ready
	}{
		"ready":             {"status: {conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}", ""},
		"generation beside": {"status: {observedGeneration: 3, conditions: [{type: Ready, status: 'True'}]}", ""},
		"nothing yet":       {"", "does the controller run"},
		"of an older generation": {
			"status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}",
			"generation 3 is not looked at",
		},
		"only the summary is present": {
			"status: {observedGeneration: 3, conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}",
			"generation 3 is not looked at",
		},
		"not ready": {
			"status: {conditions: [{type: Ready, status: 'False', observedGeneration: 3, reason: SecretConflict, message: in use}]}",
			"SecretConflict: in use",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := readiness(testkit.ParseObject(t, head+c.status))
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			testkit.WantAdvice(t, err, c.says)
		})
	}
}
