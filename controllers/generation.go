package controllers

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// isObserved reports whether the controller has looked at a resource with this status.observedGeneration. Before
// that it is -1, the default of the schema, or 0, if the CRD has no default yet.
func isObserved(observedGeneration int64) bool { return observedGeneration > 0 }

// checkSpecIsCurrent asks the API server whether a resource that was read from the cache still has this spec. It returns
// errSpecChanged if the cache is behind or the resource no longer exists.
func checkSpecIsCurrent(ctx context.Context, apiReader client.Reader, read client.Object) error {
	current := read.DeepCopyObject().(client.Object)
	err := apiReader.Get(ctx, client.ObjectKeyFromObject(read), current)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return &failedError{reason: v1alpha1.ReasonRetrying, cause: fmt.Errorf("reading the resource from the API server: %w", err)}
	case err != nil, current.GetUID() != read.GetUID(), current.GetGeneration() != read.GetGeneration():
		return errSpecChanged
	}
	return nil
}

// applyCurrent applies a resource to the database, which refuses a generation that is older than the one it has. If
// the cache is behind, applyCurrent returns errSpecChanged. If the API server was restored from a backup and counts
// generations again, the resource replaces the later generation.
func applyCurrent[T any](
	ctx context.Context, apiReader client.Reader, read client.Object, apply func(rolledBack int64) (T, error),
) (T, error) {
	state, err := apply(0)
	var stale sandboxes.ErrStaleGeneration
	if !errors.As(err, &stale) {
		return state, err
	}
	if err := checkSpecIsCurrent(ctx, apiReader, read); err != nil {
		return state, err
	}
	if state, err = apply(stale.Applied); errors.As(err, &stale) {
		return state, errSpecChanged // another controller applied one meanwhile
	}
	return state, err
}
