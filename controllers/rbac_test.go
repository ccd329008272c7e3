package controllers_test

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
)

// rulesIn are the rules of the one role of a kind in a file.
func rulesIn(t *testing.T, file, kind string) []rbacv1.PolicyRule {
	t.Helper()
	objects, err := readFiles(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range objects {
		var role rbacv1.ClusterRole
		if obj.GetKind() != kind {
			continue
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &role); err != nil {
			t.Fatal(err)
		}
		return role.Rules
	}
	t.Fatalf("there is no %s in %s", kind, file)
	return nil
}

func TestNamespacedRightsAreThoseOfTheClusterRole(t *testing.T) {
	t.Parallel()
	cluster := rulesIn(t, filepath.Join("..", "config", "rbac", "role.yaml"), "ClusterRole")
	namespaced := rulesIn(t, filepath.Join("..", "config", "namespaced", "watched", "role.yaml"), "Role")
	if diff := cmp.Diff(cluster, namespaced); diff != "" {
		t.Errorf(
			"copy the rules of the ClusterRole in config/rbac/role.yaml to config/namespaced/watched/role.yaml (-rbac +namespaced):\n%s", diff,
		)
	}
}

// requests is what a controller asks of the API server, "verb resource", how often, and whether it was forbidden.
type requests struct {
	mutex     sync.Mutex
	asked     map[string]int
	forbidden []string
}

// into has a client's requests noted.
func (r *requests) into(config *rest.Config) {
	r.asked = map[string]int{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(request *http.Request) (*http.Response, error) {
			answer, err := next.RoundTrip(request)
			r.mutex.Lock()
			defer r.mutex.Unlock()
			what := verbOf(request) + " " + resourceOf(request.URL.Path)
			r.asked[what]++
			if err == nil && answer.StatusCode == http.StatusForbidden {
				r.forbidden = append(r.forbidden, what+" "+request.URL.Path)
			}
			return answer, err
		})
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// resourceOf is "group/resource[/subresource]", the group empty for the core one.
func resourceOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	group, rest := "", parts[min(2, len(parts)):]
	if parts[0] == "apis" && len(parts) > 2 {
		group, rest = parts[1], parts[3:]
	}
	if len(rest) > 2 && rest[0] == "namespaces" {
		rest = rest[2:]
	}
	switch len(rest) {
	case 0:
		return ""
	case 3:
		return group + "/" + rest[0] + "/" + rest[2]
	}
	return group + "/" + rest[0]
}

func verbOf(r *http.Request) string {
	named := len(strings.Split(strings.Trim(strings.SplitN(r.URL.Path+"/namespaces/x", "/namespaces/", 3)[1], "/"), "/")) > 2
	switch {
	case r.Method == http.MethodGet && r.URL.Query().Has("watch"):
		return "watch"
	case r.Method == http.MethodGet && named:
		return "get"
	case r.Method == http.MethodGet:
		return "list"
	}
	return map[string]string{
		http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch", http.MethodDelete: "delete",
	}[r.Method]
}

// watched gives a user of the test's own the rights in a namespace that config/namespaced gives the controller.
func (c *cluster) watched(namespace string) (user string) {
	c.Helper()
	user = "system:serviceaccount:" + c.namespace + ":narrow"
	c.watchedBy(namespace, user)
	return user
}

// watchedBy gives a user these rights.
func (c *cluster) watchedBy(namespace, user string) {
	c.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "narrow"},
		Rules:      rulesIn(c.T, filepath.Join("..", "config", "namespaced", "watched", "role.yaml"), "Role"),
	}
	c.create(role)
	c.create(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "narrow"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	})
}

