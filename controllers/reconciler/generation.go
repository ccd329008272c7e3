package reconciler

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// IsObserved reports whether the controller has reconciled a resource with this status.observedGeneration. Before the
// first reconciliation, the value is -1, the default of the schema, or 0, if the CRD has no default yet.
func IsObserved(observedGeneration int64) bool { return observedGeneration > 0 }

// CheckSpecIsCurrent reads a cached resource from the API server again. It returns ErrSpecChanged if the cache is stale
// or the resource no longer exists.
func CheckSpecIsCurrent(ctx context.Context, apiReader client.Reader, read client.Object) error {
	current := read.DeepCopyObject().(client.Object)
	err := apiReader.Get(ctx, client.ObjectKeyFromObject(read), current)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return &FailedError{Reason: v1alpha1.ReasonRetrying, Cause: fmt.Errorf("reading the resource from the API server: %w", err)}
	case err != nil, current.GetUID() != read.GetUID(), current.GetGeneration() != read.GetGeneration():
		return ErrSpecChanged
	}
	return nil
}

// ApplyCurrent applies a resource to the database. The database refuses an older generation than its own. After a
// refusal, ApplyCurrent returns ErrSpecChanged if the cache is stale. If the API server itself has the older
// generation, after a restore of etcd, ApplyCurrent replaces the later generation in the database.
func ApplyCurrent[T any](
	ctx context.Context, apiReader client.Reader, read client.Object, apply func(rolledBack int64) (T, error),
) (T, error) {
	state, err := apply(0)
	var stale sandboxes.ErrStaleGeneration
	if !errors.As(err, &stale) {
		return state, err
	}
	if err := CheckSpecIsCurrent(ctx, apiReader, read); err != nil {
		return state, err
	}
	if state, err = apply(stale.Applied); errors.As(err, &stale) {
		return state, ErrSpecChanged // another controller applied a later generation during this call
	}
	return state, err
}
