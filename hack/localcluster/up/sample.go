package up

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/server/payments"
)

var secretResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}

// sample has the data of a sandbox that the user needs for a first payment.
type sample struct {
	namespace, name string
	secret          string
	url, apiKey     string
	store           string
	currency        string // currency of the first environment
	msisdn          string // number of a TestClient; empty if there is none
	webhookURL      string
	signingSecret   string
}

// addReceiver sets the webhook of sandboxes without one to the address of `cauri listen`. The samples have no webhook,
// because most clusters do not allow a loopback address.
func addReceiver(objects []*unstructured.Unstructured) {
	for _, object := range objects {
		spec, isMap := object.Object["spec"].(map[string]any)
		if object.GetKind() == kube.EnvironmentKind && isMap && spec["webhook"] == nil {
			spec["webhook"] = map[string]any{"url": "http://" + defaultReceiver + "/webhooks"}
		}
	}
}

// findSample returns the sample of the first sandbox among ready objects; nil for none.
func findSample(ctx context.Context, c *kube.Cluster, objects []*unstructured.Unstructured) (*sample, error) {
	for _, object := range objects {
		if object.GetKind() != kube.EnvironmentKind {
			continue
		}
		found := describeSample(object, objects)
		if found.secret == "" {
			return nil, fmt.Errorf("%s is ready, but its status.binding.name does not name its Secret", kube.Describe(object))
		}
		secret, err := c.Dynamic.Resource(secretResource).Namespace(found.namespace).Get(ctx, found.secret, metav1.GetOptions{})
		if err != nil {
			return nil, fmt.Errorf("reading the credentials of %s: %w", kube.Describe(object), err)
		}
		for key, into := range map[string]*string{"uri": &found.url, "api-key": &found.apiKey, "webhook-signing-secret": &found.signingSecret} {
			if *into, err = secretValue(secret, key); err != nil {
				return nil, err
			}
		}
		return &found, nil
	}
	return nil, nil
}

// describeSample returns the sample of a sandbox and its TestClients.
func describeSample(sandbox *unstructured.Unstructured, objects []*unstructured.Unstructured) sample {
	found := sample{namespace: sandbox.GetNamespace(), name: sandbox.GetName(), store: sandbox.GetName()}
	found.secret, _, _ = unstructured.NestedString(sandbox.Object, "status", "binding", "name")
	found.webhookURL, _, _ = unstructured.NestedString(sandbox.Object, "spec", "webhook", "url")
	if slug := firstOf(sandbox, "stores")["slug"]; slug != nil {
		found.store = fmt.Sprint(slug)
	}
	country := payments.Country(fmt.Sprint(firstOf(sandbox, "environments")["country"]))
	found.currency = string(country.Facts().Currency)
	for _, object := range objects {
		of, _, _ := unstructured.NestedString(object.Object, "spec", "sandboxRef", "name")
		if object.GetKind() == kube.TestClientKind && object.GetNamespace() == found.namespace && of == found.name {
			found.msisdn, _, _ = unstructured.NestedString(object.Object, "spec", "msisdn")
			break
		}
	}
	return found
}

// firstOf returns the first entry of a list of objects in the spec; nil for none.
func firstOf(object *unstructured.Unstructured, list string) map[string]any {
	entries, _, _ := unstructured.NestedSlice(object.Object, "spec", list)
	if len(entries) == 0 {
		return nil
	}
	first, _ := entries[0].(map[string]any)
	return first
}

func secretValue(secret *unstructured.Unstructured, key string) (string, error) {
	encoded, _, _ := unstructured.NestedString(secret.Object, "data", key)
	value, err := base64.StdEncoding.DecodeString(encoded)
	if err == nil && len(value) == 0 {
		err = errors.New("it is missing")
	}
	if err != nil {
		return "", fmt.Errorf("reading %s of the %s: %w", key, kube.Describe(secret), err)
	}
	return string(value), nil
}
