package controllers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// accepted waits until the database accepts exactly this API key.
func (c *cluster) accepted(key []byte) {
	c.Helper()
	hash := sha256.Sum256(key)
	c.until(func(context.Context) string {
		if all, this := c.count("select count(*) from api_keys"), c.count("select count(*) from api_keys where hash = $1", hash[:]); all != 1 ||
			this != 1 {
			return fmt.Sprintf("the database accepts %d keys, and %d of them is the one of the Secret", all, this)
		}
		return ""
	})
}

// storedSigningSecret is the signing secret that the database has for a sandbox.
func (c *cluster) storedSigningSecret(sandbox *v1alpha1.SandboxEnvironment) string {
	c.Helper()
	stored, err := c.database.Database.StoredCredentials(c.Context(), string(sandbox.UID))
	if err != nil {
		c.Fatal(err)
	}
	return stored.SigningSecret
}

func TestCredentialsSecret(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)

	secret := c.secret("checkout-credentials")
	if secret.Type != "servicebinding.io/cauri" {
		t.Errorf("the Secret's type is %q", secret.Type)
	}
	if !metav1.IsControlledBy(secret, sandbox) {
		t.Error("the Secret does not belong to the sandbox")
	}
	got := map[string]string{}
	for key, value := range secret.Data {
		got[key] = string(value)
	}
	for key, form := range map[string]string{
		"api-key":                `^cauri_sk_test_[0-9A-Za-z]{32}$`,
		"webhook-signing-secret": `^whsec_[0-9A-Za-z+/]{43}=$`,
		"mtn-subscription-key":   `^[0-9a-f]{32}$`,
		"mtn-api-user":           `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`,
		"mtn-api-key":            `^[0-9a-f]{32}$`,
	} {
		if !regexp.MustCompile(form).MatchString(got[key]) {
			t.Errorf("%s has not the form %s", key, form)
		}
		delete(got, key)
	}
	want := map[string]string{
		"type": "cauri", "provider": "cauri", "host": "cauri.example", "port": "8080",
		"uri": baseURL + "/sandboxes/" + c.namespace + "/checkout", "organization-id": sandbox.Status.OrganizationID,
		"mtn-uri": baseURL + "/sandboxes/" + c.namespace + "/checkout/operators/mtn",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	c.accepted(secret.Data["api-key"])
	if c.storedSigningSecret(sandbox) != string(secret.Data["webhook-signing-secret"]) {
		t.Error("the database has another signing secret than the Secret")
	}
}

func TestLostSecret(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	lost := c.secret("checkout-credentials")

	if err := c.Delete(t.Context(), lost); err != nil {
		t.Fatal(err)
	}
	made := &corev1.Secret{}
	c.until(func(ctx context.Context) string {
		if err := c.Get(ctx, client.ObjectKeyFromObject(lost), made); err != nil {
			return err.Error()
		}
		if made.UID == lost.UID {
			return "the lost Secret is still there"
		}
		return ""
	})
	if string(made.Data["api-key"]) == string(lost.Data["api-key"]) {
		t.Error("the new Secret has the lost key")
	}
	if string(made.Data["webhook-signing-secret"]) != string(lost.Data["webhook-signing-secret"]) {
		t.Error("the new Secret has another signing secret")
	}
	c.accepted(made.Data["api-key"])
	c.sandboxReady(sandbox)
}

func TestRestartKeepsTheCredentials(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	before := c.secret("checkout-credentials")

	rounds := c.database.count("ApplyCredentials")
	c.restart()
	c.until(func(context.Context) string {
		if c.database.count("ApplyCredentials") == rounds {
			return "the new controller did not look at the sandbox"
		}
		return ""
	})
	c.stop()
	if after := c.secret("checkout-credentials"); after.ResourceVersion != before.ResourceVersion {
		t.Error("the Secret was written")
	}
	c.accepted(before.Data["api-key"])
}

