package controllers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

const credentialsName = "checkout-credentials"

// keyInSecret is the API key that stands in the credentials Secret.
func (c *cluster) keyInSecret() string { return string(c.secret(credentialsName).Data["api-key"]) }

func (c *cluster) secretInSecret() string {
	return string(c.secret(credentialsName).Data["webhook-signing-secret"])
}

// works tells for how many hours the database accepts a key.
func (c *cluster) works(key string) (hours string) {
	c.Helper()
	hash := sha256.Sum256([]byte(key))
	c.row(
		`select coalesce((select coalesce(round(extract(epoch from expires_at - now()) / 3600)::text, 'on') from api_keys where hash = `+
			`$1), 'off')`,
		[]any{hash[:]},
		&hours,
	)
	return hours
}

// issueReasons counts the events of the test's namespace by their reasons, without those of conditions.
func (c *cluster) issueReasons() map[string]int {
	c.Helper()
	var list eventsv1.EventList
	if err := c.List(c.Context(), &list, client.InNamespace(c.namespace)); err != nil {
		c.Fatal(err)
	}
	reasons := map[string]int{}
	for _, event := range list.Items {
		if event.Action == "IssueCredentials" {
			reasons[event.Reason]++
			if event.Series != nil {
				reasons[event.Reason] += int(event.Series.Count) - 1
			}
		}
	}
	return reasons
}

func withKeyRotation(value string, grace v1alpha1.Duration) func(*v1alpha1.SandboxEnvironment) {
	return func(s *v1alpha1.SandboxEnvironment) { s.Spec.KeyRotation, s.Spec.KeyRotationGrace = value, grace }
}

func withSecretRotation(value string) func(*v1alpha1.SandboxEnvironment) {
	return func(s *v1alpha1.SandboxEnvironment) {
		if s.Spec.Webhook == nil {
			s.Spec.Webhook = &v1alpha1.Webhook{URL: "http://shop.team.svc/webhooks"}
		}
		s.Spec.Webhook.SecretRotation = value
	}
}

func TestKeyRotation(t *testing.T) {
	type edits []func(*v1alpha1.SandboxEnvironment)
	for name, test := range map[string]struct {
		made     func(*v1alpha1.SandboxEnvironment)
		edits    edits
		keys     []string // how each key that ever stood in the Secret works, in order
		observed string
		reasons  map[string]int
	}{
		"the value that it is made with rotates nothing": {
			made: withKeyRotation("1", "24h"), keys: []string{"on"}, observed: "1", reasons: map[string]int{"APIKeyIssued": 1},
		},
		"a new value": {
			made: withKeyRotation("1", "24h"), edits: edits{withKeyRotation("2", "24h")},
			keys: []string{"24", "on"}, observed: "2", reasons: map[string]int{"APIKeyIssued": 1, "APIKeyRotated": 1},
		},
		"the first value": {
			edits: edits{withKeyRotation("1", "")},
			keys:  []string{"24", "on"}, observed: "1", reasons: map[string]int{"APIKeyIssued": 1, "APIKeyRotated": 1},
		},
		"back to an earlier value": {
			made: withKeyRotation("1", "24h"), edits: edits{withKeyRotation("2", "24h"), withKeyRotation("1", "10h")},
			keys: []string{"24", "10", "on"}, observed: "1", reasons: map[string]int{"APIKeyIssued": 1, "APIKeyRotated": 2},
		},
		"a grace of 0s revokes every older key": {
			edits: edits{withKeyRotation("1", "24h"), withKeyRotation("2", "0s")},
			keys:  []string{"off", "off", "on"}, observed: "2", reasons: map[string]int{"APIKeyIssued": 1, "APIKeyRotated": 2},
		},
		"a grace of 0s later": {
			edits: edits{withKeyRotation("1", "24h"), withKeyRotation("1", "0s")},
			keys:  []string{"off", "on"}, observed: "1", reasons: map[string]int{"APIKeyIssued": 1, "APIKeyRotated": 1},
		},
		"the value is taken away": {
			made: withKeyRotation("1", "24h"), edits: edits{withKeyRotation("", "24h")},
			keys: []string{"on"}, observed: "1", reasons: map[string]int{"APIKeyIssued": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start(func(o *controllers.Options) { o.Resync = 50 * time.Millisecond })
			sandbox := c.newSandbox()
			if test.made != nil {
				test.made(sandbox)
			}
			c.create(sandbox)
			c.sandboxReady(sandbox)
			seen := []string{c.keyInSecret()}
			for _, change := range test.edits {
				edit(c, sandbox, change)
				c.sandboxReady(sandbox)
				if key := c.keyInSecret(); key != seen[len(seen)-1] {
					seen = append(seen, key)
				}
			}
			rounds := c.database.count("ApplyCredentials")
			c.until(func(context.Context) string {
				if c.database.count("ApplyCredentials") < rounds+3 {
					return "the sandbox was not reconciled again"
				}
				return cmp.Diff(test.reasons, c.issueReasons())
			})
			c.refresh(sandbox)
			if sandbox.Status.ObservedKeyRotation != test.observed {
				t.Errorf("status.observedKeyRotation is %q, want %q", sandbox.Status.ObservedKeyRotation, test.observed)
			}
			var works []string
			for _, key := range seen {
				works = append(works, c.works(key))
			}
			if diff := cmp.Diff(test.keys, works); diff != "" {
				t.Errorf("keys: %s", diff)
			}
			if c.keyInSecret() != seen[len(seen)-1] {
				t.Error("there is yet another key")
			}
		})
	}
}

