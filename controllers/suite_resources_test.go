package controllers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/ledgertest"
)

// newSandbox is a small sandbox named checkout.
func (c *cluster) newSandbox(change ...func(*v1alpha1.SandboxEnvironment)) *v1alpha1.SandboxEnvironment {
	sandbox := &v1alpha1.SandboxEnvironment{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "checkout"},
		Spec: v1alpha1.SandboxEnvironmentSpec{
			Environments: []v1alpha1.Environment{{Operator: "mtn", Country: "RW"}},
			OpeningFloat: []v1alpha1.Money{{Currency: "RWF", Amount: 1000}},
		},
	}
	for _, f := range change {
		f(sandbox)
	}
	return sandbox
}

// newTestClient is a customer of checkout.
func (c *cluster) newTestClient(name, msisdn string, change ...func(*v1alpha1.TestClient)) *v1alpha1.TestClient {
	testClient := &v1alpha1.TestClient{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name},
		Spec: v1alpha1.TestClientSpec{
			SandboxRef: v1alpha1.SandboxReference{Name: "checkout"},
			MSISDN:     msisdn,
			Balance:    500,
		},
	}
	for _, f := range change {
		f(testClient)
	}
	return testClient
}

func (c *cluster) create(obj client.Object) {
	c.Helper()
	if err := c.Create(c.Context(), obj); err != nil {
		c.Fatal(err)
	}
}

// edit changes an object as it stands in the API server now.
func edit[T client.Object](c *cluster, obj T, change func(T)) {
	c.Helper()
	c.refresh(obj)
	before := obj.DeepCopyObject().(client.Object)
	change(obj)
	if err := c.Patch(c.Context(), obj, client.MergeFrom(before)); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) refresh(obj client.Object) {
	c.Helper()
	if err := c.Get(c.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		c.Fatal(err)
	}
}

// delete deletes an object and waits until it is gone.
func (c *cluster) delete(obj client.Object) {
	c.Helper()
	if err := c.Delete(c.Context(), obj); err != nil {
		c.Fatal(err)
	}
	c.gone(obj)
}

func (c *cluster) gone(obj client.Object) {
	c.Helper()
	key, into := client.ObjectKeyFromObject(obj), obj.DeepCopyObject().(client.Object)
	c.until(func(ctx context.Context) string {
		if err := c.Get(ctx, key, into); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Sprintf("%s is still there (%v)", key, err)
		}
		return ""
	})
}

// until polls until check has nothing to complain of.
func (c *cluster) until(check func(context.Context) string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), deadline)
	defer cancel()
	for {
		complaint := check(ctx)
		if complaint == "" {
			return
		}
		select {
		case <-ctx.Done():
			c.Fatal(complaint)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// sandboxReady waits until a sandbox is ready for its present spec.
func (c *cluster) sandboxReady(sandbox *v1alpha1.SandboxEnvironment) {
	c.Helper()
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady True Ready", "Ready True Ready")
}

// sandboxConditions waits until a sandbox has exactly these conditions, written "type status reason", for its present spec.
// WebhookReady, which is no part of Ready, counts only where it is among them.
func (c *cluster) sandboxConditions(sandbox *v1alpha1.SandboxEnvironment, want ...string) {
	c.Helper()
	c.until(func(ctx context.Context) string {
		if err := c.Get(ctx, client.ObjectKeyFromObject(sandbox), sandbox); err != nil {
			return err.Error()
		}
		if sandbox.Status.ObservedGeneration != sandbox.Generation {
			return "the present generation was not observed"
		}
		got := inShort(sandbox.Status.Conditions)
		if !slices.ContainsFunc(want, isWebhookReady) {
			got = slices.DeleteFunc(got, isWebhookReady)
		}
		return cmp.Diff(want, got)
	})
}

func isWebhookReady(condition string) bool {
	return strings.HasPrefix(condition, v1alpha1.ConditionWebhookReady+" ")
}

func (c *cluster) testClientReady(testClient *v1alpha1.TestClient) {
	c.Helper()
	c.testClientConditions(testClient, "Ready True Ready")
}

// testClientConditions is as sandboxConditions.
func (c *cluster) testClientConditions(testClient *v1alpha1.TestClient, want ...string) {
	c.Helper()
	c.until(func(ctx context.Context) string {
		if err := c.Get(ctx, client.ObjectKeyFromObject(testClient), testClient); err != nil {
			return err.Error()
		}
		if testClient.Status.ObservedGeneration != testClient.Generation {
			return "the present generation was not observed"
		}
		return cmp.Diff(want, inShort(testClient.Status.Conditions))
	})
}

func inShort(conditions []metav1.Condition) []string {
	short := make([]string, len(conditions))
	for i, condition := range conditions {
		short[i] = fmt.Sprintf("%s %s %s", condition.Type, condition.Status, condition.Reason)
	}
	return short
}

// message is what a condition says.
func message(conditions []metav1.Condition, kind string) string {
	for _, condition := range conditions {
		if condition.Type == kind {
			return condition.Message
		}
	}
	return ""
}

// secret reads a Secret of the test's namespace.
func (c *cluster) secret(name string) *corev1.Secret {
	c.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}
	c.refresh(secret)
	return secret
}

// newSecret is a Secret of the user's that sandboxes may read.
func (c *cluster) newSecret(name string, data map[string]string) *corev1.Secret {
	labels := map[string]string{v1alpha1.SandboxMayReadLabel: v1alpha1.SandboxMayRead}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name, Labels: labels}, StringData: data}
}

// row reads one row of the test's database into values.
func (c *cluster) row(sql string, args []any, values ...any) {
	c.Helper()
	conn := ledgertest.Connect(c, c.databaseURL)
	if err := conn.QueryRow(c.Context(), sql, args...).Scan(values...); err != nil {
		c.Fatalf("%s: %v", sql, err)
	}
}

// count is the number that a query answers with.
func (c *cluster) count(sql string, args ...any) (n int) {
	c.Helper()
	c.row(sql, args, &n)
	return n
}