// TestTamperedSecret edits the Secret by hand.
func TestTamperedSecret(t *testing.T) {
	const handmade = "cauri_sk_test_ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
	for name, test := range map[string]struct {
		tamper func(*corev1.Secret)
		want   func(before, after *corev1.Secret) string
	}{
		"another key's value is put back": {
			tamper: func(s *corev1.Secret) { s.Data["uri"] = []byte("http://elsewhere") },
			want:   func(before, after *corev1.Secret) string { return cmp.Diff(before.Data, after.Data) },
		},
		"the signing secret is put back": {
			tamper: func(s *corev1.Secret) { s.Data["webhook-signing-secret"] = []byte("mine") },
			want:   func(before, after *corev1.Secret) string { return cmp.Diff(before.Data, after.Data) },
		},
		"a deleted key is put back": {
			tamper: func(s *corev1.Secret) { delete(s.Data, "host") },
			want:   func(before, after *corev1.Secret) string { return cmp.Diff(before.Data, after.Data) },
		},
		"a label is put back": {
			tamper: func(s *corev1.Secret) { delete(s.Labels, "app.kubernetes.io/managed-by") },
			want:   func(before, after *corev1.Secret) string { return cmp.Diff(before.Labels, after.Labels) },
		},
		"an emptied API key is replaced": {
			tamper: func(s *corev1.Secret) { s.Data["api-key"] = nil },
			want: func(before, after *corev1.Secret) string {
				if key := string(after.Data["api-key"]); key == "" || key == string(before.Data["api-key"]) {
					return "there is no new key"
				}
				return ""
			},
		},
		"an API key put there by hand is accepted": {
			tamper: func(s *corev1.Secret) { s.Data["api-key"] = []byte(handmade) },
			want: func(_, after *corev1.Secret) string {
				return cmp.Diff(handmade, string(after.Data["api-key"]))
			},
		},
		"a key of the user's own is left alone": {
			tamper: func(s *corev1.Secret) { s.Data["note"] = []byte("mine") },
			want: func(_, after *corev1.Secret) string {
				return cmp.Diff("mine", string(after.Data["note"]))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start()
			sandbox := c.newSandbox()
			c.create(sandbox)
			c.sandboxReady(sandbox)
			before := c.secret("checkout-credentials")

			edit(c, before.DeepCopy(), test.tamper)
			c.until(func(context.Context) string { return test.want(before, c.secret("checkout-credentials")) })
			c.accepted(c.secret("checkout-credentials").Data["api-key"])
		})
	}
}

// A Secret that nobody can change into what it should be is created again, with the credentials that it holds.
func TestSecretThatCannotBeChanged(t *testing.T) {
	for name, test := range map[string]struct {
		replace func(*corev1.Secret)
		then    func(*v1alpha1.SandboxEnvironment)
		rotated bool
	}{
		"of another type":         {replace: func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }},
		"immutable and not right": {replace: func(s *corev1.Secret) { s.Immutable, s.Data["uri"] = new(true), []byte("http://elsewhere") }},
		"immutable and to rotate": {
			replace: func(s *corev1.Secret) { s.Immutable = new(true) }, then: withKeyRotation("1", "24h"), rotated: true,
		},
		"immutable, other type":    {replace: func(s *corev1.Secret) { s.Immutable, s.Type = new(true), corev1.SecretTypeOpaque }},
		"immutable, without label": {replace: func(s *corev1.Secret) { s.Immutable, s.Labels = new(true), map[string]string{} }},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start()
			sandbox := c.newSandbox()
			c.create(sandbox)
			c.sandboxReady(sandbox)
			c.stop()
			before := c.secret("checkout-credentials")
			replaced := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace:       before.Namespace,
				Name:            before.Name,
				Labels:          before.Labels,
				Annotations:     map[string]string{"mine": "too"},
				OwnerReferences: before.OwnerReferences,
			}, Type: before.Type, Data: before.DeepCopy().Data}
			replaced.Data["note"] = []byte("mine")
			test.replace(replaced)
			if err := c.Delete(t.Context(), before); err != nil {
				t.Fatal(err)
			}
			c.create(replaced)
			if test.then != nil {
				edit(c, sandbox, test.then)
			}
			c.start()

			c.until(func(context.Context) string {
				after := &corev1.Secret{}
				if err := c.Get(t.Context(), client.ObjectKeyFromObject(before), after); err != nil {
					return err.Error()
				}
				if after.UID == replaced.UID {
					return "it was not created again"
				}
				if after.Type != before.Type || after.Immutable != nil || after.Annotations["mine"] != "too" ||
					after.Labels["cauri.dev/sandbox"] != "checkout" {
					return fmt.Sprintf("it is %s, immutable %v, %v, %v", after.Type, after.Immutable, after.Annotations, after.Labels)
				}
				want := before.DeepCopy().Data
				want["note"] = []byte("mine")
				if test.rotated {
					if bytes.Equal(want["api-key"], after.Data["api-key"]) {
						return "the key was not rotated"
					}
					for _, key := range []string{"api-key", "mtn-api-key", "mtn-api-user", "mtn-subscription-key"} { // which follow from it
						want[key] = after.Data[key]
					}
				}
				return cmp.Diff(want, after.Data)
			})
			c.sandboxReady(sandbox)
			if !test.rotated { // else the key before is accepted too
				c.accepted(c.secret("checkout-credentials").Data["api-key"])
			}
		})
	}
}

