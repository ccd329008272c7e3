package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/store"
)

// drift finds the resources whose rows somebody changed behind the controller's back, and has them reconciled. It compares the
// fingerprints of all of them at once, so that a look costs the database a statement or two, however many resources there are.
//
// It looks at those that are ready for their present spec. The others are tried again anyway, or have nothing to put back.
type drift struct {
	database   Database
	cache      client.Reader
	clock      clock.WithTicker
	every      time.Duration
	hand       func(context.Context, change) // has a resource reconciled
	everywhere bool                          // the cache holds all namespaces

	seen orphans // by the last look
	told orphans
}

// orphans are how many rows belong to no resource.
type orphans struct{ sandboxes, testClients int }

// Start looks, time after time, until the context ends. The manager runs it in the leader only.
func (d *drift) Start(ctx context.Context) error {
	log := logf.FromContext(ctx).WithName("drift")
	for {
		timer := d.clock.NewTimer(spread(d.every))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C():
		}
		drifted, err := d.look(ctx)
		if err != nil && !interrupted(ctx) {
			log.Info("The rows could not be compared: trying again", "after", d.every.String(), "cause", err.Error())
			continue
		}
		if len(drifted) > 0 {
			log.Info("Rows were changed behind the controller's back, or a replaced key came to its end: putting them right", "resources", len(drifted))
		}
		for _, c := range drifted {
			d.hand(ctx, c)
		}
	}
}

// look names the resources that are not as they were left. The cache is read first: what is ready there has its rows by then.
func (d *drift) look(ctx context.Context) (drifted []change, err error) {
	var sandboxes v1alpha1.SandboxEnvironmentList
	if err := d.cache.List(ctx, &sandboxes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the SandboxEnvironments: %w", err)
	}
	var testClients v1alpha1.TestClientList
	if err := d.cache.List(ctx, &testClients, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the TestClients: %w", err)
	}
	inventory, err := d.database.Inventory(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(sandboxes.Items)+len(testClients.Items))
	uids := make(map[client.ObjectKey]types.UID, len(sandboxes.Items))
	for i := range sandboxes.Items {
		sandbox := &sandboxes.Items[i]
		uids[client.ObjectKeyFromObject(sandbox)], known[string(sandbox.UID)] = sandbox.UID, true
		if isSettled(sandbox, sandbox.Status.Conditions) && !inventory.HoldsSandbox(string(sandbox.UID)) {
			drifted = append(drifted, change{key: client.ObjectKeyFromObject(sandbox)})
		}
	}
	for i := range testClients.Items {
		testClient := &testClients.Items[i]
		known[string(testClient.UID)] = true
		if isSettled(testClient, testClient.Status.Conditions) && !holdsTestClient(inventory, uids[sandboxOf(testClient)], testClient) {
			drifted = append(drifted, changeOfTestClient(testClient))
		}
	}
	d.tellOrphans(ctx, inventory, known)
	return drifted, nil
}

func holdsTestClient(inventory *store.Inventory, sandbox types.UID, testClient *v1alpha1.TestClient) bool {
	config, err := testClientConfig(testClient)
	return err == nil && inventory.HoldsTestClient(string(sandbox), config)
}

// isSettled reports whether a resource stays and is ready for its present spec.
func isSettled(obj client.Object, conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	return obj.GetDeletionTimestamp() == nil && ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == obj.GetGeneration()
}

// tellOrphans logs how many rows belong to no resource, when that changes. They are left alone: somebody took a finalizer away, or
// the resources are of another cluster that was given the same database, where a deletion would be a disaster.
func (d *drift) tellOrphans(ctx context.Context, inventory *store.Inventory, known map[string]bool) {
	if !d.everywhere {
		return
	}
	var found orphans
	found.sandboxes, found.testClients = inventory.Orphans(known)
	if found == d.seen && found != d.told { // seen twice: none of a resource that was being made
		d.told = found
		logf.FromContext(ctx).WithName("drift").Info("Rows belong to no resource of this cluster, and are left alone",
			"sandboxes", found.sandboxes, "testClients", found.testClients)
	}
	d.seen = found
}
