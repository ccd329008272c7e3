package sandboxenvironment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
)

// templateLabels returns the labels of spec.credentials.secretTemplate.
func templateLabels(sandbox *v1alpha1.SandboxEnvironment) map[string]string {
	if c := sandbox.Spec.Credentials; c != nil && c.SecretTemplate != nil {
		return asText(c.SecretTemplate.Labels)
	}
	return nil
}

// templateAnnotations returns the annotations of spec.credentials.secretTemplate.
func templateAnnotations(sandbox *v1alpha1.SandboxEnvironment) map[string]string {
	if c := sandbox.Spec.Credentials; c != nil && c.SecretTemplate != nil {
		return asText(c.SecretTemplate.Annotations)
	}
	return nil
}

func asText[V ~string](values map[string]V) map[string]string {
	texts := make(map[string]string, len(values))
	for name, value := range values {
		texts[name] = string(value)
	}
	return texts
}

// checkSecretTemplate returns a stalling error for a name that Kubernetes refuses. The schema cannot say this, because
// the names of a map have no bound there.
func checkSecretTemplate(sandbox *v1alpha1.SandboxEnvironment) error {
	refuse := func(field, name string, problems []string) error {
		if len(problems) == 0 {
			return nil
		}
		return &reconciler.StallingError{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(
			"spec.credentials.secretTemplate.%s: Kubernetes refuses the name %q: %s", field, name, problems[0])}
	}
	for _, name := range slices.Sorted(maps.Keys(templateLabels(sandbox))) {
		if err := refuse("labels", name, validation.IsQualifiedName(name)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(templateAnnotations(sandbox))) { // whose case does not matter
		if err := refuse("annotations", name, validation.IsQualifiedName(strings.ToLower(name))); err != nil {
			return err
		}
	}
	return nil
}

// namesOf returns the sorted keys of a map, separated by commas, which no name of a label or an annotation has.
func namesOf(values map[string]string) string {
	return strings.Join(slices.Sorted(maps.Keys(values)), ",")
}

// contains reports whether a map has all entries of another one. An empty value may be missing.
func contains(values, wanted map[string]string) bool {
	for name, value := range wanted {
		if values[name] != value {
			return false
		}
	}
	return true
}

// withoutLeftovers returns a copy of a credentials Secret without the entries of operators that are gone, and without
// the labels and annotations of an earlier template. fewer is whether anything was removed.
func withoutLeftovers(
	secret *corev1.Secret, sandbox *v1alpha1.SandboxEnvironment, data map[string][]byte,
) (kept *corev1.Secret, fewer bool) {
	kept = secret.DeepCopy()
	maps.DeleteFunc(kept.Data, isLeftover(data))
	former := func(annotation string, wanted map[string]string) func(name, value string) bool {
		names := strings.Split(secret.Annotations[annotation], ",")
		return func(name, _ string) bool {
			_, stays := wanted[name]
			return !stays && slices.Contains(names, name)
		}
	}
	maps.DeleteFunc(kept.Labels, former(templateLabelsAnnotation, with(templateLabels(sandbox), secretLabels(sandbox))))
	maps.DeleteFunc(kept.Annotations, former(templateAnnotationsAnnotation, secretAnnotations(sandbox, credentials{})))
	return kept, len(kept.Data) < len(secret.Data) || len(kept.Labels) < len(secret.Labels) || len(kept.Annotations) < len(secret.Annotations)
}
