package reconciler

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// FindSandbox returns the sandbox that a resource of this kind names. It returns a waiting error if the sandbox is not in
// the database yet. The watch on sandboxes ends the wait.
func FindSandbox(ctx context.Context, from client.Reader, key client.ObjectKey, kind string) (*v1alpha1.SandboxEnvironment, error) {
	sandbox := &v1alpha1.SandboxEnvironment{}
	err := from.Get(ctx, key, sandbox)
	switch {
	case apierrors.IsNotFound(err), err == nil && !sandbox.DeletionTimestamp.IsZero():
		return nil, &WaitingError{
			Reason:  v1alpha1.ReasonSandboxNotFound,
			Message: fmt.Sprintf("The SandboxEnvironment %q does not exist in this namespace. The %s waits for it.", key.Name, kind),
			Woken:   true,
		}
	case err != nil:
		return nil, &FailedError{Reason: v1alpha1.ReasonRetrying, Cause: fmt.Errorf("reading the SandboxEnvironment %q: %w", key.Name, err)}
	case sandbox.Status.OrganizationID == "":
		waiting := SandboxNotReady(key.Name, kind)
		waiting.Woken = true
		if !IsObserved(sandbox.Status.ObservedGeneration) {
			waiting.Cause = ErrSandboxUnseen
		}
		return nil, waiting
	}
	return sandbox, nil
}

// ErrSandboxUnseen means that the sandbox has no status yet.
var ErrSandboxUnseen = errors.New("the sandbox was not reconciled yet")

func SandboxNotReady(name, kind string) *WaitingError {
	return &WaitingError{
		Reason:  v1alpha1.ReasonSandboxNotReady,
		Message: fmt.Sprintf("The SandboxEnvironment %q is not in the database yet: see its conditions. The %s waits for it.", name, kind),
	}
}

// AvailabilityChanged reports whether the resources of a changed sandbox are reconciled. This is so if the sandbox
// became able or unable to register TestClients, got its first status, or has other environments. Other changes, such
// as those of a balance, do not matter to TestClients.
func AvailabilityChanged(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*v1alpha1.SandboxEnvironment), e.ObjectNew.(*v1alpha1.SandboxEnvironment)
	return before.UID != after.UID ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.OrganizationID != after.Status.OrganizationID ||
		before.Status.Installation != after.Status.Installation ||
		IsObserved(before.Status.ObservedGeneration) != IsObserved(after.Status.ObservedGeneration) ||
		!equality.Semantic.DeepEqual(before.Spec.Environments, after.Spec.Environments)
}