// aLife makes, changes and deletes a sandbox with a test client, and lets one go whose time is over by the controller's clock.
func (c *cluster) aLife(at *movedClock) {
	c.Helper()
	operator := c.newSecret("operator", map[string]string{"client_id": "id", "client_secret": "secret"})
	c.create(operator)
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Stores = []v1alpha1.Store{{Slug: "shop", OperatorCredentials: []v1alpha1.OperatorCredentials{
			{Operator: "mtn", Country: "RW", SecretRef: v1alpha1.LocalSecretReference{Name: operator.Name}},
		}}}
	})
	testClient := c.newTestClient("alice", "+250788000001")
	c.create(sandbox)
	c.create(testClient)
	c.testClientReady(testClient)
	edit(c, testClient, func(tc *v1alpha1.TestClient) { tc.Spec.Balance = 7 })
	c.testClientReady(testClient)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.KeyRotation = "1" })
	c.until(func(ctx context.Context) string {
		c.refresh(sandbox)
		if sandbox.Status.ObservedKeyRotation != "1" {
			return "the key is not rotated: " + message(sandbox.Status.Conditions, v1alpha1.ConditionReady)
		}
		return ""
	})
	first := sandbox.CredentialsSecretName()
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.CredentialsSecretName = "elsewhere" }) // the first is deleted
	c.until(func(ctx context.Context) string {
		err := c.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: first}, &corev1.Secret{})
		if !apierrors.IsNotFound(err) {
			return fmt.Sprintf("the Secret %s is still there (%v)", first, err)
		}
		return ""
	})
	c.delete(testClient)
	c.delete(sandbox)
	expectation := c.newExpectation(func(e *v1alpha1.Expectation) {
		e.Spec.SandboxRef.Name, e.Spec.TTL = "short", "1m"
	}, unreadable)
	c.create(expectation)
	c.expectationConditions(expectation, nil, failedBy("InvalidSpec")...)
	short := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Name, s.Spec.TTL = "short", "1m" })
	c.create(short)
	c.sandboxReady(short)
	at.forward(time.Hour)
	edit(c, short, func(s *v1alpha1.SandboxEnvironment) { s.Spec.LatencyPercent = new(int32(1)) }) // have it looked at
	c.gone(short)
	c.gone(expectation) // its sandbox's end has it looked at
}

const streamed = "a watch brings the first list too, from API servers that can do that; others are asked for it"

// notRequests are rights that no request shows, and what they are for.
var notRequests = map[string]string{
	"update cauri.dev/sandboxenvironments/finalizers": "the admission plugin OwnerReferencesPermissionEnforcement asks for it where a " +
		"Secret's owner is set",
	"list /secrets":                      streamed,
	"list cauri.dev/sandboxenvironments": streamed,
	"list cauri.dev/testclients":         streamed,
	"list cauri.dev/expectations":        streamed,
	"get cauri.dev/testclients":          "asked before the SIM of a TestClient is removed whose deletion nobody saw",
	"patch events.k8s.io/events":         "an event that happens again within six minutes is counted, not created again",
}

// The controller of the test runs as a user with the rights of config/rbac, and uses every one of them.
func TestEveryRightIsUsed(t *testing.T) {
	c := newCluster(t)
	var seen requests
	config := rest.CopyConfig(c.config)
	seen.into(config)
	c.config = config
	at := &movedClock{}
	c.start(withClock(at))
	c.aLife(at)
	c.stop()
	seen.mutex.Lock()
	defer seen.mutex.Unlock()
	if len(seen.forbidden) > 0 {
		t.Errorf("forbidden: %q", seen.forbidden)
	}
	for _, rule := range rulesIn(t, filepath.Join("..", "config", "rbac", "role.yaml"), "ClusterRole") {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				what := verb + " " + rule.APIGroups[0] + "/" + resource
				if seen.asked[what] == 0 && notRequests[what] == "" {
					t.Errorf("the right to %s is never used", what)
				}
			}
		}
	}
}