func TestLostSecretWhileTheKeyIsRotated(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(withKeyRotation("1", "24h"))
	c.create(sandbox)
	c.sandboxReady(sandbox)
	lost := c.secret(credentialsName)
	c.stop()
	c.delete(lost)
	edit(c, sandbox, withKeyRotation("2", "24h"))
	c.start()
	c.sandboxReady(sandbox)

	c.accepted([]byte(c.keyInSecret()))
	if c.keyInSecret() == string(lost.Data["api-key"]) || c.secretInSecret() != string(lost.Data["webhook-signing-secret"]) {
		t.Error("the key is the lost one, or the signing secret is not")
	}
	if sandbox.Status.ObservedKeyRotation != "2" {
		t.Errorf("status.observedKeyRotation is %q", sandbox.Status.ObservedKeyRotation)
	}
}

// TestSecretOfAnEarlierVersion has neither annotations nor values in the database.
func TestSecretOfAnEarlierVersion(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	before := c.secret(credentialsName)
	if before.Annotations != nil {
		t.Fatalf("there are annotations: %v", before.Annotations)
	}
	edit(c, sandbox, withKeyRotation("2026-11", "24h"))
	c.sandboxReady(sandbox)
	if got := c.works(string(before.Data["api-key"])); got != "24" {
		t.Errorf("the key before works %s", got)
	}
	hash := sha256.Sum256(before.Data["api-key"])
	want := map[string]string{"cauri.dev/key-rotation": "2026-11", "cauri.dev/key-replaces": fmt.Sprintf("%x", hash)}
	if diff := cmp.Diff(want, c.secret(credentialsName).Annotations); diff != "" {
		t.Error(diff)
	}
}

// TestTamperedAnnotations edits by hand what the controller goes by.
func TestTamperedAnnotations(t *testing.T) {
	for name, tamper := range map[string]func(map[string]string){
		"another key rotation":    func(a map[string]string) { a["cauri.dev/key-rotation"] = "9" },
		"no key rotation":         func(a map[string]string) { delete(a, "cauri.dev/key-rotation") },
		"another secret rotation": func(a map[string]string) { a["cauri.dev/secret-rotation"] = "9" },
		"no secret rotation":      func(a map[string]string) { delete(a, "cauri.dev/secret-rotation") },
		"no valid hash":           func(a map[string]string) { a["cauri.dev/key-replaces"] = "mine" },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start(func(o *controllers.Options) { o.Resync = 50 * time.Millisecond })
			sandbox := c.newSandbox(withKeyRotation("1", "24h"), withSecretRotation("1"))
			c.create(sandbox)
			c.sandboxReady(sandbox)
			before := c.secret(credentialsName)

			edit(c, before.DeepCopy(), func(s *corev1.Secret) { tamper(s.Annotations) })
			c.until(func(context.Context) string {
				annotations := c.secret(credentialsName).Annotations
				if annotations["cauri.dev/key-replaces"] == "" { // there is none: empty is as good as missing
					delete(annotations, "cauri.dev/key-replaces")
				}
				return cmp.Diff(before.Annotations, annotations)
			})
			put := c.secret(credentialsName)
			rounds := c.database.count("ApplyCredentials")
			c.until(func(context.Context) string {
				if c.database.count("ApplyCredentials") < rounds+3 {
					return "the sandbox was not reconciled again"
				}
				return ""
			})
			after := c.secret(credentialsName)
			if after.ResourceVersion != put.ResourceVersion {
				t.Error("the Secret is written again and again")
			}
			if diff := cmp.Diff(before.Data, after.Data); diff != "" {
				t.Error("something was rotated")
			}
			c.accepted(before.Data["api-key"])
		})
	}
}

