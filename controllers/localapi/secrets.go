package localapi

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// secretOf checks that obj is a Secret, writes its stringData to its data, and returns the paths of fields that no Secret has.
func secretOf(obj *unstructured.Unstructured) (unknown []string, err error) {
	var secret corev1.Secret
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(obj.Object, &secret, true)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, problem := range strict.Errors() {
			path, _ := strings.CutPrefix(problem.Error(), "unknown field ")
			unknown = append(unknown, strings.Trim(path, `"`))
		}
		return unknown, nil
	}
	if err != nil {
		return nil, err
	}
	for key, value := range secret.StringData {
		if secret.Data == nil {
			secret.Data = map[string][]byte{}
		}
		secret.Data[key] = []byte(value)
	}
	secret.StringData = nil
	if secret.Type == "" {
		secret.Type = corev1.SecretTypeOpaque
	}
	obj.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&secret)
	return nil, err
}

func validateSecret(obj *unstructured.Unstructured) (problems field.ErrorList) {
	data, _, _ := unstructured.NestedMap(obj.Object, "data")
	size := 0
	for key, value := range data {
		for _, message := range utilvalidation.IsConfigMapKey(key) {
			problems = append(problems, field.Invalid(field.NewPath("data").Key(key), key, message))
		}
		text, _ := value.(string)
		size += len(text) / 4 * 3
	}
	if size > corev1.MaxSecretSize {
		problems = append(problems, field.TooLong(field.NewPath("data"), "", corev1.MaxSecretSize))
	}
	return problems
}
