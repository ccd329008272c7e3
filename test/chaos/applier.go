package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/test/system"
)

// requestWithin is the timeout of a request to the Kubernetes API.
const requestWithin = 3 * time.Second

// applier applies resources one after the other, as a kubectl user does, and waits until each is ready.
type applier struct {
	*fixture
	ready *series // each resource that became ready
}

// apply creates the n-th test client in a sandbox under load, changes its balance and the balance of a SIM that pays,
// and deletes it. Every fifth time it also creates a sandbox.
func (a *applier) apply(ctx context.Context, n int) error {
	sandbox := a.shops[n%len(a.shops)]
	sim := newTestClient(
		fmt.Sprintf("applied-%d", n),
		sandbox.resource.Name,
		fmt.Sprintf("+25078%07d", 9_000_000+n%1_000_000),
		payments.Approve,
	)
	made := []client.Object{sim}
	if n%5 == 0 {
		other := newSandbox(fmt.Sprintf("applied-%d", n))
		sim.Spec.SandboxRef.Name = other.Name
		made = append(made, other)
	}
	begun := time.Now()
	for _, obj := range made {
		if err := a.insist(ctx, func(ctx context.Context) error {
			if err := a.kube.Create(ctx, obj); !apierrors.IsAlreadyExists(err) {
				return err
			}
			return a.kube.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		}); err != nil {
			return err
		}
	}
	if err := a.waitFor(ctx, begun, made...); err != nil {
		return err
	}
	for _, obj := range []*v1alpha1.TestClient{sim, sandbox.sims[n%len(sandbox.sims)]} {
		begun := time.Now()
		if err := a.insist(ctx, func(ctx context.Context) error {
			if err := a.kube.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
				return err
			}
			obj.Spec.Balance = openingBalance + int64(n)
			return a.kube.Update(ctx, obj)
		}); err != nil {
			return err
		}
		if err := a.waitFor(ctx, begun, obj); err != nil {
			return err
		}
	}
	for _, obj := range made {
		if err := a.insist(ctx, func(ctx context.Context) error { return client.IgnoreNotFound(a.kube.Delete(ctx, obj)) }); err != nil {
			return err
		}
	}
	return nil
}

// insist retries a request to the Kubernetes API until it succeeds.
func (w *fixture) insist(ctx context.Context, request func(context.Context) error) error {
	for {
		within, cancel := context.WithTimeout(ctx, requestWithin)
		err := request(within)
		cancel()
		if err == nil || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) {
			return err
		}
		if !system.Rest(ctx, 50*time.Millisecond) {
			return fmt.Errorf("giving up on the Kubernetes API: %w", err)
		}
	}
}

// waitFor waits until applied resources are ready, and records each.
func (a *applier) waitFor(ctx context.Context, begun time.Time, resources ...client.Object) error {
	for _, obj := range resources {
		if err := a.fixture.ready(ctx, obj); err != nil {
			return err
		}
		a.ready.note(begun)
	}
	return nil
}

// ready waits until the resources are ready at their current generation, and reads them.
func (w *fixture) ready(ctx context.Context, resources ...client.Object) error {
	for _, obj := range resources {
		err := system.Until(ctx, wholeWithin, obj.GetName()+" is ready", func(ctx context.Context) error {
			within, cancel := context.WithTimeout(ctx, requestWithin)
			defer cancel()
			if err := w.kube.Get(within, client.ObjectKeyFromObject(obj), obj); err != nil {
				return err
			}
			return isReady(obj)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func isReady(obj client.Object) error {
	var conditions []metav1.Condition
	switch o := obj.(type) {
	case *v1alpha1.SandboxEnvironment:
		conditions = o.Status.Conditions
	case *v1alpha1.TestClient:
		conditions = o.Status.Conditions
	}
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return errors.New("the controller has not observed it")
	case ready.ObservedGeneration != obj.GetGeneration():
		return errors.New("the controller has not observed its current spec")
	case ready.Status != "True":
		return fmt.Errorf("%s: %s", ready.Reason, ready.Message)
	}
	return nil
}
