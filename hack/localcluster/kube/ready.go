package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

const (
	cauriGroup      = "cauri.dev"
	EnvironmentKind = "SandboxEnvironment"
	TestClientKind  = "TestClient"
)

var (
	definitionResource = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

	// cauriResources are the kinds with a Ready condition.
	cauriResources = map[string]schema.GroupVersionResource{
		EnvironmentKind: {Group: cauriGroup, Version: "v1alpha1", Resource: "sandboxenvironments"},
		TestClientKind:  {Group: cauriGroup, Version: "v1alpha1", Resource: "testclients"},
	}
)

// WaitEstablished waits until the API server serves the new kinds.
func (c *Cluster) WaitEstablished(ctx context.Context, definitions []*unstructured.Unstructured) error {
	for _, definition := range definitions {
		err := host.Poll(ctx, host.PollFast, time.Minute, func(ctx context.Context) error {
			stored, err := c.Dynamic.Resource(definitionResource).Get(ctx, definition.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			if established := Condition(stored, "Established"); established["status"] != "True" {
				return fmt.Errorf("not served: %v", established["message"])
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", Describe(definition), err)
		}
	}
	return nil
}

// WaitReady waits until all Cauri objects are ready and returns their current state.
func (c *Cluster) WaitReady(
	ctx context.Context,
	objects []*unstructured.Unstructured,
	within time.Duration,
) ([]*unstructured.Unstructured, error) {
	deadline := time.Now().Add(within)
	var ready []*unstructured.Unstructured
	for _, object := range objects {
		resource, ours := cauriResources[object.GetKind()]
		if !ours || object.GroupVersionKind().Group != cauriGroup {
			continue
		}
		err := host.Poll(ctx, host.PollSlow, max(time.Until(deadline), time.Second), func(ctx context.Context) error {
			stored, err := c.Dynamic.Resource(resource).Namespace(object.GetNamespace()).Get(ctx, object.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			if err := readiness(stored); err != nil {
				return err
			}
			ready = append(ready, stored)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s is not ready: %w", Describe(object), err)
		}
	}
	return ready, nil
}

// readiness returns an error with the reason why an object is not ready. It ignores a condition of an older generation.
func readiness(object *unstructured.Unstructured) error {
	found := Condition(object, "Ready")
	if found == nil {
		return errors.New("no Ready condition yet: does the controller run?")
	}
	observed, ok := found["observedGeneration"].(int64)
	if !ok {
		observed, _, _ = unstructured.NestedInt64(object.Object, "status", "observedGeneration")
	}
	if observed != object.GetGeneration() {
		return fmt.Errorf("generation %d is not looked at yet, only %d", object.GetGeneration(), observed)
	}
	if found["status"] == "True" {
		return nil
	}
	return fmt.Errorf("%v: %v", found["reason"], found["message"])
}

// Condition returns the condition of this type; nil for none.
func Condition(object *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, entry := range conditions {
		if found, ok := entry.(map[string]any); ok && strings.EqualFold(fmt.Sprint(found["type"]), kind) {
			return found
		}
	}
	return nil
}
