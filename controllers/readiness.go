package controllers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/telemetry"
)

// readiness is the readiness probe of the controller: the controller is ready when its cache is filled. It also counts
// the resources by their conditions, for the metrics. It runs in every replica.
type readiness struct {
	cache        cache.Cache
	counts       *telemetry.Resources // nil: nothing is counted
	installation string               // name of this installation, which does not count the sandboxes of others
	synced       atomic.Bool
}

// countedKinds are the kinds that readiness counts.
var countedKinds = map[string]client.Object{
	"SandboxEnvironment": &v1alpha1.SandboxEnvironment{},
	"TestClient":         &v1alpha1.TestClient{},
	"Expectation":        &v1alpha1.Expectation{},
}

// NeedLeaderElection returns false, so that the manager also runs readiness in replicas that are not the leader. So a
// new leader already has a filled cache.
func (s *readiness) NeedLeaderElection() bool { return false }

// Start counts the changes of the cache until the context ends.
func (s *readiness) Start(ctx context.Context) error {
	var registered []toolscache.InformerSynced
	for kind, object := range countedKinds {
		informer, err := s.cache.GetInformer(ctx, object)
		if err != nil {
			if reconciler.Interrupted(ctx) {
				return nil
			}
			return fmt.Errorf("following the cache of %s: %w", kind, err)
		}
		registration, err := informer.AddEventHandler(s.handler(kind))
		if err != nil {
			return fmt.Errorf("following the cache of %s: %w", kind, err)
		}
		registered = append(registered, registration.HasSynced)
	}
	s.synced.Store(toolscache.WaitForCacheSync(ctx.Done(), registered...))
	<-ctx.Done()
	return nil
}

func (s *readiness) handler(kind string) toolscache.ResourceEventHandler {
	set := func(object any) {
		if sandbox, ok := object.(*v1alpha1.SandboxEnvironment); ok && s.counts != nil && reconciler.IsForeign(sandbox, s.installation) {
			s.counts.Remove(kind, client.ObjectKeyFromObject(sandbox).String())
			return
		}
		if o, ok := object.(client.Object); ok && s.counts != nil {
			s.counts.Set(kind, client.ObjectKeyFromObject(o).String(), stateOf(o))
		}
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    set,
		UpdateFunc: func(_, object any) { set(object) },
		DeleteFunc: func(object any) {
			if key, err := toolscache.DeletionHandlingMetaNamespaceKeyFunc(object); err == nil && s.counts != nil {
				s.counts.Remove(kind, key)
			}
		},
	}
}

// check is the readiness probe of the caches.
func (s *readiness) check(*http.Request) error {
	if !s.synced.Load() {
		return errors.New("the caches are not filled yet")
	}
	return nil
}

// stateOf returns the conditions of a resource. The summary condition is Met for an Expectation, and Ready for other
// kinds. A summary of an older generation counts as unknown.
func stateOf(object client.Object) telemetry.ResourceState {
	state := telemetry.ResourceState{Ready: telemetry.Condition{Status: string(metav1.ConditionUnknown), Reason: v1alpha1.ReasonPending}}
	summary := v1alpha1.ConditionReady
	if _, is := object.(*v1alpha1.Expectation); is {
		summary = v1alpha1.ConditionMet
	}
	for _, c := range conditionsOf(object) {
		condition := telemetry.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason}
		switch {
		case c.Type != summary:
			state.Conditions = append(state.Conditions, condition)
		case c.ObservedGeneration == object.GetGeneration():
			state.Ready = condition
		}
	}
	return state
}

func conditionsOf(object client.Object) []metav1.Condition {
	switch o := object.(type) {
	case *v1alpha1.SandboxEnvironment:
		return o.Status.Conditions
	case *v1alpha1.TestClient:
		return o.Status.Conditions
	case *v1alpha1.Expectation:
		return o.Status.Conditions
	}
	return nil
}
