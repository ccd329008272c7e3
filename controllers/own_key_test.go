package controllers_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
)

// The keys of the tests.
const (
	firstOwnKey  = "cauri_sk_test_0123456789abcdefghijklmnopqrstuv"
	secondOwnKey = "cauri_sk_test_abcdefghijklmnopqrstuv0123456789ABC"
)

// withOwnKey names a Secret with the API key of a sandbox.
func withOwnKey(secret string) func(*v1alpha1.SandboxEnvironment) {
	return func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Credentials = &v1alpha1.Credentials{APIKeySecretRef: &v1alpha1.SecretKeyReference{Name: secret, Key: "key"}}
	}
}

// worksFor counts the sandboxes of a name for which an API key works without an end.
func (c *cluster) worksFor(key, sandbox string) int {
	c.Helper()
	hash := sha256.Sum256([]byte(key))
	return c.count(`select count(*) from api_keys k join organizations o using (tenant)
		where k.hash = $1 and o.name = $2 and k.expires_at is null`, hash[:], sandbox)
}

// hasKey waits until a sandbox has a key, in its credentials Secret and in the database.
func (c *cluster) hasKey(sandbox, key string) {
	c.Helper()
	c.until(func(context.Context) string {
		inSecret := string(c.secret(sandbox + "-credentials").Data["api-key"])
		if inSecret != key || c.worksFor(key, sandbox) != 1 {
			return fmt.Sprintf("the key of %s is another one", sandbox)
		}
		return ""
	})
}

// A key of the user's own works, a changed one takes effect with the grace of the former, and neither status nor event has it.
func TestOwnAPIKey(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(withOwnKey("ours"))
	c.create(sandbox)
	const steps = "SpecAccepted True Ready, DatabaseReady True Ready, CredentialsReady False %[1]s, Ready False %[1]s, Stalled True %[1]s"
	stalled := func(reason, told string) {
		t.Helper()
		c.sandboxConditions(sandbox, strings.Split(fmt.Sprintf(steps, reason), ", ")...)
		if got := message(sandbox.Status.Conditions, v1alpha1.ConditionReady); !strings.HasPrefix(got, told) {
			t.Errorf("it says %q", got)
		}
	}
	stalled("APIKeySecretNotFound", `spec.credentials.apiKeySecretRef: the Secret "ours" does not exist in this namespace: create it, or remove `+
		`apiKeySecretRef to have a value generated`)
	ours := c.newSecret("ours", map[string]string{"key": "cauri_sk_live_" + firstOwnKey[14:]})
	c.create(ours)
	stalled("APIKeySecretInvalid", `spec.credentials.apiKeySecretRef: the Secret "ours" holds an invalid value in its key "key": the API key is `)
	edit(c, ours, func(s *corev1.Secret) { s.StringData = map[string]string{"key": firstOwnKey + "\n"} })
	c.until(func(context.Context) string {
		c.refresh(sandbox)
		if got := message(sandbox.Status.Conditions, v1alpha1.ConditionReady); !strings.Contains(got, "ends with a line break") {
			return got
		}
		return ""
	})
	edit(c, ours, func(s *corev1.Secret) { s.StringData = map[string]string{"key": firstOwnKey} })
	c.sandboxReady(sandbox)
	c.hasKey("checkout", firstOwnKey)

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.KeyRotation = "no effect" })
	c.sandboxReady(sandbox)
	c.hasKey("checkout", firstOwnKey)
	edit(c, ours, func(s *corev1.Secret) { s.StringData = map[string]string{"key": secondOwnKey} })
	c.hasKey("checkout", secondOwnKey)
	hash := sha256.Sum256([]byte(firstOwnKey))
	if n := c.count("select count(*) from api_keys where hash = $1 and expires_at > now()", hash[:]); n != 1 {
		t.Error("the replaced key does not work for the grace period")
	}
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Credentials = nil })
	c.sandboxReady(sandbox)
	c.hasKey("checkout", secondOwnKey)

	var events corev1.EventList
	if err := c.List(t.Context(), &events); err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"the status": fmt.Sprintf("%+v", sandbox.Status), "the events": events.String(),
	} {
		if strings.Contains(text, firstOwnKey[14:]) || strings.Contains(text, secondOwnKey[14:]) {
			t.Errorf("%s shows the key", what)
		}
	}
}

