package v1alpha1_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apiserver/pkg/cel/environment"
)

// The API server of Kubernetes 1.30 compiles the expressions of the policies in config/gitops.
func TestOldestKubernetesCompilesThePolicies(t *testing.T) {
	env, err := environment.MustBaseEnvSet(oldestCEL).NewExpressionsEnv().Extend(
		cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType), cel.Variable("request", cel.DynType),
		cel.Variable("namespaceObject", cel.DynType), cel.Variable("variables", cel.DynType),
	)
	if err != nil {
		t.Fatal(err)
	}
	compiled := 0
	for _, policy := range policies(t) {
		var expressions []string
		for _, one := range policy.Spec.MatchConditions {
			expressions = append(expressions, one.Expression)
		}
		for _, one := range policy.Spec.Variables {
			expressions = append(expressions, one.Expression)
		}
		for _, one := range policy.Spec.Validations {
			expressions = append(expressions, one.Expression, one.MessageExpression)
		}
		for _, expression := range expressions {
			compiled++
			if _, issues := env.Compile(expression); issues.Err() != nil {
				t.Errorf("%s: %s: %v", policy.Name, expression, issues.Err())
			}
		}
	}
	if compiled < 10 {
		t.Errorf("only %d expressions were compiled", compiled)
	}
}

// policies are those of config/gitops.
func policies(t *testing.T) (found []admissionv1.ValidatingAdmissionPolicy) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "gitops", "policies", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
			var policy admissionv1.ValidatingAdmissionPolicy
			if err := decoder.Decode(&policy); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if policy.Kind == "ValidatingAdmissionPolicy" {
				found = append(found, policy)
			}
		}
	}
	return found
}
