package controllers

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/cauri-dev/cauri/server/telemetry"
)

// forbiddenRetry is the pause, plus jitter, between two attempts to list a resource that the controller may not list.
const forbiddenRetry = 2 * time.Second

// forbiddenListerWatcher starts the cache of a namespace without the objects that the controller may not list. So a
// namespace that is forbidden, or whose Role is gone with it, does not hold up the other namespaces. Once the right is there,
// the cache is filled.
//
// A right that ends later changes nothing: the cache keeps its objects, and client-go retries. Without them, the controller
// would take the resources for deleted.
//
// A reflector makes one call at a time, so the fields need no lock.
type forbiddenListerWatcher struct {
	toolscache.ListerWatcherWithContext
	resource string
	retry    time.Duration

	read      bool // the API server answered once
	forbidden bool // the cache is empty, because the last answer was a refusal
}

// ListWithContext returns an empty list if the first list is forbidden.
func (f *forbiddenListerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := f.ListerWatcherWithContext.ListWithContext(ctx, options)
	if f.read = f.read || err == nil; f.read || !apierrors.IsForbidden(err) {
		return list, err
	}
	if !f.forbidden {
		f.forbidden = true
		telemetry.UnreadableNamespaces.WithLabelValues(f.resource).Inc()
		logf.Log.WithName("cache").Info("A watched namespace is left out, because the controller has no rights there: retrying until it has",
			"resource", f.resource, "after", f.retry.String(), "because", err.Error())
	}
	return &metav1.PartialObjectMetadataList{}, nil
}

// WatchWithContext waits for the right if the list was forbidden. Then it returns an error, after which the reflector lists
// again.
func (f *forbiddenListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if !f.forbidden || options.SendInitialEvents != nil {
		w, err := f.ListerWatcherWithContext.WatchWithContext(ctx, options)
		f.read = f.read || err == nil
		return w, err
	}
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait.Jitter(f.retry, 1)):
		}
		if _, err := f.ListerWatcherWithContext.ListWithContext(ctx, metav1.ListOptions{Limit: 1}); err != nil {
			continue
		}
		f.forbidden = false
		telemetry.UnreadableNamespaces.WithLabelValues(f.resource).Dec()
		logf.Log.WithName("cache").Info("The controller has rights in another watched namespace", "resource", f.resource)
		return nil, apierrors.NewResourceExpired("the list was empty, because it was forbidden")
	}
}

// List implements [toolscache.ListerWatcher].
func (f *forbiddenListerWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return f.ListWithContext(context.Background(), options)
}

// Watch implements [toolscache.ListerWatcher].
func (f *forbiddenListerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return f.WatchWithContext(context.Background(), options)
}

// resourceName returns the name of an informer's kind for logs and metrics.
func resourceName(obj runtime.Object) string {
	if kind := obj.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	kinds, _, err := Scheme.ObjectKinds(obj)
	if err != nil || len(kinds) == 0 {
		return fmt.Sprintf("%T", obj)
	}
	return kinds[0].Kind
}
