package sandboxenvironment

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/server/egress"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
	"github.com/cauri-dev/cauri/server/webhooks"
)

// The defaults of the schema. They apply to objects that were stored before the schema had the default.
const (
	defaultAbsorptionPct    = 100
	defaultLatencyPercent   = 100
	defaultMaxRetries       = 5
	defaultRetryFactor      = 5
	defaultInitialDelay     = "5s"
	defaultMaxDelay         = "1h"
	defaultPendingTimeout   = "60m"
	defaultKeyRotationGrace = "24h"
	noTTL                   = "0s" // used only to validate the ttl
)

// reconcileSpec converts the spec to the configuration for the database, and checks the limit of sandboxes.
func (r *Reconciler) reconcileSpec(ctx context.Context, sandbox *v1alpha1.SandboxEnvironment, seen *Observation) (err error) {
	if seen.Config, err = sandboxConfig(sandbox); err != nil {
		return err
	}
	if seen.Config.CallbackHosts == nil {
		seen.Config.CallbackHosts = r.CallbackHosts
	}
	if webhook := seen.Config.Webhook; webhook != nil {
		if refusal := webhooks.Refusal(r.Guard, webhook.URL); refusal != nil {
			webhook.Refusal = refusal.Error()
		}
	}
	if seen.Config.API.TestClients && r.MaxTestClients > 0 {
		seen.Config.API.MaxTestClients = new(int64(r.MaxTestClients))
	}
	seen.Progress.Unused = unused(sandbox, r.unusedCallbacks(sandbox, &seen.Config))
	if _, err = duration("spec.ttl", sandbox.Spec.TTL, noTTL); err != nil {
		return err
	}
	if seen.keyRotationGrace, err = duration("spec.keyRotationGrace", graceText(sandbox), ""); err != nil {
		return err
	}
	if err = checkSecretTemplate(sandbox); err != nil {
		return err
	}
	return r.checkLimit(ctx, sandbox)
}

// sandboxConfig converts the spec of a sandbox to a configuration. It returns a stalling error if the schema accepts
// the spec, but the spec is invalid.
func sandboxConfig(sandbox *v1alpha1.SandboxEnvironment) (sandboxes.Config, error) {
	spec := sandbox.Spec
	webhook, err := webhookConfig(spec.Webhook)
	if err != nil {
		return sandboxes.Config{}, err
	}
	pendingTimeout, err := duration("spec.pendingTimeout", spec.PendingTimeout, defaultPendingTimeout)
	if err != nil {
		return sandboxes.Config{}, err
	}
	clock, err := clockConfig(spec.Clock)
	if err != nil {
		return sandboxes.Config{}, err
	}
	faults, err := faultsConfig(spec.Faults)
	if err != nil {
		return sandboxes.Config{}, err
	}
	config := sandboxes.Config{
		UID:            string(sandbox.UID),
		Generation:     sandbox.Generation,
		Namespace:      sandbox.Namespace,
		Name:           sandbox.Name,
		OpeningFloat:   make(map[payments.Currency]int64, len(spec.OpeningFloat)),
		Webhook:        webhook,
		LatencyPercent: int(valueOr(spec.LatencyPercent, defaultLatencyPercent)),
		PendingTimeout: pendingTimeout,
		TestNumbers:    payments.TestNumberSet(spec.TestNumbers),
		Suspended:      spec.Suspend,
		Reset:          spec.Reset,
		Clock:          clock,
		Seed:           spec.Seed,
		Faults:         faults,
	}
	if spec.Quota != nil {
		config.MonthlyQuota = spec.Quota.MonthlyTransactions
	}
	if spec.API != nil {
		config.API = sandboxes.APIAccess{TestClients: spec.API.TestClients, Reset: spec.API.Reset, Faults: spec.API.Faults}
	}
	if spec.RateLimit != nil {
		config.RateLimit = spec.RateLimit.RequestsPerMinute
	}
	if config.CallbackHosts, err = callbackHosts(spec.CallbackHosts); err != nil {
		return sandboxes.Config{}, err
	}
	for _, environment := range spec.Environments {
		config.Environments = append(config.Environments, environmentConfig(environment))
	}
	for _, float := range spec.OpeningFloat {
		config.OpeningFloat[payments.Currency(float.Currency)] = float.Amount
	}
	for _, s := range spec.Stores {
		config.Stores = append(config.Stores, s.Slug)
	}
	if len(config.Stores) == 0 {
		config.Stores = []string{sandbox.Name}
	}
	return config, nil
}

