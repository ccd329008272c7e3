package controllers

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// Parameters of the retries while the API server is unreachable. They replace the backoff of client-go, which grows up
// to a minute: after an outage, users would wait that long for the effect of `kubectl apply`.
const (
	retryInterval = time.Second // plus jitter of up to 100 %
	retryFor      = time.Minute // afterward, client-go retries and logs
)

// informers returns the function that makes an informer. The informer reconnects soon after an outage of the API server. With
// namespaces, it also starts without the right to list.
func informers(namespaces []string) func(
	toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers,
) toolscache.SharedIndexInformer {
	return func(
		lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		retrying := retryingListerWatcher{toolscache.ToListerWatcherWithContext(lw), retryInterval}
		if len(namespaces) == 0 {
			return toolscache.NewSharedIndexInformer(retrying, obj, resync, indexers)
		}
		return toolscache.NewSharedIndexInformer(&forbiddenListerWatcher{
			ListerWatcherWithContext: retrying, resource: resourceName(obj), retry: forbiddenRetry,
		}, obj, resync, indexers)
	}
}

// retryingListerWatcher retries requests that the API server does not answer. It does not retry error answers, so that
// client-go backs off from an overloaded API server.
type retryingListerWatcher struct {
	inner toolscache.ListerWatcherWithContext
	after time.Duration
}

var (
	_ toolscache.ListerWatcher            = retryingListerWatcher{}
	_ toolscache.ListerWatcherWithContext = retryingListerWatcher{}
)

func (i retryingListerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return retryUnreachable(ctx, i.after, func() (runtime.Object, error) { return i.inner.ListWithContext(ctx, options) })
}

func (i retryingListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return retryUnreachable(ctx, i.after, func() (watch.Interface, error) { return i.inner.WatchWithContext(ctx, options) })
}

func (i retryingListerWatcher) List(options metav1.ListOptions) (runtime.Object, error) {
	return i.ListWithContext(context.Background(), options)
}

func (i retryingListerWatcher) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return i.WatchWithContext(context.Background(), options)
}

func retryUnreachable[T any](ctx context.Context, after time.Duration, ask func() (T, error)) (T, error) {
	for end := time.Now().Add(retryFor); ; {
		answer, err := ask()
		var answered apierrors.APIStatus
		if err == nil || errors.As(err, &answered) || time.Now().After(end) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return answer, err
		case <-time.After(wait.Jitter(after, 1)):
		}
	}
}
