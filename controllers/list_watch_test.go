package controllers

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

func TestUnavailableAPIServerIsAskedAgain(t *testing.T) {
	unavailable, busy := error(syscall.ECONNREFUSED), error(apierrors.NewTooManyRequests("busy", 1))
	for name, c := range map[string]struct {
		answers []error // the last one stays
		asked   int
		want    error
	}{
		"it is there":          {answers: []error{nil}, asked: 1},
		"it comes back":        {answers: []error{unavailable, unavailable, unavailable, nil}, asked: 4},
		"it is busy":           {answers: []error{busy}, asked: 1, want: busy},
		"it is back, and busy": {answers: []error{unavailable, busy}, asked: 2, want: busy},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			answer := func() error {
				err := c.answers[min(asked, len(c.answers)-1)]
				asked++
				return err
			}
			lw := retryingListerWatcher{after: time.Millisecond, inner: toolscache.ToListerWatcherWithContext(&toolscache.ListWatch{
				ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					return &v1alpha1.TestClientList{}, answer()
				},
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					return watch.NewEmptyWatch(), answer()
				},
			})}
			if _, err := lw.List(metav1.ListOptions{}); !errors.Is(err, c.want) || asked != c.asked {
				t.Errorf("a list was asked for %d times and came to %v, want %d and %v", asked, err, c.asked, c.want)
			}
			asked = 0
			if _, err := lw.Watch(metav1.ListOptions{}); !errors.Is(err, c.want) || asked != c.asked {
				t.Errorf("a watch was asked for %d times and came to %v, want %d and %v", asked, err, c.asked, c.want)
			}
		})
	}
}

func TestAPIServerIsNotAskedAgainByWhoEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	_, err := retryUnreachable(ctx, time.Hour, func() (int, error) {
		asked++
		cancel()
		return 0, syscall.ECONNREFUSED
	})
	if !errors.Is(err, syscall.ECONNREFUSED) || asked != 1 {
		t.Errorf("it was asked %d times, and came to %v", asked, err)
	}
}

// An empty list would make the controller take the resources of a namespace for deleted, so only a first list may be forbidden.
func TestRightThatEndsEmptiesNoCache(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "testclients"}, "", errors.New("no Role"))
	answers := []error{forbidden, nil, forbidden}
	lw := &forbiddenListerWatcher{resource: "TestClient", retry: time.Millisecond, ListerWatcherWithContext: toolscache.ToListerWatcherWithContext(
		&toolscache.ListWatch{ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			err := answers[0]
			answers = answers[1:]
			return &v1alpha1.TestClientList{}, err
		}},
	)}
	if list, err := lw.List(metav1.ListOptions{}); err != nil || meta.LenList(list) > 0 {
		t.Errorf("the first list: %v, %v", list, err)
	}
	if _, err := lw.Watch(metav1.ListOptions{}); !apierrors.IsResourceExpired(err) {
		t.Errorf("with the right, the watch has to end so that the reflector lists again: %v", err)
	}
	lw.read = true // by that list
	if _, err := lw.List(metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a later list: %v", err)
	}
}
