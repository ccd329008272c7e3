package controllers_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
)

// nativeEntries waits until the credentials Secret has the entries of these operators' own APIs as its API key and its signing secret make
// them, and of no other operator.
func (c *cluster) nativeEntries(of ...payments.Operator) map[string]string {
	c.Helper()
	found := map[string]string{}
	c.until(func(context.Context) string {
		want := map[string]string{}
		for _, operator := range of {
			maps.Copy(want, operators.NativeAPI(operator).SecretEntries(c.keyInSecret(), c.secretInSecret()))
		}
		clear(found)
		for name, value := range c.secret(credentialsName).Data {
			if operator, _, _ := strings.Cut(name, "-"); payments.Operator(operator).Valid() {
				found[name] = string(value)
			}
		}
		return cmp.Diff(want, found)
	})
	return found
}

// The Secret has the credentials of each operator with an enabled environment. Those that follow from the API key change with it, and the
// key of callbacks with the signing secret.
func TestCredentialsOfOperators(t *testing.T) {
	c := newCluster(t)
	c.start()
	sandbox := c.newSandbox(withSecretRotation("1"))
	c.create(sandbox)
	c.sandboxReady(sandbox)
	c.nativeEntries(payments.MTN)
	no := false
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Environments = append(s.Spec.Environments, v1alpha1.Environment{Operator: "airtel", Country: "RW", Enabled: &no},
			v1alpha1.Environment{Operator: "orange", Country: "CI"}, v1alpha1.Environment{Operator: "moov", Country: "TG"})
	})
	c.nativeEntries(payments.MTN, payments.Orange, payments.Moov)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Environments[1].Enabled = nil })
	made := c.nativeEntries(payments.Operators...)
	if diff := cmp.Diff([]string{
		"airtel-callback-key", "airtel-client-id", "airtel-client-secret", "airtel-pin", "moov-encryption-key", "moov-password", "moov-token",
		"moov-username", "mtn-api-key", "mtn-api-user", "mtn-subscription-key", "orange-client-id", "orange-client-secret", "orange-merchant-key",
	}, slices.Sorted(maps.Keys(made))); diff != "" {
		t.Error(diff)
	}

	// changed checks which entries an edit changes, which makes one of the secrets that the others follow from anew.
	changed := func(source func() string, change func(*v1alpha1.SandboxEnvironment), changes func(name string) bool) {
		t.Helper()
		before, former := c.nativeEntries(payments.Operators...), source()
		edit(c, sandbox, change)
		c.until(func(context.Context) string {
			if source() == former {
				return "nothing was rotated"
			}
			return ""
		})
		for name, value := range c.nativeEntries(payments.Operators...) {
			if name != "airtel-pin" && changes(name) != (value != before[name]) { // one PIN of 10,000 is the same again
				t.Errorf("%s was %s and is %s", name, before[name], value)
			}
		}
	}
	changed(c.secretInSecret, withSecretRotation("2"), func(name string) bool { return name == "airtel-callback-key" })
	changed(c.keyInSecret, withKeyRotation("2", "24h"), func(name string) bool { return name != "airtel-callback-key" && name != "moov-encryption-key" })
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Environments = s.Spec.Environments[:1] })
	c.nativeEntries(payments.MTN)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Environments[0].Enabled = &no }) // as the Secret was created
	c.nativeEntries()
}
