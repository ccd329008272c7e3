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

// How an API server that cannot be reached is asked again, instead of client-go's pauses, which double until they are between half a
// minute and a whole one: a controller that slept through the API server's return would make everybody wait who applies something then.
const (
	askedAgainAfter = time.Second // and up to twice that, drawn by chance
	askedAgainFor   = time.Minute // and by client-go after that, which tells about it
)

// newInformer makes an informer that is soon there again after the API server was away.
func newInformer(lw toolscache.ListerWatcher, obj runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(insistent{toolscache.ToListerWatcherWithContext(lw), askedAgainAfter}, obj, resync, indexers)
}

// insistent asks again where no answer comes. An answer that is an error is left to client-go: whoever is too busy is not to be pressed.
type insistent struct {
	asked toolscache.ListerWatcherWithContext
	after time.Duration
}

var (
	_ toolscache.ListerWatcher            = insistent{}
	_ toolscache.ListerWatcherWithContext = insistent{}
)

func (i insistent) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	return insist(ctx, i.after, func() (runtime.Object, error) { return i.asked.ListWithContext(ctx, options) })
}

func (i insistent) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return insist(ctx, i.after, func() (watch.Interface, error) { return i.asked.WatchWithContext(ctx, options) })
}

func (i insistent) List(options metav1.ListOptions) (runtime.Object, error) {
	return i.ListWithContext(context.Background(), options)
}

func (i insistent) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return i.WatchWithContext(context.Background(), options)
}

func insist[T any](ctx context.Context, after time.Duration, ask func() (T, error)) (T, error) {
	for end := time.Now().Add(askedAgainFor); ; {
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
