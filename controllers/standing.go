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
	"github.com/cauri-dev/cauri/server/telemetry"
)

// standings follows the cache, in every replica: it counts how resources stand, for the metrics, and knows when the cache holds all
// of them, before which the controller is not ready.
type standings struct {
	cache  cache.Cache
	counts *telemetry.Resources // nil: nothing is counted
	synced atomic.Bool
}

// counted are the kinds that are counted.
var counted = map[string]client.Object{
	"SandboxEnvironment": &v1alpha1.SandboxEnvironment{},
	"TestClient":         &v1alpha1.TestClient{},
}

// NeedLeaderElection makes the manager run it in every replica: one that waits for its turn has a full cache by then.
func (s *standings) NeedLeaderElection() bool { return false }

// Start follows the cache until the context ends.
func (s *standings) Start(ctx context.Context) error {
	var registered []toolscache.InformerSynced
	for kind, object := range counted {
		informer, err := s.cache.GetInformer(ctx, object)
		if err != nil {
			if interrupted(ctx) {
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

func (s *standings) handler(kind string) toolscache.ResourceEventHandler {
	set := func(object any) {
		if o, ok := object.(client.Object); ok && s.counts != nil {
			s.counts.Set(kind, client.ObjectKeyFromObject(o).String(), standingOf(o))
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

// check is the probe of the caches.
func (s *standings) check(*http.Request) error {
	if !s.synced.Load() {
		return errors.New("the caches are not filled yet")
	}
	return nil
}

// standingOf is how a resource stands by its conditions. What Ready said of an older generation is not told: it says nothing about
// the present spec.
func standingOf(object client.Object) telemetry.Standing {
	standing := telemetry.Standing{Ready: telemetry.Condition{Status: string(metav1.ConditionUnknown), Reason: v1alpha1.ReasonPending}}
	for _, c := range conditionsOf(object) {
		told := telemetry.Condition{Type: c.Type, Status: string(c.Status), Reason: c.Reason}
		switch {
		case c.Type != v1alpha1.ConditionReady:
			standing.Conditions = append(standing.Conditions, told)
		case c.ObservedGeneration == object.GetGeneration():
			standing.Ready = told
		}
	}
	return standing
}

func conditionsOf(object client.Object) []metav1.Condition {
	switch o := object.(type) {
	case *v1alpha1.SandboxEnvironment:
		return o.Status.Conditions
	case *v1alpha1.TestClient:
		return o.Status.Conditions
	}
	return nil
}