// TestKeyOfAnotherSandbox pastes the key of one sandbox into the Secret of another.
func TestKeyOfAnotherSandbox(t *testing.T) {
	c := newCluster(t)
	c.start()
	first, second := c.newSandbox(), c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Name = "second" })
	for _, sandbox := range []*v1alpha1.SandboxEnvironment{first, second} {
		c.create(sandbox)
		c.sandboxReady(sandbox)
	}
	taken := c.secret("checkout-credentials").Data["api-key"]
	edit(c, c.secret("second-credentials"), func(s *corev1.Secret) { s.Data["api-key"] = taken })

	c.until(func(context.Context) string {
		if bytes.Equal(c.secret("second-credentials").Data["api-key"], taken) {
			return "the key of another sandbox stays"
		}
		return ""
	})
	c.sandboxReady(second)
	for name, key := range map[string][]byte{"checkout": taken, "second": c.secret("second-credentials").Data["api-key"]} {
		hash := sha256.Sum256(key)
		c.until(func(context.Context) string {
			if c.count("select count(*) from api_keys k join organizations o using (tenant) where k.hash = $1 and o.name = $2", hash[:], name) != 1 {
				return name + " does not have the key of its Secret"
			}
			return ""
		})
	}
	if got := c.count("select count(*) from api_keys"); got != 2 {
		t.Errorf("%d keys work", got)
	}
}

func TestForeignSecret(t *testing.T) {
	c := newCluster(t)
	c.start()
	foreign := c.newSecret("checkout-credentials", map[string]string{"mine": "untouched"})
	c.create(foreign)
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady False SecretConflict",
		"Ready False SecretConflict", "Stalled True SecretConflict")
	const want = `The Secret "checkout-credentials" already exists and does not belong to this sandbox. Cauri does not change it: ` +
		`delete it, or write another name to spec.credentialsSecretName.`
	if diff := cmp.Diff(want, message(sandbox.Status.Conditions, v1alpha1.ConditionReady)); diff != "" {
		t.Error(diff)
	}
	if now := c.secret("checkout-credentials"); now.ResourceVersion != foreign.ResourceVersion {
		t.Error("the foreign Secret was touched")
	}

	if err := c.Delete(t.Context(), foreign); err != nil {
		t.Fatal(err)
	}
	c.sandboxReady(sandbox)
	c.accepted(c.secret("checkout-credentials").Data["api-key"])
}

// What an earlier sandbox of the name left is told apart from what is somebody's: without its owner it stays, as after
// --cascade=orphan, and with it Kubernetes deletes it.
func TestSecretOfAnEarlierSandbox(t *testing.T) {
	c := newCluster(t)
	c.start()
	for name, left := range map[string]struct {
		owners []metav1.OwnerReference
		says   string
	}{
		"orphan": {nil, `The Secret "orphan-credentials" was left by an earlier sandbox, which was deleted with --cascade=orphan`},
		"former": {
			[]metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "SandboxEnvironment", Name: "former", UID: "of-an-earlier-one", Controller: new(true),
			}},
			`The Secret "former-credentials" belongs to an earlier sandbox of this name.`,
		},
	} {
		secret := c.newSecret(name+"-credentials", map[string]string{"api-key": "cauri_sk_test_0123456789abcdefghijklmnopqrstuv"})
		secret.Labels, secret.OwnerReferences = map[string]string{"app.kubernetes.io/managed-by": "cauri", "cauri.dev/sandbox": name}, left.owners
		c.create(secret)
		sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) { s.Name = name })
		c.create(sandbox)
		c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady False SecretConflict",
			"Ready False SecretConflict", "Stalled True SecretConflict")
		if got := message(sandbox.Status.Conditions, v1alpha1.ConditionReady); !strings.HasPrefix(got, left.says) {
			t.Errorf("it says %s", got)
		}
	}
}

