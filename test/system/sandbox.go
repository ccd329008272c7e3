package system

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Namespace is the namespace of all sandboxes.
const Namespace = "load"

// OpeningFloat is the initial float of a sandbox in Rwandan francs. The payouts of a test never exhaust it.
const OpeningFloat = 1_000_000_000

// Sandbox is a sandbox as its owner knows it.
type Sandbox struct {
	Config sandboxes.Config // the last applied configuration
	Key    string
	Secret string
	Tenant int64

	system *System
}

// AddSandbox creates a sandbox with one store, shop, and one environment, MTN in Rwanda, without latency. Its events go
// to url, with retries every second. With an empty url they are not sent. change modifies the configuration.
func (s *System) AddSandbox(ctx context.Context, name, url string, change ...func(*sandboxes.Config)) (*Sandbox, error) {
	sandbox := &Sandbox{system: s, Key: "cauri_sk_test_" + token(), Secret: secret(), Config: sandboxes.Config{
		UID: uuid.NewString(), Namespace: Namespace, Name: name,
		Environments: []sandboxes.EnvironmentConfig{{
			Operator: payments.MTN, Country: payments.Rwanda, Enabled: true,
			Terms: payments.Terms{CommissionBPS: 150, AbsorptionPct: 100}, UnknownPolicy: payments.Reject,
		}},
		Stores: []string{"shop"}, CallbackHosts: []string{"*"},
		OpeningFloat: map[payments.Currency]int64{payments.RWF: OpeningFloat},
	}}
	if url != "" {
		sandbox.Config.Webhook = &sandboxes.WebhookConfig{URL: url, Retry: sandboxes.RetryPolicy{
			MaxRetries: 100, InitialDelay: time.Second, Factor: 1, MaxDelay: time.Second,
		}}
	}
	if err := sandbox.Apply(ctx, change...); err != nil {
		return nil, err
	}
	credentials := sandboxes.Credentials{
		APIKeyHash: sha256.Sum256([]byte(sandbox.Key)), SigningSecret: sandbox.Secret, Native: nativeDigests(sandbox.Key),
	}
	if err := s.Sandboxes.ApplyCredentials(ctx, sandbox.Config.UID, credentials); err != nil {
		return nil, err
	}
	return sandbox, nil
}

// Adopt returns the sandbox that a controller created for the resource with a UID. key and secret come from its Secret.
func (s *System) Adopt(ctx context.Context, config sandboxes.Config, key, secret string) (*Sandbox, error) {
	sandbox := &Sandbox{system: s, Config: config, Key: key, Secret: secret}
	return sandbox, sandbox.findTenant(ctx)
}

// Apply changes the sandbox, like an edit of its resource.
func (s *Sandbox) Apply(ctx context.Context, change ...func(*sandboxes.Config)) error {
	for _, f := range change {
		f(&s.Config)
	}
	if _, err := s.system.Sandboxes.ApplySandbox(ctx, s.Config); err != nil {
		return err
	}
	return s.findTenant(ctx)
}

func (s *Sandbox) findTenant(ctx context.Context) error {
	err := s.system.SQL.QueryRow(ctx, "select tenant from organizations where resource_uid = $1", s.Config.UID).Scan(&s.Tenant)
	if err != nil {
		return fmt.Errorf("looking up the tenant of %s: %w", s.Config.Name, err)
	}
	return nil
}

// Payer is a SIM of the sandbox.
type Payer struct {
	MSISDN string
	config sandboxes.TestClientConfig
}

// AddPayer registers the n-th SIM of the sandbox, with a balance.
func (s *Sandbox) AddPayer(ctx context.Context, n int, behavior payments.Behavior, balance int64) (Payer, error) {
	payer := Payer{MSISDN: fmt.Sprintf("+25078%07d", n)}
	payer.config = sandboxes.TestClientConfig{
		UID: uuid.NewString(), Name: fmt.Sprintf("payer-%d", n), MSISDN: payer.MSISDN, Operator: payments.MTN,
		Country: payments.Rwanda, Behavior: behavior, Balance: balance,
	}
	_, err := s.system.Sandboxes.ApplyTestClient(ctx, s.Config.UID, payer.config)
	return payer, err
}

// secret generates a signing secret like the controller.
func secret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

func token() string {
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	return hex.EncodeToString(random)
}
