package localapi

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"
)

// normalizeSecret changes a Secret as the API server does: it moves stringData to data. It returns an error for each
// unknown field.
func normalizeSecret(obj *unstructured.Unstructured) (unknown []error, err error) {
	text, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var secret corev1.Secret
	if unknown, err = json.UnmarshalStrict(text, &secret); err != nil || len(unknown) > 0 {
		return unknown, err
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
