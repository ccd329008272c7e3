package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/secrets"
)

// namespaceFile contains the namespace of a pod.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// bootstrapWithin bounds the retries of requests that the Kubernetes API refuses. RBAC rights and network policies may
// be created after the pod has started.
const (
	bootstrapWithin = 2 * time.Minute
	bootstrapPoll   = time.Second
)

type bootstrapOptions struct {
	kubeconfig          string
	namespace           string
	databaseSecret      string
	encryptionSecret    string
	encryptionSecretKey string
	pinSecret           string
	pinSecretKey        string
	credentialSecret    string
	credentialSecretKey string
	labels              map[string]string
}

func newBootstrapCommand() *cobra.Command {
	var o bootstrapOptions
	cmd := &cobra.Command{
		Use:   "bootstrap",
		Short: "Create the Secrets that an installation needs, if they are missing",
		Long: `Create the Secrets that an installation needs, if they are missing.

An existing Secret is never changed: run the command again with every upgrade. It
needs the RBAC rights to get these Secrets, and to create Secrets.`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBootstrap(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "path of a kubeconfig file; empty uses the service account of the pod")
	flags.StringVar(&o.namespace, "namespace", "", "namespace of the Secrets; empty uses the namespace of the pod")
	flags.StringVar(&o.databaseSecret, "database-secret", "",
		"name of the Secret with the passwords of the database users; empty creates none")
	flags.StringVar(&o.encryptionSecret, "encryption-secret", "",
		"name of the Secret with the key that encrypts stored secrets; empty creates none")
	flags.StringVar(&o.encryptionSecretKey, "encryption-secret-key", "keys", "key inside the Secret given by --encryption-secret")
	flags.StringVar(&o.pinSecret, "pin-secret", "", "name of the Secret with the RSA key that encrypts PINs; empty creates none")
	flags.StringVar(&o.pinSecretKey, "pin-secret-key", "pin.pem", "key inside the Secret given by --pin-secret")
	flags.StringVar(&o.credentialSecret, "credential-secret", "",
		"name of the Secret with the RSA key of the certificate for security credentials; empty creates none")
	flags.StringVar(&o.credentialSecretKey, "credential-secret-key", "credential.pem", "key inside the Secret given by --credential-secret")
	flags.StringToStringVar(&o.labels, "labels", nil, "labels of the Secrets that are created: name=value,name=value")
	return cmd
}

// wantedSecret is a Secret that must exist, with functions that generate its values.
type wantedSecret struct {
	name   string
	values map[string]func(random io.Reader) (string, error)
}

func (o bootstrapOptions) wantedSecrets() []wantedSecret {
	var wanted []wantedSecret
	if o.databaseSecret != "" {
		wanted = append(wanted, wantedSecret{o.databaseSecret, map[string]func(io.Reader) (string, error){
			"owner-password": newPassword, "api-password": newPassword, "worker-password": newPassword, "controller-password": newPassword,
		}})
	}
	if o.encryptionSecret != "" {
		wanted = append(wanted, wantedSecret{o.encryptionSecret, map[string]func(io.Reader) (string, error){
			o.encryptionSecretKey: newEncryptionKey,
		}})
	}
	if o.pinSecret != "" {
		wanted = append(wanted, wantedSecret{o.pinSecret, map[string]func(io.Reader) (string, error){o.pinSecretKey: secrets.NewRSAKey}})
	}
	if o.credentialSecret != "" {
		wanted = append(wanted, wantedSecret{o.credentialSecret, map[string]func(io.Reader) (string, error){
			o.credentialSecretKey: secrets.NewRSAKey,
		}})
	}
	return wanted
}

func runBootstrap(ctx context.Context, o bootstrapOptions) error {
	if o.namespace == "" {
		own, err := os.ReadFile(namespaceFile)
		if err != nil {
			return cli.Usage(errors.New("no namespace: pass --namespace when the command does not run in a pod"))
		}
		o.namespace = strings.TrimSpace(string(own))
	}
	config, err := clusterConfig(o.kubeconfig)
	if err != nil {
		return fmt.Errorf("finding the Kubernetes API: %w", err)
	}
	config.UserAgent = "cauri-bootstrap"
	b := &bootstrap{random: rand.Reader, options: o}
	waits := retry{within: bootstrapWithin, interval: bootstrapPoll, message: "cannot create the Secrets yet, retrying",
		transient: func(err error) bool {
			return !errors.Is(err, errIncomplete) && !apierrors.IsInvalid(err)
		}}
	return waits.run(ctx, func() (err error) {
		if b.cluster == nil { // created here, because creating a client sends requests that may fail
			if b.cluster, err = client.New(config, client.Options{Scheme: controllers.Scheme}); err != nil {
				return err
			}
		}
		return b.run(ctx)
	})
}

// bootstrap creates the missing Secrets of an installation.
type bootstrap struct {
	cluster client.Client
	random  io.Reader
	options bootstrapOptions
}

// errIncomplete is returned for an existing Secret without a required key. Only its owner can fix this.
var errIncomplete = errors.New("it is not changed: add the key, or delete the Secret if nothing was stored with it yet")

func (b *bootstrap) run(ctx context.Context) error {
	for _, wanted := range b.options.wantedSecrets() {
		if err := b.ensure(ctx, wanted); err != nil {
			return fmt.Errorf("the Secret %s/%s: %w", b.options.namespace, wanted.name, err)
		}
	}
	return nil
}

// ensure creates a Secret if it is missing. If another process creates it at the same time, ensure keeps that Secret.
func (b *bootstrap) ensure(ctx context.Context, wanted wantedSecret) error {
	existing := &corev1.Secret{}
	err := b.cluster.Get(ctx, client.ObjectKey{Namespace: b.options.namespace, Name: wanted.name}, existing)
	if err == nil {
		slog.InfoContext(ctx, "the Secret exists", "name", wanted.name)
		return wanted.check(existing)
	}
	if !apierrors.IsNotFound(err) {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: b.options.namespace, Name: wanted.name, Labels: b.options.labels,
			Annotations: map[string]string{"cauri.dev/note": "Created once, and never changed or removed by an upgrade or an uninstallation. " +
				"Keep a copy: the stored data depends on it."},
		},
		Data: map[string][]byte{},
	}
	for _, key := range slices.Sorted(maps.Keys(wanted.values)) {
		value, err := wanted.values[key](b.random)
		if err != nil {
			return err
		}
		secret.Data[key] = []byte(value)
	}
	if err := b.cluster.Create(ctx, secret); err != nil {
		return err
	}
	slog.InfoContext(ctx, "the Secret was created", "name", wanted.name)
	return nil
}

func (w wantedSecret) check(existing *corev1.Secret) error {
	for _, key := range slices.Sorted(maps.Keys(w.values)) {
		if len(existing.Data[key]) == 0 {
			return fmt.Errorf("it has no key %s; %w", key, errIncomplete)
		}
	}
	return nil
}

// newPassword returns a password of 192 random bits in hexadecimal.
func newPassword(random io.Reader) (string, error) {
	var password [24]byte
	if _, err := io.ReadFull(random, password[:]); err != nil {
		return "", fmt.Errorf("making a password: %w", err)
	}
	return hex.EncodeToString(password[:]), nil
}

// newEncryptionKey returns one line of the file for --encryption-key-file.
func newEncryptionKey(random io.Reader) (string, error) {
	var key [32]byte
	if _, err := io.ReadFull(random, key[:]); err != nil {
		return "", fmt.Errorf("making an encryption key: %w", err)
	}
	return base64.StdEncoding.EncodeToString(key[:]) + "\n", nil
}
