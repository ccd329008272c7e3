package testclient

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers/reconciler"
	"github.com/cauri-dev/cauri/controllers/resync"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// reconcileRegistration registers the SIM with its sandbox.
func (r *Reconciler) reconcileRegistration(ctx context.Context, testClient *v1alpha1.TestClient) (seen Observation) {
	sandbox, err := reconciler.FindSandbox(ctx, r, sandboxOf(testClient), "TestClient")
	if seen.config, seen.Err = SIMConfig(sandbox, testClient); seen.Err != nil {
		return seen
	}
	if err != nil {
		seen.Err = err
		seen.unregistered = reconciler.IsWaiting(err)
		return seen
	}
	if seen.Err = r.checkLimit(ctx, testClient); seen.Err != nil {
		seen.unregistered = reconciler.IsStalling(seen.Err)
		return seen
	}
	if seen.Err = r.Gate.Check(ctx, resync.OfTestClient(testClient)); seen.Err != nil {
		return seen
	}
	state, err := r.register(ctx, testClient, sandbox, seen.config)
	if err != nil {
		seen.Err = registrationFailure(testClient, err)
		seen.unregistered = reconciler.IsStalling(seen.Err) || errors.Is(err, sandboxes.ErrNoOrganization) ||
			errors.As(err, new(sandboxes.ErrRegistryFull))
		return seen
	}
	seen.state, seen.unused = &state, unusedNumber(sandbox.Spec, seen.config)
	return seen
}

// unusedNumber returns a space and a sentence if the sandbox has no environment for the number's operator and country;
// otherwise "". A missing environment is no error, because it may be added later.
func unusedNumber(spec v1alpha1.SandboxEnvironmentSpec, config sandboxes.TestClientConfig) string {
	for _, e := range spec.Environments {
		if string(e.Operator) == string(config.Operator) && string(e.Country) == string(config.Country) {
			return ""
		}
	}
	return fmt.Sprintf(" Not used: spec.msisdn (the sandbox has no environment %s in %s).", config.Operator, config.Country)
}

// register applies the SIM to the database. If another SIM has the number, and the TestClient of that SIM no longer
// exists, register deletes that SIM first.
func (r *Reconciler) register(
	ctx context.Context, testClient *v1alpha1.TestClient, sandbox *v1alpha1.SandboxEnvironment, config sandboxes.TestClientConfig,
) (sandboxes.TestClientState, error) {
	apply := func(rolledBack int64) (sandboxes.TestClientState, error) {
		config.RolledBack, config.Limit = rolledBack, r.Limit.Max
		return r.Database.ApplyTestClient(ctx, string(sandbox.UID), config)
	}
	state, err := reconciler.ApplyCurrent(ctx, r.APIReader, testClient, apply)
	var duplicate sandboxes.ErrDuplicateMSISDN
	if !errors.As(err, &duplicate) {
		return state, err
	}
	exists, lookup := r.exists(ctx, testClient.Namespace, duplicate)
	switch {
	case lookup != nil:
		return state, &reconciler.FailedError{Reason: v1alpha1.ReasonRetrying, Cause: lookup}
	case exists:
		return state, err
	}
	if err := r.Database.DeleteTestClient(ctx, duplicate.HolderUID); err != nil {
		return state, err
	}
	return reconciler.ApplyCurrent(ctx, r.APIReader, testClient, apply)
}

// exists reports whether the TestClient that holds a number still exists. A SIM may outlive its TestClient for a moment.
// Before exists returns false, it asks the API server, because the cache may be stale.
func (r *Reconciler) exists(ctx context.Context, namespace string, holder sandboxes.ErrDuplicateMSISDN) (bool, error) {
	key := client.ObjectKey{Namespace: namespace, Name: holder.Holder}
	for _, reader := range []client.Reader{r.Client, r.APIReader} {
		found := &v1alpha1.TestClient{}
		err := reader.Get(ctx, key, found)
		switch {
		case err == nil && string(found.UID) == holder.HolderUID:
			return true, nil
		case client.IgnoreNotFound(err) != nil:
			return false, fmt.Errorf("looking for the TestClient %q, which has the number: %w", holder.Holder, err)
		}
	}
	return false, nil
}