// fault breaks one write of the controller: before it is done, or after, when only its answer is lost.
type fault struct {
	secret, database bool
	after            bool
	hits             *atomic.Int32
}

var errCrash = errors.New("crashed by the test")

func (f fault) around(write func() error) error {
	if f.after {
		if err := write(); err != nil {
			return err
		}
	}
	f.hits.Add(1)
	return errCrash
}

type crashingDatabase struct {
	reconciler.Database
	fault fault
}

func (d crashingDatabase) ApplyCredentials(ctx context.Context, uid string, credentials sandboxes.Credentials) error {
	return d.fault.around(func() error { return d.Database.ApplyCredentials(ctx, uid, credentials) })
}

type crashingClient struct {
	client.Client
	fault fault
}

func (c crashingClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return c.fault.around(func() error { return c.Client.Apply(ctx, obj, opts...) })
}

func (c crashingClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.fault.around(func() error { return c.Client.Create(ctx, obj, opts...) })
}

// startBroken starts a controller that meets the fault, and stops it when it has.
func (c *cluster) startBroken(f fault) {
	c.Helper()
	options := controllers.ManagerOptions(c.namespace)
	if f.secret {
		options.NewClient = func(config *rest.Config, o client.Options) (client.Client, error) {
			made, err := client.New(config, o)
			return crashingClient{made, f}, err
		}
	}
	c.startWith(options, func(o *controllers.Options) {
		if f.database {
			o.Database = crashingDatabase{c.database, f}
		}
	})
	c.until(func(context.Context) string {
		if f.hits.Load() == 0 {
			return "the fault was not met"
		}
		return ""
	})
	c.stop()
}

// TestRotationOutlivesACrash crashes at each of the writes of a rotation of both, and goes on with a new controller.
func TestRotationOutlivesACrash(t *testing.T) {
	for name, f := range map[string]fault{
		"before the Secret is written":             {secret: true},
		"before it is known that it was":           {secret: true, after: true},
		"before the database follows":              {database: true},
		"before it is known that the database did": {database: true, after: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.start()
			sandbox := c.newSandbox(withKeyRotation("1", "24h"), withSecretRotation("1"))
			c.create(sandbox)
			c.sandboxReady(sandbox)
			before := c.secret(credentialsName)
			c.stop()

			edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
				withKeyRotation("2", "24h")(s)
				withSecretRotation("2")(s)
			})
			f.hits = &atomic.Int32{}
			c.startBroken(f)
			crashed := c.secret(credentialsName)
			c.start()
			c.sandboxReady(sandbox)

			after := c.secret(credentialsName)
			if f.database || f.after {
				if diff := cmp.Diff(crashed.Data, after.Data); diff != "" {
					t.Error("what stood in the Secret after the crash was given up")
				}
			}
			if bytes.Equal(before.Data["api-key"], after.Data["api-key"]) ||
				bytes.Equal(before.Data["webhook-signing-secret"], after.Data["webhook-signing-secret"]) {
				t.Error("not everything was rotated")
			}
			if old, present := c.works(string(before.Data["api-key"])), c.works(string(after.Data["api-key"])); old != "24" || present != "on" {
				t.Errorf("the key before works %s, the new one %s", old, present)
			}
			if got := c.count("select count(*) from api_keys"); got != 2 {
				t.Errorf("there are %d keys", got)
			}
			if c.storedSigningSecret(sandbox) != string(after.Data["webhook-signing-secret"]) {
				t.Error("the database has another signing secret")
			}
			if got := c.count("select count(*) from organizations where previous_secret is not null and secret_rotation = '2'"); got != 1 {
				t.Error("the signing secret before does not sign on")
			}
		})
	}
}

