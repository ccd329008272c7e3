package chart

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/snippets"
)

// The ResourceQuota of docs/gitops.md refuses a sandbox beyond it.
func TestResourceQuotaCountsSandboxes(t *testing.T) {
	t.Parallel()
	k8s, err := cluster()
	if err != nil {
		t.Fatal(err)
	}
	var quota *corev1.ResourceQuota
	for _, one := range snippets.Of(t, root, "docs/gitops.md") {
		if one.RunBy() == "test/chart" && strings.Contains(one.Body, "kind: ResourceQuota") {
			quota = as[corev1.ResourceQuota](t, parse(t, one.Body)[0])
		}
	}
	if quota == nil {
		t.Fatal("docs/gitops.md has no ResourceQuota")
	}
	const namespace = "quota"
	if err := k8s.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	quota.Namespace = namespace
	if err := k8s.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	// As the controller of quotas, which is not here, does for an empty namespace. The API server counts on.
	quota.Status.Hard, quota.Status.Used = quota.Spec.Hard, corev1.ResourceList{}
	for what := range quota.Spec.Hard {
		quota.Status.Used[what] = *resource.NewQuantity(0, resource.DecimalSI)
	}
	if err := k8s.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	allowed := quota.Spec.Hard["count/sandboxenvironments.cauri.dev"]
	for made := range int64(50) { // the API server may notice the quota after some
		sandbox := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{GenerateName: "s-", Namespace: namespace}}
		sandbox.Spec.Environments = []v1alpha1.Environment{{Operator: "mtn", Country: "RW"}}
		err := k8s.Create(t.Context(), sandbox)
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota") {
			if made < allowed.Value() {
				t.Errorf("only %d sandboxes were allowed", made)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Error("all sandboxes were allowed")
}
