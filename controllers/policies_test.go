package controllers_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// applyPolicy applies a file of config/gitops/policies and puts the test's namespace under it. It waits until the policy refuses a sandbox.
func (c *cluster) applyPolicy(file, label, value string, refused func(*v1alpha1.SandboxEnvironment)) {
	c.Helper()
	if err := applyFiles(c.config, filepath.Join("..", "config", "gitops", "policies", file)); err != nil {
		c.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace}}
	edit(c, namespace, func(n *corev1.Namespace) { n.Labels[label] = value })
	c.until(func(ctx context.Context) string {
		if err := c.Create(ctx, c.newSandbox(named("probe"), refused), client.DryRunAll); err == nil {
			return "the policy refuses nothing"
		}
		return ""
	})
}

func named(name string) func(*v1alpha1.SandboxEnvironment) {
	return func(s *v1alpha1.SandboxEnvironment) { s.Name = name }
}

// admits checks whether a sandbox is accepted, or refused with a message.
func (c *cluster) admits(change func(*v1alpha1.SandboxEnvironment), refusal string) {
	c.Helper()
	err := c.Create(c.Context(), c.newSandbox(named("asked"), change), client.DryRunAll)
	if refusal == "" && err != nil || refusal != "" && (err == nil || !strings.Contains(err.Error(), refusal)) {
		c.Errorf("the answer is %v, want %q", err, refusal)
	}
}

func TestPolicyRequireTTL(t *testing.T) {
	c := newCluster(t)
	before := c.newSandbox(named("before"))
	c.create(before)
	ttl := func(ttl v1alpha1.Duration) func(*v1alpha1.SandboxEnvironment) {
		return func(s *v1alpha1.SandboxEnvironment) { s.Spec.TTL = ttl }
	}
	c.applyPolicy("require-ttl.yaml", "cauri.dev/max-ttl", "24h", ttl(""))

	const refusal = "write a spec.ttl of at most 24h: sandboxes of this namespace delete themselves"
	c.admits(ttl(""), refusal)
	c.admits(ttl("24h1s"), refusal)
	c.admits(ttl("1.5h"), "")

	// A sandbox that was there goes on: the controller can write to it, and delete it.
	c.start()
	c.sandboxReady(before)
	changed := before.DeepCopy()
	changed.Spec.Suspend = true
	if err := c.Patch(t.Context(), changed, client.MergeFrom(before)); err == nil || !strings.Contains(err.Error(), refusal) {
		t.Errorf("a change without a ttl: %v", err)
	}
	c.delete(before)
}

func TestPolicyWebhookHosts(t *testing.T) {
	c := newCluster(t)
	services := v1alpha1.CallbackHost("*." + c.namespace + ".svc")
	callbacks := func(hosts ...v1alpha1.CallbackHost) func(*v1alpha1.SandboxEnvironment) {
		return func(s *v1alpha1.SandboxEnvironment) { s.Spec.CallbackHosts = hosts }
	}
	webhook := func(url string) func(*v1alpha1.SandboxEnvironment) {
		return func(s *v1alpha1.SandboxEnvironment) {
			s.Spec.Webhook, s.Spec.CallbackHosts = &v1alpha1.Webhook{URL: url}, []v1alpha1.CallbackHost{services}
		}
	}
	operator := func(url string) func(*v1alpha1.SandboxEnvironment) {
		return func(s *v1alpha1.SandboxEnvironment) {
			s.Spec.CallbackHosts = []v1alpha1.CallbackHost{services}
			s.Spec.Stores = []v1alpha1.Store{{Slug: "plain"}, {Slug: "shop", OperatorCredentials: []v1alpha1.OperatorCredentials{
				{Operator: "mtn", Country: "RW", SecretRef: v1alpha1.LocalSecretReference{Name: "mtn"}, BaseURL: url},
			}}}
		}
	}
	c.applyPolicy("webhook-hosts.yaml", "cauri.dev/webhook-hosts", "restricted", webhook("http://elsewhere.example/"))

	own := fmt.Sprintf("http://<service>.%s.svc/..., or with one of the hosts hooks.example.com", c.namespace)
	for url, allowed := range map[string]bool{
		"http://shop." + c.namespace + ".svc/webhooks":             true,
		"https://shop." + c.namespace + ".svc.cluster.local:8443/": true,
		"https://hooks.example.com/cauri":                          true,
		"http://shop.another-team.svc/webhooks":                    false,
		"https://hooks.example.com.evil.example/":                  false,
		"https://evil.example/shop." + c.namespace + ".svc":        false,
		"http://shop" + c.namespace + ".svc/":                      false,
		"http://evil.example?shop." + c.namespace + ".svc":         false,
		"http://10.0.0.1/":                                         false,
	} {
		if allowed {
			c.admits(webhook(url), "")
			c.admits(operator(url), "")
			continue
		}
		c.admits(webhook(url), "write a spec.webhook.url with a Service of this namespace, "+own)
		if !strings.Contains(url, "?") { // the schema refuses it before
			c.admits(operator(url), "write a baseURL with a Service of this namespace, "+own)
		}
	}
	for _, zone := range []string{"http://[::1%25x." + c.namespace + ".svc]/", "http://[::1%25hooks.example.com]/"} {
		c.admits(webhook(zone), "an address without a zone")
		c.admits(operator(zone), "an address without a zone")
	}
	c.admits(operator(""), "")

	c.admits(callbacks(services, "shop."+v1alpha1.CallbackHost(c.namespace)+".svc.cluster.local", "hooks.example.com"), "")
	for _, hosts := range [][]v1alpha1.CallbackHost{
		nil, {"*"}, {"10.0.0.1"}, {"*.example.com"}, {"*.hooks.example.com"}, {"*.svc"}, {"*" + v1alpha1.CallbackHost(c.namespace) + ".svc"},
		{services, "*.another-team.svc"},
	} {
		c.admits(callbacks(hosts...), "write spec.callbackHosts with Services of this namespace, such as *."+c.namespace+
			".svc, or with some of the hosts hooks.example.com: callbacks of operators' own APIs go nowhere else")
	}
}
