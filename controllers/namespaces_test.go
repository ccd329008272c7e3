package controllers_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
)

// Cluster-wide, a controller of some namespaces has the rights to Cauri's own resources by which it lets a sandbox go, and no others.
// test/chart compares those of the chart.
func TestClusterRightsOfWatchedNamespaces(t *testing.T) {
	t.Parallel()
	var want []rbacv1.PolicyRule
	for _, rule := range rulesIn(t, filepath.Join("..", "config", "rbac", "role.yaml"), "ClusterRole") {
		rule.Verbs = slices.DeleteFunc(rule.Verbs, func(verb string) bool { return !slices.Contains([]string{"get", "list", "watch", "patch"}, verb) })
		if rule.APIGroups[0] == v1alpha1.GroupVersion.Group && len(rule.Verbs) > 0 {
			want = append(want, rule)
		}
	}
	want = append(want, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"namespaces"}, Verbs: []string{"get"}})
	got := rulesIn(t, filepath.Join("..", "config", "namespaced", "component", "cluster_role.yaml"), "ClusterRole")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("config/namespaced/component/cluster_role.yaml (-wanted +there):\n%s", diff)
	}
}

// everywhere gives a user of the test's own the rights in the whole cluster that config/namespaced gives the controller.
func (c *cluster) everywhere(user string) {
	c.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: c.namespace},
		Rules:      rulesIn(c.T, filepath.Join("..", "config", "namespaced", "component", "cluster_role.yaml"), "ClusterRole"),
	}
	c.create(role)
	c.create(&rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: c.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}

// secondNamespace makes another namespace.
func (c *cluster) secondNamespace() string {
	c.Helper()
	second := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	c.create(second)
	return second.Name
}

// startWatching starts a controller of these namespaces as a user.
func (c *cluster) startWatching(user string, namespaces ...string) {
	c.Helper()
	c.startAs(user, controllers.ManagerOptions(namespaces...), func(o *controllers.Options) { o.Namespaces = namespaces })
}

// isReady waits until the readiness probe of the controller succeeds.
func (c *cluster) isReady() {
	c.Helper()
	c.until(func(context.Context) string {
		if err := c.readiness(nil); err != nil {
			return err.Error()
		}
		return ""
	})
}

// endNamespace deletes a namespace as Kubernetes does, where the Role goes first: an API server alone deletes nothing in it.
func (c *cluster) endNamespace(name string) {
	c.Helper()
	if err := c.Delete(c.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		c.Fatal(err)
	}
	for _, obj := range []client.Object{&rbacv1.RoleBinding{}, &rbacv1.Role{}, &v1alpha1.TestClient{}, &v1alpha1.SandboxEnvironment{}} {
		if err := c.DeleteAllOf(c.Context(), obj, client.InNamespace(name)); err != nil {
			c.Fatal(err)
		}
	}
}

// Whoever deletes a watched namespace deletes the controller's Role in it too. Its ten sandboxes go, those of the other namespace
// work, and a controller that starts in the middle becomes ready.
func TestWatchedNamespaceIsDeleted(t *testing.T) {
	for name, restart := range map[string]bool{"while it runs": false, "while it is stopped": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			ends := c.secondNamespace()
			user := c.watched(c.namespace)
			c.watchedBy(ends, user)
			c.everywhere(user)
			c.startWatching(user, c.namespace, ends)
			var going []*v1alpha1.SandboxEnvironment
			for i := range 10 {
				sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Namespace, s.Name = ends, fmt.Sprintf("going-%d", i) })
				c.create(sandbox)
				going = append(going, sandbox)
			}
			for _, sandbox := range going {
				c.sandboxReady(sandbox)
			}
			if restart {
				c.stop()
			}
			c.endNamespace(ends)
			if restart {
				c.startWatching(user, c.namespace, ends)
			}
			c.isReady()
			for _, sandbox := range going {
				c.gone(sandbox)
			}
			stays := c.newSandbox()
			c.create(stays)
			c.sandboxReady(stays)
		})
	}
}

// A namespace without rights for the controller, as between its creation and that of its Role, holds up no other. It is served once
// the rights are there.
func TestForbiddenNamespaceHoldsUpNoOther(t *testing.T) {
	c := newCluster(t)
	later := c.secondNamespace()
	user := c.watched(c.namespace)
	c.startWatching(user, c.namespace, later)
	waits := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Namespace = later })
	c.create(waits)
	c.isReady()
	served := c.newSandbox()
	c.create(served)
	c.sandboxReady(served)
	if c.refresh(waits); len(waits.Status.Conditions) > 0 {
		t.Errorf("a sandbox is served without rights: %v", waits.Status.Conditions)
	}
	c.watchedBy(later, user)
	c.sandboxReady(waits)
}

// Without the rights of its Role, the controller lets no sandbox go whose Secret stays: only a namespace that ends takes it along.
func TestSandboxWaitsForTheRightToItsSecret(t *testing.T) {
	c := newCluster(t)
	user := c.watched(c.namespace)
	c.everywhere(user)
	c.startWatching(user, c.namespace)
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	for _, obj := range []client.Object{&rbacv1.RoleBinding{}, &rbacv1.Role{}} {
		if err := c.DeleteAllOf(t.Context(), obj, client.InNamespace(c.namespace)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Delete(t.Context(), sandbox); err != nil {
		t.Fatal(err)
	}
	c.until(func(ctx context.Context) string {
		if err := c.Get(ctx, client.ObjectKeyFromObject(sandbox), sandbox); apierrors.IsNotFound(err) {
			t.Fatal("the sandbox is gone, and its Secret stays")
		}
		said := message(sandbox.Status.Conditions, v1alpha1.ConditionCredentialsReady)
		if !slices.Contains(sandbox.Finalizers, v1alpha1.SandboxFinalizer) || !strings.Contains(said, "forbidden") {
			return "the condition says: " + said
		}
		return ""
	})
	c.watchedBy(c.namespace, user)
	c.gone(sandbox)
}
