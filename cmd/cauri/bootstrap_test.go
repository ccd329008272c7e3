package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/secrets"
)

func newBootstrap(cluster client.Client) *bootstrap {
	return &bootstrap{cluster: cluster, random: rand.Reader, options: bootstrapOptions{
		namespace: "cauri-system", databaseSecret: "cauri-database", encryptionSecret: "cauri-encryption", encryptionSecretKey: "keys",
		pinSecret: "cauri-pin-key", pinSecretKey: "pin.pem",
		credentialSecret: "cauri-credential-key", credentialSecretKey: "credential.pem",
		labels: map[string]string{"app.kubernetes.io/name": "cauri"},
	}}
}

func secretNamed(t *testing.T, cluster client.Client, name string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := cluster.Get(t.Context(), client.ObjectKey{Namespace: "cauri-system", Name: name}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

// Secrets are made once: everything that is run later leaves them.
func TestBootstrapMakesSecretsOnce(t *testing.T) {
	t.Parallel()
	cluster := fake.NewClientBuilder().WithScheme(controllers.Scheme).Build()
	if err := newBootstrap(cluster).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	database, encryption := secretNamed(t, cluster, "cauri-database"), secretNamed(t, cluster, "cauri-encryption")
	seen := map[string]bool{}
	for _, key := range []string{"owner-password", "api-password", "worker-password", "controller-password"} {
		password := string(database.Data[key])
		if len(password) != 48 || strings.Trim(password, "0123456789abcdef") != "" || seen[password] {
			t.Errorf("%s is %q", key, password)
		}
		seen[password] = true
	}
	if _, err := secrets.ParseKeyRing(string(encryption.Data["keys"])); err != nil {
		t.Errorf("the encryption key: %v", err)
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(encryption.Data["keys"]))); err != nil ||
		bytes.Equal(key, make([]byte, 32)) {
		t.Errorf("the encryption key is %q, %v", key, err)
	}
	if _, err := secrets.ParseRSAKey(string(secretNamed(t, cluster, "cauri-pin-key").Data["pin.pem"])); err != nil {
		t.Errorf("the key for PINs: %v", err)
	}
	credential := secretNamed(t, cluster, "cauri-credential-key").Data["credential.pem"]
	if _, err := secrets.ParseCredentialKey(string(credential)); err != nil ||
		bytes.Equal(credential, secretNamed(t, cluster, "cauri-pin-key").Data["pin.pem"]) {
		t.Errorf("the key for credentials, which is not the one for PINs: %v", err)
	}
	if encryption.Labels["app.kubernetes.io/name"] != "cauri" || len(encryption.OwnerReferences) > 0 ||
		!strings.Contains(encryption.Annotations["cauri.dev/note"], "Keep a copy") {
		t.Errorf("it is labelled %v, annotated %v", encryption.Labels, encryption.Annotations)
	}
	if err := newBootstrap(writesNothing(t, cluster)).run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(database, secretNamed(t, cluster, "cauri-database")); diff != "" {
		t.Error("a Secret was changed")
	}
}

// writesNothing is a cluster that fails the test when something is written to it.
func writesNothing(t *testing.T, cluster client.WithWatch) client.Client {
	return interceptor.NewClient(cluster, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			t.Errorf("%s is made", object.GetName())
			return nil
		},
		Update: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.UpdateOption) error {
			t.Errorf("%s is changed", object.GetName())
			return nil
		},
		Patch: func(_ context.Context, _ client.WithWatch, object client.Object, _ client.Patch, _ ...client.PatchOption) error {
			t.Errorf("%s is changed", object.GetName())
			return nil
		},
	})
}

// What somebody has brought is theirs to complete.
func TestBootstrapLeavesWhatIsIncomplete(t *testing.T) {
	t.Parallel()
	brought := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cauri-system", Name: "cauri-database"},
		Data:       map[string][]byte{"owner-password": []byte("brought-by-somebody"), "api-password": nil},
	}
	cluster := fake.NewClientBuilder().WithScheme(controllers.Scheme).WithObjects(brought).Build()
	err := newBootstrap(writesNothing(t, cluster)).run(t.Context())
	if !errors.Is(err, errIncomplete) || !strings.Contains(err.Error(), "cauri-system/cauri-database: it has no key api-password") ||
		strings.Contains(err.Error(), "brought-by") {
		t.Errorf("got %v", err)
	}
}

// Of two that run at the same time one makes the Secret, and the other one is told so and tries again.
func TestBootstrapBesideAnother(t *testing.T) {
	t.Parallel()
	var tries int
	cluster := interceptor.NewClient(fake.NewClientBuilder().WithScheme(controllers.Scheme).Build(), interceptor.Funcs{
		Create: func(ctx context.Context, cluster client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if tries++; tries == 1 {
				other := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: object.GetNamespace(), Name: object.GetName()},
					Data: map[string][]byte{
						"owner-password": {'1'}, "api-password": {'2'}, "worker-password": {'3'}, "controller-password": {'4'},
					}}
				if err := cluster.Create(ctx, other); err != nil {
					t.Error(err)
				}
				return apierrors.NewAlreadyExists(schema.GroupResource{Resource: "secrets"}, object.GetName())
			}
			return cluster.Create(ctx, object, options...)
		},
	})
	if err := newBootstrap(cluster).run(t.Context()); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the loser ends with %v", err)
	}
	if err := newBootstrap(cluster).run(t.Context()); err != nil {
		t.Errorf("the loser tries again: %v", err)
	}
	if got := secretNamed(t, cluster, "cauri-database").Data["api-password"]; string(got) != "2" {
		t.Errorf("the winner's password is %q now", got)
	}
}
