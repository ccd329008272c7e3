package resync

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Drift finds the resources whose rows were edited by hand, and reconciles them. It reads the fingerprints of all rows
// with one or two statements, for any number of resources.
//
// It checks only the resources that are ready for their current spec. The others are retried anyway, or have no rows.
type Drift struct {
	Database      Database
	Ready         func(context.Context) error // returns nil once the tables are up to date
	Cache         client.Reader
	Clock         clock.WithTicker
	Interval      time.Duration                                                  // pause between two checks, plus jitter
	Enqueue       func(context.Context, Change)                                  // reconciles a resource
	SIM           func(*v1alpha1.TestClient) (sandboxes.TestClientConfig, error) // the SIM that a TestClient describes
	Orphaned      func(context.Context, *v1alpha1.TestClient)                    // called for the SIM of a TestClient that is not in the cache
	Installation  string                                                         // name of this one; sandboxes of others are left out
	AllNamespaces bool                                                           // whether the cache has all namespaces

	found  orphans // result of the last check
	logged orphans
}

// orphans counts the sandboxes in the database that belong to no resource, and their SIMs.
type orphans struct{ sandboxes, testClients int }

// firstCheck is the delay of the first check. It finds the SIMs of TestClients that were deleted while no controller ran.
const firstCheck = 10 * time.Second

// Start checks repeatedly until the context ends. The manager runs it only in the leader.
func (d *Drift) Start(ctx context.Context) error {
	log := logf.FromContext(ctx).WithName("drift")
	for pause := min(firstCheck, d.Interval); ; pause = d.Interval {
		timer := d.Clock.NewTimer(wait.Jitter(pause, 0.2))
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C():
		}
		drifted, err := d.check(ctx)
		if err != nil && ctx.Err() == nil {
			log.Info("The rows could not be compared: retrying", "after", d.Interval.String(), "cause", err.Error())
			continue
		}
		if len(drifted) > 0 {
			log.Info("Rows were changed by hand, or the grace of a replaced key is over: correcting them", "resources", len(drifted))
		}
		for _, c := range drifted {
			d.Enqueue(ctx, c)
		}
	}
}

// check returns the resources whose rows differ. It reads the cache before the database, because a resource that is
// ready in the cache must have its rows.
func (d *Drift) check(ctx context.Context) (drifted []Change, err error) {
	var sandboxes v1alpha1.SandboxEnvironmentList
	if err := d.Cache.List(ctx, &sandboxes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the SandboxEnvironments: %w", err)
	}
	var testClients v1alpha1.TestClientList
	if err := d.Cache.List(ctx, &testClients, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing the TestClients: %w", err)
	}
	if err := d.Ready(ctx); err != nil {
		return nil, err
	}
	inventory, err := d.Database.Inventory(ctx)
	if err != nil {
		return nil, err
	}
	known := make(map[string]bool, len(sandboxes.Items)+len(testClients.Items))
	owners := make(map[string]client.ObjectKey, len(sandboxes.Items))
	uids := make(map[client.ObjectKey]types.UID, len(sandboxes.Items))
	foreign := map[client.ObjectKey]bool{}
	for i := range sandboxes.Items {
		sandbox := &sandboxes.Items[i]
		key := client.ObjectKeyFromObject(sandbox)
		uids[key], owners[string(sandbox.UID)], known[string(sandbox.UID)] = sandbox.UID, key, true
		if foreign[key] = sandbox.Status.Installation != d.Installation; foreign[key] {
			continue
		}
		if isSettled(sandbox, sandbox.Status.Conditions) && !inventory.HoldsSandbox(string(sandbox.UID)) {
			drifted = append(drifted, OfSandbox(sandbox))
		}
	}
	for i := range testClients.Items {
		testClient := &testClients.Items[i]
		known[string(testClient.UID)] = true
		key := client.ObjectKey{Namespace: testClient.Namespace, Name: testClient.Spec.SandboxRef.Name}
		sandbox := uids[key]
		if !foreign[key] && isSettled(testClient, testClient.Status.Conditions) && !d.holdsTestClient(inventory, sandbox, testClient) {
			drifted = append(drifted, OfTestClient(testClient))
		}
	}
	d.reportOrphans(ctx, inventory, known, owners)
	return drifted, nil
}

func (d *Drift) holdsTestClient(inventory *sandboxes.Inventory, sandbox types.UID, testClient *v1alpha1.TestClient) bool {
	config, err := d.SIM(testClient)
	return err == nil && inventory.HoldsTestClient(string(sandbox), config)
}

// isSettled reports whether a resource is not being deleted and is ready for its current spec.
func isSettled(obj client.Object, conditions []metav1.Condition) bool {
	ready := meta.FindStatusCondition(conditions, v1alpha1.ConditionReady)
	return obj.GetDeletionTimestamp() == nil && ready != nil && ready.Status == metav1.ConditionTrue &&
		ready.ObservedGeneration == obj.GetGeneration()
}

// reportOrphans reports the SIMs of TestClients that were deleted while no controller ran. It logs the number of other
// orphans when it changes. They exist if a finalizer was removed by hand, or if another cluster uses the same database.
// They are never deleted, because the other cluster may use them.
func (d *Drift) reportOrphans(
	ctx context.Context, inventory *sandboxes.Inventory, known map[string]bool, owners map[string]client.ObjectKey,
) {
	var found orphans
	var sims []sandboxes.OrphanedSIM
	found.sandboxes, sims = inventory.Orphans(known)
	for _, sim := range sims {
		owner, owned := owners[sim.SandboxUID]
		if !owned {
			found.testClients++
			continue
		}
		deleted := &v1alpha1.TestClient{
			ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: sim.TestClient, UID: types.UID(sim.TestClientUID)},
		}
		deleted.Spec.SandboxRef.Name = owner.Name
		d.Orphaned(ctx, deleted)
	}
	if !d.AllNamespaces {
		return
	}
	if found == d.found && found != d.logged { // two checks found them, so no new resource owns them
		d.logged = found
		logf.FromContext(ctx).WithName("drift").Info("Rows belong to no resource of this cluster, and are kept",
			"sandboxes", found.sandboxes, "testClients", found.testClients)
	}
	d.found = found
}