// TestRotationsBeforeTheDatabaseFollows rotates twice while the database takes nothing: both keys get their grace.
func TestRotationsBeforeTheDatabaseFollows(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
	keys := []string{c.keyInSecret()}
	c.stop()
	for _, value := range []string{"1", "2"} {
		edit(c, sandbox, withKeyRotation(value, "24h"))
		c.startBroken(fault{database: true, hits: &atomic.Int32{}})
		if key := c.keyInSecret(); key != keys[len(keys)-1] {
			keys = append(keys, key)
		}
	}
	c.start()
	c.sandboxReady(sandbox)
	keys = append(keys, c.keyInSecret())
	var works []string
	for _, key := range keys {
		works = append(works, c.works(key))
	}
	if diff := cmp.Diff([]string{"24", "24", "on"}, works); diff != "" {
		t.Error(diff)
	}
}

// TestCrashWhileTheFirstCredentialsAreMade leaves a Secret that the database does not know.
func TestCrashWhileTheFirstCredentialsAreMade(t *testing.T) {
	c := newCluster(t)
	sandbox := c.newSandbox(withKeyRotation("1", "24h"), withSecretRotation("1"))
	c.create(sandbox)
	c.startBroken(fault{database: true, hits: &atomic.Int32{}})
	crashed := c.secret(credentialsName)
	c.start()
	c.sandboxReady(sandbox)
	if diff := cmp.Diff(crashed.Data, c.secret(credentialsName).Data); diff != "" {
		t.Error("the credentials were created again")
	}
	c.accepted(crashed.Data["api-key"])
	if c.storedSigningSecret(sandbox) != string(crashed.Data["webhook-signing-secret"]) {
		t.Error("the database has another signing secret")
	}
}

// TestTwoControllersRotateOnce has two of them at work at once, as when a leader does not know yet that it is none.
func TestTwoControllersRotateOnce(t *testing.T) {
	c := newCluster(t)
	for range 2 {
		c.start(func(o *controllers.Options) { o.Resync = 20 * time.Millisecond })
	}
	sandbox := c.newSandbox(withKeyRotation("0", "24h"))
	c.create(sandbox)
	c.sandboxReady(sandbox)
	const rotations = 8
	for i := range rotations {
		edit(c, sandbox, withKeyRotation(fmt.Sprint(i+1), "24h"))
		c.until(func(context.Context) string {
			c.refresh(sandbox)
			return cmp.Diff(fmt.Sprint(i+1), sandbox.Status.ObservedKeyRotation)
		})
	}
	c.sandboxReady(sandbox)
	if got := c.count("select count(*) from api_keys"); got != rotations+1 {
		t.Errorf("there are %d keys after %d rotations", got, rotations)
	}
	if got := c.works(c.keyInSecret()); got != "on" {
		t.Errorf("the key in the Secret works %s", got)
	}
	if diff := cmp.Diff(map[string]int{"APIKeyIssued": 1, "APIKeyRotated": rotations}, c.issueReasons()); diff != "" {
		c.until(func(context.Context) string { // events are written in the background
			return cmp.Diff(map[string]int{"APIKeyIssued": 1, "APIKeyRotated": rotations}, c.issueReasons())
		})
	}
}