// registrationFailure returns the step error for an error of the database.
func registrationFailure(testClient *v1alpha1.TestClient, err error) error {
	var duplicate sandboxes.ErrDuplicateMSISDN
	var full sandboxes.ErrRegistryFull
	switch {
	case errors.As(err, &duplicate):
		return &reconciler.StallingError{
			Reason: v1alpha1.ReasonDuplicateMSISDN,
			Message: fmt.Sprintf(
				"The TestClient %q of this sandbox already has the number %s: delete %[1]q, and this one takes the number, or create this one "+
					"again with another number.", duplicate.Holder, testClient.Spec.MSISDN,
			),
		}
	case errors.As(err, &full):
		return &reconciler.StallingError{
			Reason: v1alpha1.ReasonLimitExceeded, Polled: true, // no watch reports the test clients of the API
			Message: fmt.Sprintf(
				"The sandbox has as many test clients as Cauri allows, %d of them made through the API: delete one of these with "+
					"DELETE /v1/test_clients/{msisdn}. The TestClient waits for it.", full.ByAPI,
			),
		}
	case errors.Is(err, sandboxes.ErrNoOrganization):
		return reconciler.SandboxNotReady(testClient.Spec.SandboxRef.Name, "TestClient")
	default:
		return reconciler.DatabaseFailure(err)
	}
}

// knownIn returns what a sandbox knows of the table of markets, and how its TestClient was registered, so that one stays so whose
// environment is removed. nil stands for a sandbox that is not there yet: everything is known to it.
func knownIn(sandbox *v1alpha1.SandboxEnvironment, testClient *v1alpha1.TestClient) *payments.Known {
	if sandbox == nil {
		return nil
	}
	return payments.KnownWith(func(o payments.Operator, c payments.Country) bool {
		is := func(operator v1alpha1.Operator, country v1alpha1.Country) bool {
			return string(operator) == string(o) && string(country) == string(c)
		}
		return is(testClient.Status.Operator, testClient.Status.Country) ||
			slices.ContainsFunc(sandbox.Spec.Environments, func(e v1alpha1.Environment) bool { return is(e.Operator, e.Country) })
	})
}

// RegisteredSIM is [SIMConfig] for a TestClient that its sandbox may have registered before.
func RegisteredSIM(testClient *v1alpha1.TestClient) (sandboxes.TestClientConfig, error) {
	return SIMConfig(&v1alpha1.SandboxEnvironment{}, testClient)
}

// SIMConfig converts a TestClient's spec to the configuration of a SIM in a sandbox; nil: one that is not there yet. It returns
// a stalling error if neither the spec nor the number determines the operator or the country.
func SIMConfig(sandbox *v1alpha1.SandboxEnvironment, testClient *v1alpha1.TestClient) (sandboxes.TestClientConfig, error) {
	spec := testClient.Spec
	operator, country, err := Market(knownIn(sandbox, testClient), spec)
	if err != nil {
		return sandboxes.TestClientConfig{}, err
	}
	behavior := payments.Approve
	if spec.Behavior != "" {
		behavior = payments.Behavior(spec.Behavior)
	}
	return sandboxes.TestClientConfig{
		UID:        string(testClient.UID),
		Generation: testClient.Generation,
		Name:       testClient.Name,
		MSISDN:     spec.MSISDN,
		Operator:   operator,
		Country:    country,
		Blocked:    spec.State == v1alpha1.TestClientBlocked,
		Behavior:   behavior,
		Balance:    spec.Balance,
	}, nil
}

// Market returns the operator and the country of a SIM, from the spec or else from the number, if the sandbox knows those of
// the number.
func Market(known *payments.Known, spec v1alpha1.TestClientSpec) (payments.Operator, payments.Country, error) {
	operator, country := payments.Operator(spec.Operator), payments.Country(spec.Country)
	byPrefix, byCallingCode, _ := operators.Detect(known, spec.MSISDN)
	if operator == "" {
		operator = byPrefix
	}
	if country == "" {
		country = byCallingCode
	}
	switch length := operators.CheckLength(known, spec.MSISDN); {
	case (operator == "" || country == "") && length != nil:
		return "", "", unknownMarket("%s: delete the TestClient and create it again with the whole number, or write spec.operator and spec.country", length.String())
	case operator == "" && country == "":
		return "", "", unknownMarket(
			"the number %s belongs to none of the countries "+payments.AllOf(known.Countries())+": write spec.operator and spec.country", spec.MSISDN,
		)
	case operator == "":
		return "", "", unknownMarket("no known operator has the prefix of the number %s: write spec.operator", spec.MSISDN)
	case country == "":
		return "", "", unknownMarket("the country code of the number %s is not known: write spec.country", spec.MSISDN)
	case !operator.In(country):
		in := known.CountriesOf(operator)
		if len(in) == 0 {
			in = operator.Countries()
		}
		return "", "", unknownMarket(fmt.Sprintf("%s is available in %s only, and the number %%s is not from there: write country: %[2]s, or "+
			"another operator", operator, payments.OneOf(in)), spec.MSISDN)
	}
	return operator, country, nil
}

func unknownMarket(format, msisdn string) error {
	return &reconciler.StallingError{Reason: v1alpha1.ReasonOperatorUnknown, Message: fmt.Sprintf(format, msisdn)}
}
