package chart

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fixed is what Kubernetes lets nobody change, by object.
func fixed(t *testing.T, objects []*unstructured.Unstructured) map[string]any {
	t.Helper()
	found := map[string]any{}
	for _, d := range all[appsv1.Deployment](t, objects, "Deployment") {
		found["Deployment "+d.Name] = d.Spec.Selector
	}
	for _, s := range all[appsv1.StatefulSet](t, objects, "StatefulSet") {
		found["StatefulSet "+s.Name] = []any{s.Spec.Selector, s.Spec.ServiceName, s.Spec.PodManagementPolicy, s.Spec.VolumeClaimTemplates}
	}
	for _, s := range all[batchv1.Job](t, objects, "Job") {
		found["Job "+s.Name] = s.Spec
	}
	return found
}

// An upgrade, whatever it changes, changes nothing that cannot be changed: what is fixed in an object of a name is the same.
func TestUpgradeChangesNothingThatIsFixed(t *testing.T) {
	t.Parallel()
	for name, values := range scenarios(t) {
		before := fixed(t, objects(t, values))
		after := fixed(t, objects(t, values, "--set=image.tag=next,image.digest=,api.replicas=7,commonLabels.other=label,"+
			"database.embedded.resources.limits.memory=3Gi,database.embedded.image.tag=17.9,api.podLabels.other=label,api.extraArgs={--log-level=debug},"+
			"nameOverride="))
		var both int
		for object, was := range before {
			is, there := after[object]
			if !there {
				continue
			}
			both++
			if diff := cmp.Diff(was, is); diff != "" {
				t.Errorf("%s: an upgrade would have to change what is fixed in %s:\n%s", name, object, diff)
			}
		}
		if both < 3 {
			t.Errorf("%s: only %d objects were compared", name, both)
		}
	}
}

// Jobs have new names when their spec is another one, and only then.
func TestJobsRunAgainForANewImage(t *testing.T) {
	t.Parallel()
	names := func(args ...string) (found []string) {
		for _, job := range all[batchv1.Job](t, objects(t, args...), "Job") {
			found = append(found, job.Name)
		}
		return found
	}
	before := names()
	if diff := cmp.Diff(before, names("--set=api.replicas=5")); diff != "" || len(before) != 2 {
		t.Errorf("jobs that did not change: %s", diff)
	}
	for _, name := range names("--set=image.tag=next") {
		if slices.Contains(before, name) {
			t.Errorf("%s would have to be changed in place", name)
		}
	}
}

// With a database that is not the release's, the schema is migrated before anything changes; otherwise beside the pods, since the
// database may be what the upgrade repairs.
func TestWhenTheSchemaIsMigrated(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]string{"defaults": "", "ci": "", "cloudnativepg": "", "platform": "pre-install,pre-upgrade"} {
		for _, upgrade := range []string{"--is-upgrade=false", "--is-upgrade=true"} {
			var found int
			weights := map[string]string{}
			for _, object := range objects(t, scenarios(t)[name], upgrade) {
				if object.GetLabels()["app.kubernetes.io/component"] != "migrate" {
					continue
				}
				found++
				weights[object.GetKind()] = object.GetAnnotations()["helm.sh/hook-weight"]
				if got := object.GetAnnotations()["helm.sh/hook"]; got != hook {
					t.Errorf("%s, %s: %s has the hook %q, want %q", name, upgrade, nameOf(object), got, hook)
				}
			}
			if found < 2 {
				t.Errorf("%s, %s: %d objects", name, upgrade, found)
			}
			if hook != "" && (weights["ServiceAccount"] >= weights["Job"] == false || weights["ServiceAccount"] == weights["Job"]) {
				t.Errorf("%s: what the job needs is not made before it: %v", name, weights)
			}
		}
	}
}

// What cannot be made again outlives the release.
func TestDataOutliveTheRelease(t *testing.T) {
	t.Parallel()
	for _, s := range all[appsv1.StatefulSet](t, objects(t), "StatefulSet") {
		policy := s.Spec.PersistentVolumeClaimRetentionPolicy
		if policy == nil || policy.WhenDeleted != appsv1.RetainPersistentVolumeClaimRetentionPolicyType || len(s.Spec.VolumeClaimTemplates) != 1 {
			t.Errorf("the database's volume: %v", policy)
		}
	}
	var kept bool
	for _, object := range objects(t, scenarios(t)["cloudnativepg"]) {
		kept = kept || object.GetKind() == "Cluster" && object.GetAnnotations()[keep] == "keep"
	}
	if !kept {
		t.Error("CloudNativePG's Cluster goes with the release")
	}
}

// CloudNativePG's spec is what the chart writes, with what the values say over it.
func TestCloudNativePGSpec(t *testing.T) {
	t.Parallel()
	for _, object := range objects(t, scenarios(t)["cloudnativepg"]) {
		if object.GetKind() != "Cluster" {
			continue
		}
		if object.GetAPIVersion() != "postgresql.cnpg.io/v1" || strings.HasPrefix(object.GetName(), "cauri-postgres") == false {
			t.Errorf("%s %s", object.GetAPIVersion(), object.GetName())
		}
		parameters, _, _ := unstructured.NestedStringMap(object.Object, "spec", "postgresql", "parameters")
		want := map[string]string{"max_connections": "200", "shared_buffers": "256MB", "work_mem": "16MB"}
		if diff := cmp.Diff(want, parameters); diff != "" {
			t.Error(diff)
		}
		owner, _, _ := unstructured.NestedString(object.Object, "spec", "bootstrap", "initdb", "owner")
		if owner != "cauri" {
			t.Errorf("the owner is %q", owner)
		}
		return
	}
	t.Error("there is no Cluster")
}
