package controllers

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

// findSandbox returns the sandbox that a resource of this kind names. It returns a waiting error if the sandbox is not in
// the database yet. The watch on sandboxes ends the wait.
func findSandbox(ctx context.Context, from client.Reader, key client.ObjectKey, kind string) (*v1alpha1.SandboxEnvironment, error) {
	sandbox := &v1alpha1.SandboxEnvironment{}
	err := from.Get(ctx, key, sandbox)
	switch {
	case apierrors.IsNotFound(err), err == nil && !sandbox.DeletionTimestamp.IsZero():
		return nil, &waitingError{
			reason:  v1alpha1.ReasonSandboxNotFound,
			message: fmt.Sprintf("The SandboxEnvironment %q does not exist in this namespace. The %s waits for it.", key.Name, kind),
			woken:   true,
		}
	case err != nil:
		return nil, &failedError{reason: v1alpha1.ReasonRetrying, cause: fmt.Errorf("reading the SandboxEnvironment %q: %w", key.Name, err)}
	case sandbox.Status.OrganizationID == "":
		waiting := sandboxNotReady(key.Name, kind)
		waiting.woken = true
		if !isObserved(sandbox.Status.ObservedGeneration) {
			waiting.cause = errSandboxUnseen
		}
		return nil, waiting
	}
	return sandbox, nil
}

// errSandboxUnseen means that the sandbox has no status yet.
var errSandboxUnseen = errors.New("the sandbox was not reconciled yet")

func sandboxNotReady(name, kind string) *waitingError {
	return &waitingError{
		reason:  v1alpha1.ReasonSandboxNotReady,
		message: fmt.Sprintf("The SandboxEnvironment %q is not in the database yet: see its conditions. The %s waits for it.", name, kind),
	}
}

// availabilityChanged reports whether the resources of a changed sandbox are reconciled. This is so if the sandbox
// became able or unable to register TestClients, got its first status, or has other environments. Other changes, such
// as those of a balance, do not matter to TestClients.
func availabilityChanged(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.(*v1alpha1.SandboxEnvironment), e.ObjectNew.(*v1alpha1.SandboxEnvironment)
	return before.UID != after.UID ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.OrganizationID != after.Status.OrganizationID ||
		isObserved(before.Status.ObservedGeneration) != isObserved(after.Status.ObservedGeneration) ||
		!equality.Semantic.DeepEqual(before.Spec.Environments, after.Spec.Environments)
}