// With --watch-namespaces the rights in those namespaces are enough, and what is elsewhere is nothing to the controller.
func TestRightsInTheWatchedNamespacesAreEnough(t *testing.T) {
	c := newCluster(t)
	second := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	foreign := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	c.create(second)
	c.create(foreign)
	elsewhere := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Namespace = foreign.Name })
	c.create(elsewhere)
	user := c.watched(c.namespace)
	c.watched(second.Name)

	var seen requests
	config := rest.CopyConfig(c.config)
	seen.into(config)
	c.config = config
	at := &movedClock{}
	c.startAs(user, controllers.ManagerOptions(c.namespace, second.Name), withClock(at), func(o *controllers.Options) {
		o.Namespaces = []string{c.namespace, second.Name}
	})
	c.aLife(at)
	beside := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Namespace = second.Name })
	c.create(beside)
	c.sandboxReady(beside)
	c.stop()

	c.refresh(elsewhere)
	if len(elsewhere.Finalizers) > 0 || len(elsewhere.Status.Conditions) > 0 {
		t.Errorf("a sandbox of another namespace was touched: %v %v", elsewhere.Finalizers, elsewhere.Status.Conditions)
	}
	seen.mutex.Lock()
	defer seen.mutex.Unlock()
	if len(seen.forbidden) > 0 {
		t.Errorf("forbidden: %q", seen.forbidden)
	}
}

// What the roles for people give, and what they do not.
func TestViewAndEditRoles(t *testing.T) {
	c := newCluster(t)
	kinds := map[string]client.Object{
		"sandbox":    c.newSandbox(),
		"testclient": c.newTestClient("alice", "+250788000001"),
		"secret":     c.newSecret("mine", nil),
	}
	for _, obj := range kinds {
		c.create(obj)
	}
	as := func(role string) client.Client {
		user := role + "-of-" + c.namespace
		c.create(&rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
		})
		config := rest.CopyConfig(c.config)
		config.Impersonate = rest.ImpersonationConfig{UserName: user}
		found, err := client.New(config, client.Options{Scheme: controllers.Scheme})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	view, edit := as("cauri-view"), as("cauri-edit")
	c.until(func(ctx context.Context) string { // the authorizer follows bindings by a watch
		err := view.Get(ctx, client.ObjectKeyFromObject(kinds["sandbox"]), &v1alpha1.SandboxEnvironment{})
		if err == nil {
			err = edit.Create(ctx, c.newSandbox(), client.DryRunAll)
			err = client.IgnoreAlreadyExists(err)
		}
		if err != nil {
			return err.Error()
		}
		return ""
	})
	for name, obj := range kinds {
		secret := name == "secret"
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"a":"b"}}}`))
		tries := map[string]error{
			"view get":           view.Get(t.Context(), client.ObjectKeyFromObject(obj), obj.DeepCopyObject().(client.Object)),
			"view patch":         view.Patch(t.Context(), obj.DeepCopyObject().(client.Object), patch),
			"view delete":        view.Delete(t.Context(), obj.DeepCopyObject().(client.Object)),
			"edit patch":         edit.Patch(t.Context(), obj.DeepCopyObject().(client.Object), patch),
			"edit status":        edit.Status().Patch(t.Context(), obj.DeepCopyObject().(client.Object), patch),
			"edit delete dryrun": edit.Delete(t.Context(), obj.DeepCopyObject().(client.Object), client.DryRunAll),
		}
		allowed := []string{"view get", "edit patch", "edit delete dryrun"}
		for try, err := range tries {
			if want := !secret && slices.Contains(allowed, try); apierrors.IsForbidden(err) == want {
				t.Errorf("%s of a %s: got %v", try, name, err)
			}
		}
	}
}

func TestRolesForPeopleAreAggregated(t *testing.T) {
	t.Parallel()
	objects, err := readFiles(filepath.Join("..", "config", "rbac"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"cauri-view": "aggregate-to-view", "cauri-edit": "aggregate-to-edit aggregate-to-admin"}
	for _, obj := range objects {
		for label := range strings.FieldsSeq(want[obj.GetName()]) {
			if obj.GetLabels()["rbac.authorization.k8s.io/"+label] != "true" {
				t.Errorf("%s lacks the label %s", obj.GetName(), label)
			}
		}
		delete(want, obj.GetName())
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
}