func environmentConfig(environment v1alpha1.Environment) sandboxes.EnvironmentConfig {
	policy := payments.Reject
	if environment.UnknownMSISDNPolicy != "" {
		policy = payments.UnknownPolicy(environment.UnknownMSISDNPolicy)
	}
	return sandboxes.EnvironmentConfig{
		Operator: payments.Operator(environment.Operator),
		Country:  payments.Country(environment.Country),
		Enabled:  valueOr(environment.Enabled, true),
		Terms: payments.Terms{
			CommissionBPS: int(environment.CommissionBps),
			AbsorptionPct: int(valueOr(environment.MerchantAbsorptionPct, defaultAbsorptionPct)),
		},
		UnknownPolicy: policy,
		MaxAmount:     maxAmount(environment),
		Vague:         environment.Fidelity == vagueFidelity,
		Quirks:        quirks(environment.Quirks),
		CallbackURL:   environment.CallbackURL,
		CallbackHash:  environment.CallbackHash,
	}
}

// maxAmount returns the limit of an environment: that of the spec, or else the operator's own limit. It is nil if no source
// for the operator's limit is known.
func maxAmount(environment v1alpha1.Environment) *int64 {
	own := payments.Facts(payments.Operator(environment.Operator), payments.Country(environment.Country)).MaxAmount
	if environment.MaxAmount != nil || own == 0 {
		return environment.MaxAmount
	}
	return &own
}

// vagueFidelity is the fidelity of an environment whose failures have no specific reason.
const vagueFidelity = "Vague"

// quirks returns the quirks that the spec turns off. All quirks are on by default.
func quirks(q *v1alpha1.Quirks) map[string]bool {
	if q == nil {
		return nil
	}
	var ended map[string]bool
	for name, set := range q.Named() {
		if !valueOr(set, true) {
			if ended == nil {
				ended = map[string]bool{}
			}
			ended[name] = false
		}
	}
	return ended
}

func webhookConfig(webhook *v1alpha1.Webhook) (*sandboxes.WebhookConfig, error) {
	if webhook == nil {
		return nil, nil
	}
	policy := v1alpha1.RetryPolicy{}
	if webhook.RetryPolicy != nil {
		policy = *webhook.RetryPolicy
	}
	initial, err := duration("spec.webhook.retryPolicy.initialDelay", policy.InitialDelay, defaultInitialDelay)
	if err != nil {
		return nil, err
	}
	longest, err := duration("spec.webhook.retryPolicy.maxDelay", policy.MaxDelay, defaultMaxDelay)
	if err != nil {
		return nil, err
	}
	return &sandboxes.WebhookConfig{
		URL: webhook.URL,
		Retry: sandboxes.RetryPolicy{
			MaxRetries:   int(valueOr(policy.MaxRetries, defaultMaxRetries)),
			InitialDelay: initial,
			Factor:       float64(valueOr(policy.Factor, defaultRetryFactor)),
			MaxDelay:     longest,
		},
		Types: eventTypes(webhook.Events),
	}, nil
}

// eventTypes returns the types of transactions whose events are sent, in a fixed order. If the spec names none, it
// returns all types.
func eventTypes(names []v1alpha1.WebhookEvent) []payments.Type {
	if len(names) == 0 {
		return payments.Types
	}
	return slices.DeleteFunc(slices.Clone(payments.Types), func(t payments.Type) bool {
		return !slices.Contains(names, v1alpha1.WebhookEvent(t.Event()))
	})
}

// duration parses a duration of the spec. If text is empty, it parses the parameter unset instead.
func duration(field string, text, unset v1alpha1.Duration) (time.Duration, error) {
	if text == "" {
		text = unset
	}
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return 0, &reconciler.StallingError{
			Reason: v1alpha1.ReasonInvalidSpec,
			Message: fmt.Sprintf(
				"%s: write a duration in hours, minutes, seconds and milliseconds, such as 500ms, 1m30s or 24h; 7 days are 168h, not %q", field, text,
			),
		}
	}
	return d, nil
}

// valueOr returns *p. If p is nil, it returns the parameter unset.
func valueOr[T any](p *T, unset T) T {
	if p == nil {
		return unset
	}
	return *p
}