func TestSigningSecretRotation(t *testing.T) {
	c := newCluster(t)
	c.start(func(o *controllers.Options) { o.Resync = 50 * time.Millisecond })
	mine := c.newSecret("mine", map[string]string{"whsec": "the first of my signing secrets"})
	c.create(mine)
	sandbox := c.newSandbox(withSecretRotation("1"))
	c.create(sandbox)
	c.sandboxReady(sandbox)
	first, key := c.secretInSecret(), c.keyInSecret()
	if got := c.count("select count(*) from organizations where previous_secret is not null"); got != 0 {
		t.Error("the first signing secret follows another one")
	}

	rotatedTimes := 0
	becomes := func(what string, changes bool, change func()) string {
		t.Helper()
		before := c.secretInSecret()
		c.row("update organizations set previous_secret = null, previous_secret_until = null returning 1", nil, new(int))
		change()
		if changes {
			rotatedTimes++
			c.until(func(context.Context) string {
				if c.secretInSecret() == before || c.storedSigningSecret(sandbox) != c.secretInSecret() {
					return what + ": the signing secret does not change"
				}
				return ""
			})
		}
		c.sandboxReady(sandbox)
		hours := 0
		c.row("select coalesce(round(extract(epoch from previous_secret_until - now()) / 3600), 0)::int from organizations", nil, &hours)
		if changes != (hours == 24) || changes != (c.secretInSecret() != before) {
			t.Errorf("%s: the one before signs on for %d h", what, hours)
		}
		return c.secretInSecret()
	}
	becomes("a new value", true, func() { edit(c, sandbox, withSecretRotation("2")) })
	becomes("no value", false, func() { edit(c, sandbox, withSecretRotation("")) })
	becomes("no webhook", false, func() { edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Webhook = nil }) })
	becomes("the value again", false, func() { edit(c, sandbox, withSecretRotation("2")) })
	becomes("the user's own", true, func() {
		edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
			s.Spec.Webhook.SigningSecretRef = &v1alpha1.SecretKeyReference{Name: "mine", Key: "whsec"}
		})
	})
	becomes("a new value of secretRotation beside the user's own", false, func() { edit(c, sandbox, withSecretRotation("3")) })
	becomes("the user's own changes", true, func() {
		edit(c, mine, func(s *corev1.Secret) { s.StringData = map[string]string{"whsec": "the second of my signing secrets"} })
	})
	last := becomes("a generated one again", true, func() {
		edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Webhook.SigningSecretRef = nil })
	})
	if last == first || !strings.HasPrefix(last, "whsec_") {
		t.Error("no new signing secret was generated")
	}
	if c.keyInSecret() != key {
		t.Error("the API key was rotated as well")
	}
	c.until(func(context.Context) string {
		return cmp.Diff(map[string]int{"APIKeyIssued": 1, "SigningSecretRotated": rotatedTimes}, c.issueReasons())
	})
}

// TestRotationStaysSecret looks for credentials, and their hashes, everywhere but in the Secret.
func TestRotationStaysSecret(t *testing.T) {
	c := newCluster(t)
	var mutex sync.Mutex
	var log strings.Builder
	options := controllers.ManagerOptions(c.namespace)
	// As --log-level=debug has it; at 8 the Kubernetes client logs what it sends, which no flag turns on.
	options.Logger = funcr.New(func(prefix, args string) {
		mutex.Lock()
		defer mutex.Unlock()
		fmt.Fprintln(&log, prefix, args)
	}, funcr.Options{Verbosity: 4})
	c.startWith(options)
	sandbox := c.newSandbox(withSecretRotation("1"))
	c.create(sandbox)
	c.sandboxReady(sandbox)
	secrets := []string{c.keyInSecret(), c.secretInSecret()}
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		withKeyRotation("2", "24h")(s)
		withSecretRotation("2")(s)
	})
	c.sandboxReady(sandbox)
	secrets = append(secrets, c.keyInSecret(), c.secretInSecret())
	c.stop()
	edit(c, sandbox, withKeyRotation("3", "0s"))
	for _, f := range []fault{{database: true}, {secret: true}} {
		f.hits = &atomic.Int32{}
		c.startBroken(f)
		secrets = append(secrets, c.keyInSecret(), c.secretInSecret())
		edit(c, sandbox, withKeyRotation("4", "0s"))
	}
	c.refresh(sandbox)

	var events eventsv1.EventList
	if err := c.List(t.Context(), &events, client.InNamespace(c.namespace)); err != nil {
		t.Fatal(err)
	}
	row := ""
	c.row(
		"select string_agg(o::text || encode(coalesce(signing_secret, ''), 'escape') || encode(coalesce(previous_secret, ''), 'escape'), ' "+
			"') from organizations o",
		nil,
		&row,
	)
	mutex.Lock()
	defer mutex.Unlock()
	if log.Len() == 0 {
		t.Error("nothing was logged, so that the test says nothing")
	}
	for _, secret := range secrets {
		for what, text := range map[string]string{
			"the status": fmt.Sprintf("%+v", sandbox), "an event": events.String(), "the log": log.String(), "the database": row,
		} {
			if strings.Contains(text, secret) || strings.Contains(text, fmt.Sprintf("%x", sha256.Sum256([]byte(secret)))) {
				t.Errorf("%s shows a credential", what)
			}
		}
	}
}