// Of two sandboxes with one key, the second gets nothing: neither the key in its credentials Secret, nor an end of its own key. It
// gets the key when the first sandbox is gone.
func TestOwnAPIKeyOfAnotherSandbox(t *testing.T) {
	c := newCluster(t)
	c.start(func(o *controllers.Options) { o.Retry = 50 * time.Millisecond })
	c.create(c.newSecret("ours", map[string]string{"key": firstOwnKey}))
	first := c.newSandbox(withOwnKey("ours"))
	c.create(first)
	c.sandboxReady(first)
	running := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Name = "running" })
	c.create(running)
	c.sandboxReady(running)
	before := string(c.secret("running-credentials").Data["api-key"])
	edit(c, running, withOwnKey("ours"))
	fresh := c.newSandbox(withOwnKey("ours"), func(s *v1alpha1.SandboxEnvironment) { s.Name = "fresh" })
	c.create(fresh)
	for _, sandbox := range []*v1alpha1.SandboxEnvironment{running, fresh} {
		c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady False SecretConflict",
			"Ready False SecretConflict", "Stalled True SecretConflict")
		const want = `Another sandbox has the API key of the Secret "ours", which spec.credentials.apiKeySecretRef names: write another key to it. ` +
			"Each sandbox has a key of its own."
		if diff := cmp.Diff(want, message(sandbox.Status.Conditions, v1alpha1.ConditionReady)); diff != "" {
			t.Error(diff)
		}
	}
	c.hasKey("running", before)
	var secrets corev1.SecretList
	if err := c.List(t.Context(), &secrets); err != nil {
		t.Fatal(err)
	}
	for i := range secrets.Items {
		if s := &secrets.Items[i]; s.Namespace == c.namespace && s.Name == "fresh-credentials" {
			t.Error("a credentials Secret was written for a sandbox without a key")
		}
	}
	c.hasKey("checkout", firstOwnKey)

	c.delete(running)
	c.delete(first)
	c.sandboxReady(fresh)
	c.hasKey("fresh", firstOwnKey)
}

// The labels and annotations of the template are in the credentials Secret, follow the spec, and leave those of others alone.
func TestSecretTemplate(t *testing.T) {
	c := newCluster(t)
	c.start()
	type (
		labels      = map[string]v1alpha1.LabelValue
		annotations = map[string]v1alpha1.AnnotationValue
	)
	template := func(l labels, a annotations) func(*v1alpha1.SandboxEnvironment) {
		return func(s *v1alpha1.SandboxEnvironment) {
			s.Spec.Credentials = &v1alpha1.Credentials{SecretTemplate: &v1alpha1.SecretTemplate{Labels: l, Annotations: a}}
		}
	}
	sandbox := c.newSandbox(template(labels{"a": "1", "example.com/b": ""}, annotations{"c": "any text", "d": ""}))
	c.create(sandbox)
	c.sandboxReady(sandbox)
	has := func(wantedLabels, wantedAnnotations map[string]string) {
		t.Helper()
		c.until(func(context.Context) string {
			secret := c.secret("checkout-credentials")
			for name := range secret.Annotations {
				if strings.HasPrefix(name, "cauri.dev/") {
					delete(secret.Annotations, name)
				}
			}
			return cmp.Diff(wantedLabels, secret.Labels) + cmp.Diff(wantedAnnotations, secret.Annotations)
		})
	}
	own := map[string]string{"app.kubernetes.io/managed-by": "cauri", "cauri.dev/sandbox": "checkout"}
	and := func(more map[string]string) map[string]string {
		for name, value := range own {
			more[name] = value
		}
		return more
	}
	has(and(map[string]string{"a": "1", "example.com/b": ""}), map[string]string{"c": "any text", "d": ""})
	key := string(c.secret("checkout-credentials").Data["api-key"])

	edit(c, c.secret("checkout-credentials"), func(s *corev1.Secret) { s.Labels["x"], s.Annotations["y"] = "of-another", "of another" })
	edit(c, sandbox, template(labels{"a": "2"}, annotations{"e": "f"}))
	has(and(map[string]string{"a": "2", "x": "of-another"}), map[string]string{"e": "f", "y": "of another"})
	edit(c, c.secret("checkout-credentials"), func(s *corev1.Secret) { delete(s.Labels, "a"); s.Annotations["e"] = "edited" })
	has(and(map[string]string{"a": "2", "x": "of-another"}), map[string]string{"e": "f", "y": "of another"})
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Credentials = nil })
	has(and(map[string]string{"x": "of-another"}), map[string]string{"y": "of another"})
	c.hasKey("checkout", key)

	edit(c, sandbox, template(labels{"no name": "1"}, nil))
	c.sandboxConditions(sandbox, "SpecAccepted False InvalidSpec", "DatabaseReady True Ready", "CredentialsReady True Ready",
		"Ready False InvalidSpec", "Stalled True InvalidSpec")
	if got := message(sandbox.Status.Conditions, v1alpha1.ConditionReady); !strings.HasPrefix(got, `spec.credentials.secretTemplate.labels: Kubernetes refuses the name "no name": `) {
		t.Errorf("it says %q", got)
	}
}

// A sandbox without an enabled environment is ready, and says so.
func TestAllEnvironmentsDisabled(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		for i := range s.Spec.Environments {
			s.Spec.Environments[i].Enabled = new(false)
		}
	})
	c.create(sandbox)
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady True Ready", "Ready True NoEnvironmentEnabled")
	if got := columns(c.kubectl("get", "sbx", sandbox.Name)); !strings.Contains(got, "checkout  True  NoEnvironmentEnabled  ") {
		t.Errorf("kubectl get shows %s", got)
	}
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Environments[0].Enabled = nil })
	c.sandboxReady(sandbox)
}