// Two sandboxes with one Secret: the second one says whose it is.
func TestSecretOfAnotherSandbox(t *testing.T) {
	c := newCluster(t)
	c.start()
	first := c.newSandbox()
	c.create(first)
	c.sandboxReady(first)
	second := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Name, s.Spec.CredentialsSecretName = "second", first.CredentialsSecretName()
	})
	c.create(second)
	c.sandboxConditions(second, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady False SecretConflict",
		"Ready False SecretConflict", "Stalled True SecretConflict")
	const want = `The Secret "checkout-credentials" belongs to the SandboxEnvironment "checkout". Cauri does not change it: ` +
		`write another name to spec.credentialsSecretName.`
	if diff := cmp.Diff(want, message(second.Status.Conditions, v1alpha1.ConditionReady)); diff != "" {
		t.Error(diff)
	}
}

func TestCredentialsSecretName(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	before := c.secret("checkout-credentials")

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.CredentialsSecretName = "moved" })
	c.sandboxReady(sandbox)
	if diff := cmp.Diff(before.Data, c.secret("moved").Data); diff != "" {
		t.Error(diff)
	}
	if sandbox.Status.Binding.Name != "moved" {
		t.Errorf("status.binding names %q", sandbox.Status.Binding.Name)
	}
	c.gone(before)
	c.accepted(before.Data["api-key"])
}

func TestSigningSecretRef(t *testing.T) {
	const (
		good      = "correct horse battery staple"
		notReady  = "Ready False "
		stalled   = "Stalled True "
		spec      = "SpecAccepted True Ready"
		database  = "DatabaseReady True Ready"
		noSecret  = "CredentialsReady False SigningSecretNotFound"
		badSecret = "CredentialsReady False SigningSecretInvalid"
	)
	for name, test := range map[string]struct {
		data    map[string]string // nil: no Secret
		want    string
		message string
	}{
		"no Secret": {
			want: noSecret,
			message: `spec.webhook.signingSecretRef: the Secret "mine" does not exist in this namespace: create it, or remove ` +
				`signingSecretRef to have a value generated`,
		},
		"no such key": {
			data: map[string]string{"other": good}, want: noSecret,
			message: `spec.webhook.signingSecretRef: the Secret "mine" has no key "whsec": add it, or name another key`,
		},
		"too short": {
			data: map[string]string{"whsec": "hunter2"}, want: badSecret,
			message: `spec.webhook.signingSecretRef: the Secret "mine" holds an invalid value: write 16 to 256 printable characters to its ` +
				`key "whsec"; the value there has 7 characters`,
		},
		"a line break at the end": {
			data: map[string]string{"whsec": good + "\n"}, want: badSecret,
			message: `spec.webhook.signingSecretRef: the Secret "mine" holds an invalid value: write 16 to 256 printable characters to its ` +
				`key "whsec"; the value there ends with a line break, as files do: store it without one, for example with kubectl create secret ` +
				`generic --from-literal`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start()
			mine := c.newSecret("mine", test.data)
			if test.data != nil {
				c.create(mine)
			}
			sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
				s.Spec.Webhook = &v1alpha1.Webhook{
					URL:              "http://shop.team.svc/webhooks",
					SigningSecretRef: &v1alpha1.SecretKeyReference{Name: "mine", Key: "whsec"},
				}
			})
			c.create(sandbox)
			reason := regexp.MustCompile(`\w+$`).FindString(test.want)
			c.sandboxConditions(sandbox, spec, database, test.want, notReady+reason, stalled+reason)
			if diff := cmp.Diff(test.message, message(sandbox.Status.Conditions, v1alpha1.ConditionCredentialsReady)); diff != "" {
				t.Error(diff)
			}

			if test.data == nil {
				mine.StringData = map[string]string{"whsec": good}
				c.create(mine)
			} else {
				edit(c, mine, func(s *corev1.Secret) { s.StringData = map[string]string{"whsec": good} })
			}
			c.sandboxReady(sandbox)
			if got := string(c.secret("checkout-credentials").Data["webhook-signing-secret"]); got != good {
				t.Errorf("the credentials Secret has the signing secret %q", got)
			}
			if got := c.storedSigningSecret(sandbox); got != good {
				t.Errorf("the database has the signing secret %q", got)
			}
		})
	}
}

