package sandboxenvironment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// The keys of a Secret with an operator's credentials.
const (
	secretKeyClientID        = "client_id"
	secretKeyClientSecret    = "client_secret"
	secretKeySubscriptionKey = "subscription_key" // optional, of MTN
	secretKeyMerchantKey     = "merchant_key"     // optional, of Orange
	secretKeyShortCode       = "short_code"       // optional, of M-Pesa
	secretKeyPasskey         = "passkey"          // optional, of M-Pesa
)

// requiredSecretKeys and optionalSecretKeys are the keys that are read.
var (
	requiredSecretKeys = []string{secretKeyClientID, secretKeyClientSecret}
	optionalSecretKeys = []string{secretKeySubscriptionKey, secretKeyMerchantKey, secretKeyShortCode, secretKeyPasskey}
)

// maxOperatorCredential is the maximum length of a value of one of these keys, in characters.
const maxOperatorCredential = 256

// operatorAccess returns the URLs and credentials with which the stores reach operators, and the first problem with a
// Secret of a store. err is an error of the API server. operatorAccess reads each Secret once from the API server,
// because the cache has only the controller's Secrets.
func (r *Reconciler) operatorAccess(
	ctx context.Context, sandbox *v1alpha1.SandboxEnvironment,
) (access []sandboxes.OperatorAccess, problem *OperatorProblem, err error) {
	type found struct {
		credentials *sandboxes.OperatorCredentials
		problem     *OperatorProblem
	}
	secrets := map[string]found{}
	for _, s := range sandbox.Spec.Stores {
		for _, o := range s.OperatorCredentials {
			name := o.SecretRef.Name
			f, read := secrets[name]
			if !read {
				f.credentials, err = r.readOperatorSecret(ctx, sandbox.Namespace, name)
				if err != nil && !errors.As(err, &f.problem) {
					return nil, nil, err
				}
				secrets[name] = f
			}
			if problem == nil {
				problem = cmp.Or(f.problem, r.addressProblem(o.BaseURL))
			}
			access = append(access, sandboxes.OperatorAccess{
				Store: s.Slug, Operator: payments.Operator(o.Operator), Country: payments.Country(o.Country), BaseURL: o.BaseURL,
				Credentials: f.credentials,
			})
		}
	}
	return access, problem, nil
}

// addressProblem returns why requests never reach an operator's API at a base URL; nil if they may.
func (r *Reconciler) addressProblem(baseURL string) *OperatorProblem {
	if baseURL == "" {
		return nil
	}
	err := r.Guard.CheckURL(baseURL)
	if err == nil {
		return nil
	}
	return &OperatorProblem{v1alpha1.ReasonOperatorAddressForbidden, fmt.Sprintf(
		"No request is ever sent to the baseURL %s: %s. Write the name of a service that Cauri may reach.", baseURL, err)}
}

// readOperatorSecret returns the credentials in a Secret. It returns an OperatorProblem if the Secret does not exist or
// has no valid credentials.
func (r *Reconciler) readOperatorSecret(ctx context.Context, namespace, name string) (*sandboxes.OperatorCredentials, error) {
	secret := &corev1.Secret{}
	err := r.APIReader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &OperatorProblem{v1alpha1.ReasonOperatorSecretNotFound, fmt.Sprintf(
			"The Secret %q does not exist in this namespace: create it with the keys %s and %s.", name, secretKeyClientID, secretKeyClientSecret)}
	case err != nil:
		return nil, &reconciler.FailedError{
			Reason: v1alpha1.ReasonCredentialsError,
			Cause:  fmt.Errorf("reading the Secret %q of stores[].operatorCredentials: %w", name, err),
		}
	case !mayBeRead(secret):
		return nil, &OperatorProblem{v1alpha1.ReasonSecretNotLabeled, labelToSet(secret, "stores[].operatorCredentials")}
	}
	return operatorCredentials(secret)
}

// operatorCredentials returns an operator's credentials in a Secret.
func operatorCredentials(secret *corev1.Secret) (*sandboxes.OperatorCredentials, error) {
	for _, key := range slices.Concat(requiredSecretKeys, optionalSecretKeys) {
		value, ok := secret.Data[key]
		if !ok && slices.Contains(optionalSecretKeys, key) {
			continue
		}
		if !ok {
			return nil, &OperatorProblem{
				v1alpha1.ReasonOperatorSecretNotFound,
				fmt.Sprintf("The Secret %q has no key %q: add it.", secret.Name, key),
			}
		}
		if !isCredential(value) {
			return nil, &OperatorProblem{v1alpha1.ReasonOperatorSecretInvalid, fmt.Sprintf(
				"The Secret %q holds an invalid value: write 1 to %d printable characters, without a line break, to its key %q.",
				secret.Name, maxOperatorCredential, key)}
		}
	}
	return &sandboxes.OperatorCredentials{
		ClientID:        string(secret.Data[secretKeyClientID]),
		ClientSecret:    string(secret.Data[secretKeyClientSecret]),
		SubscriptionKey: string(secret.Data[secretKeySubscriptionKey]),
		MerchantKey:     string(secret.Data[secretKeyMerchantKey]),
		ShortCode:       string(secret.Data[secretKeyShortCode]),
		Passkey:         string(secret.Data[secretKeyPasskey]),
	}, nil
}

func isCredential(value []byte) bool {
	n := utf8.RuneCount(value)
	if !utf8.Valid(value) || n < 1 || n > maxOperatorCredential {
		return false
	}
	for _, r := range string(value) {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