// callbackHosts returns a stalling error for an address that no installation sends to, in a form that the schema does not
// know, such as an IPv4 address within an IPv6 address.
func callbackHosts(listed []v1alpha1.CallbackHost) (hosts []string, err error) {
	for i, host := range listed {
		at := url.URL{Scheme: "http", Host: net.JoinHostPort(string(host), "80")}
		if err := (egress.Guard{AllowLoopback: true}).CheckURL(at.String()); err != nil && !strings.Contains(string(host), "*") {
			return nil, &reconciler.StallingError{Reason: v1alpha1.ReasonInvalidSpec, Message: fmt.Sprintf(
				"spec.callbackHosts[%d]: nothing is ever sent to %s: %s. Write the name of a host, or its address.", i, host, err)}
		}
		hosts = append(hosts, string(host))
	}
	return hosts, nil
}

// unused returns a space and a sentence about floats, operators' credentials and faults whose environment or store does
// not exist in the spec, and about callbacks. It returns "" if all are used. A missing environment is no error, because it
// may be added later.
func unused(sandbox *v1alpha1.SandboxEnvironment, callbacks []string) string {
	found := slices.Concat(unusedMoney(sandbox.Spec), unusedFaults(sandbox), callbacks)
	if len(found) == 0 {
		return ""
	}
	return " Not used: " + strings.Join(found, ", ") + "."
}

// unusedCallbacks names the URLs of callbacks to which nothing is ever sent.
func (r *Reconciler) unusedCallbacks(sandbox *v1alpha1.SandboxEnvironment, config *sandboxes.Config) (found []string) {
	rules := operatorapi.CallbackRules{Hosts: config.CallbackHosts, Namespace: sandbox.Namespace}
	if config.Webhook != nil {
		rules.WebhookHost = config.Webhook.Host()
	}
	for i, e := range sandbox.Spec.Environments {
		if e.CallbackURL == "" {
			continue
		}
		guard := r.Guard
		allowed, publicOnly := rules.Allow(e.CallbackURL)
		guard.PublicOnly = publicOnly
		if err := guard.CheckURL(e.CallbackURL); !allowed {
			found = append(found, fmt.Sprintf("spec.environments[%d].callbackURL (spec.callbackHosts does not allow its host)", i))
		} else if err != nil {
			found = append(found, fmt.Sprintf("spec.environments[%d].callbackURL (%s)", i, err))
		}
	}
	return found
}

func unusedFaults(sandbox *v1alpha1.SandboxEnvironment) (found []string) {
	spec := sandbox.Spec
	for i, fault := range spec.Faults {
		when := valueOr(fault.When, v1alpha1.FaultCondition{})
		if !slices.ContainsFunc(spec.Environments, func(e v1alpha1.Environment) bool {
			return (when.Operator == "" || when.Operator == e.Operator) && (when.Country == "" || when.Country == e.Country)
		}) {
			market := strings.TrimSpace(fmt.Sprintf("%s %s", when.Operator, when.Country))
			found = append(found, fmt.Sprintf("spec.faults[%d] (there is no environment %s)", i, market))
		}
		known := slices.ContainsFunc(spec.Stores, func(s v1alpha1.Store) bool { return s.Slug == when.Store }) ||
			len(spec.Stores) == 0 && when.Store == sandbox.Name
		if when.Store != "" && !known {
			found = append(found, fmt.Sprintf("spec.faults[%d] (there is no store %s)", i, when.Store))
		}
	}
	return found
}

func unusedMoney(spec v1alpha1.SandboxEnvironmentSpec) (found []string) {
	for i, float := range spec.OpeningFloat {
		if !slices.ContainsFunc(spec.Environments, func(e v1alpha1.Environment) bool {
			currency, _ := payments.Country(e.Country).Currency()
			return string(currency) == string(float.Currency)
		}) {
			found = append(found, fmt.Sprintf("spec.openingFloat[%d] (no environment has the currency %s)", i, float.Currency))
		}
	}
	for i, store := range spec.Stores {
		for j, c := range store.OperatorCredentials {
			if !slices.ContainsFunc(
				spec.Environments, func(e v1alpha1.Environment) bool { return e.Operator == c.Operator && e.Country == c.Country },
			) {
				found = append(
					found, fmt.Sprintf("spec.stores[%d].operatorCredentials[%d] (there is no environment %s in %s)", i, j, c.Operator, c.Country),
				)
			}
		}
	}
	return found
}

// graceText returns the text of the grace in the spec, or the default.
func graceText(sandbox *v1alpha1.SandboxEnvironment) v1alpha1.Duration {
	return cmp.Or(sandbox.Spec.KeyRotationGrace, defaultKeyRotationGrace)
}