// Nothing is read from a Secret without the label, whichever field names it, and the reason says which label to set.
func TestSecretWithoutTheLabel(t *testing.T) {
	c := newCluster(t)
	c.start()
	const value = "a value that nobody may read"
	mine := c.newSecret("mine", map[string]string{"whsec": value})
	operator := c.newSecret("airtel", map[string]string{"client_id": value})
	for _, secret := range []*corev1.Secret{mine, operator} {
		secret.Labels = map[string]string{v1alpha1.SandboxMayReadLabel: "yes"}
		c.create(secret)
	}
	sandbox := c.newSandbox(withSecretRotation("1"), withOperators)
	sandbox.Spec.Webhook.SigningSecretRef = &v1alpha1.SecretKeyReference{Name: "mine", Key: "whsec"}
	c.create(sandbox)

	c.sandboxConditions(sandbox, "SpecAccepted True Ready", "DatabaseReady True Ready", "CredentialsReady False SecretNotLabeled",
		"Ready False SecretNotLabeled", "Stalled True SecretNotLabeled", "OperatorCredentialsReady False SecretNotLabeled")
	told := func(secret, field string) string {
		return fmt.Sprintf(`The Secret %q of %s does not have the label cauri.dev/sandbox-may-read: "true", without which no sandbox reads it. `+
			"Whoever may edit the Secret sets it: kubectl -n %s label secret %s cauri.dev/sandbox-may-read=true", secret, field, c.namespace, secret)
	}
	for condition, want := range map[string]string{
		v1alpha1.ConditionCredentialsReady:         told("mine", "spec.webhook.signingSecretRef"),
		v1alpha1.ConditionOperatorCredentialsReady: told("airtel", "stores[].operatorCredentials"),
	} {
		if diff := cmp.Diff(want, message(sandbox.Status.Conditions, condition)); diff != "" {
			t.Error(diff)
		}
	}
	if n := c.count("select count(*) from operator_credentials where sealed is not null"); n != 0 {
		t.Errorf("%d credentials are stored", n)
	}
	if got := c.storedSigningSecret(sandbox); got != "" {
		t.Error("a signing secret is stored")
	}

	for _, secret := range []*corev1.Secret{mine, operator} {
		edit(c, secret, func(s *corev1.Secret) {
			s.Labels[v1alpha1.SandboxMayReadLabel] = v1alpha1.SandboxMayRead
			s.StringData = map[string]string{"client_secret": value}
		})
	}
	c.sandboxConditions(sandbox, operatorConditions("True Ready")...)
	if got := c.storedSigningSecret(sandbox); got != value {
		t.Errorf("the database has the signing secret %q", got)
	}

	edit(c, operator, func(s *corev1.Secret) { s.Labels = nil })
	c.sandboxConditions(sandbox, operatorConditions("False SecretNotLabeled")...)
	if n := c.count("select count(*) from operator_credentials where sealed is not null"); n != 0 {
		t.Errorf("%d credentials are left", n)
	}
}

// TestSigningSecretFollows changes the user's own signing secret, and then leaves the reference out.
func TestSigningSecretFollows(t *testing.T) {
	c := newCluster(t)
	c.start()
	mine := c.newSecret("mine", map[string]string{"whsec": "the first of my signing secrets"})
	c.create(mine)
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Webhook = &v1alpha1.Webhook{
			URL:              "http://shop.team.svc/webhooks",
			SigningSecretRef: &v1alpha1.SecretKeyReference{Name: "mine", Key: "whsec"},
		}
	})
	c.create(sandbox)
	c.sandboxReady(sandbox)

	const second = "the second of my signing secrets"
	edit(c, mine, func(s *corev1.Secret) { s.StringData = map[string]string{"whsec": second} })
	c.until(func(context.Context) string { return cmp.Diff(second, c.storedSigningSecret(sandbox)) })

	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Webhook.SigningSecretRef = nil })
	c.sandboxReady(sandbox)
	generated := string(c.secret("checkout-credentials").Data["webhook-signing-secret"])
	if !regexp.MustCompile(`^whsec_`).MatchString(generated) || c.storedSigningSecret(sandbox) != generated {
		t.Error("no signing secret was generated in place of the user's own")
	}
}
