package controllers_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// nativeEntries waits until the credentials Secret has the entries of these operators' own APIs as its API key and its signing secret make
// them, and of no other operator.
func (c *cluster) nativeEntries(of ...payments.Operator) map[string]string {
	c.Helper()
	found := map[string]string{}
	c.until(func(context.Context) string {
		want := map[string]string{}
		for _, operator := range of {
			api := operators.NativeAPI(operator)
			maps.Copy(want, api.SecretEntries(c.keyInSecret(), c.secretInSecret()))
			maps.Copy(want, api.AddressEntries(string(c.secret(credentialsName).Data["uri"])+"/operators/"+string(operator), ""))
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
	all := []payments.Operator{payments.MTN, payments.Orange, payments.Moov, payments.Airtel}
	made := c.nativeEntries(all...)
	if diff := cmp.Diff([]string{
		"airtel-callback-key", "airtel-client-id", "airtel-client-secret", "airtel-pin", "airtel-uri", "moov-encryption-key", "moov-password", "moov-token",
		"moov-uri", "moov-username", "mtn-api-key", "mtn-api-user", "mtn-subscription-key", "mtn-uri", "orange-client-id", "orange-client-secret",
		"orange-merchant-key", "orange-uri",
	}, slices.Sorted(maps.Keys(made))); diff != "" {
		t.Error(diff)
	}

	// changed checks which entries an edit changes, which makes one of the secrets that the others follow from anew.
	changed := func(source func() string, change func(*v1alpha1.SandboxEnvironment), changes func(name string) bool) {
		t.Helper()
		before, former := c.nativeEntries(all...), source()
		edit(c, sandbox, change)
		c.until(func(context.Context) string {
			if source() == former {
				return "nothing was rotated"
			}
			return ""
		})
		for name, value := range c.nativeEntries(all...) {
			if name != "airtel-pin" && changes(name) != (value != before[name]) { // one PIN of 10,000 is the same again
				t.Errorf("%s was %s and is %s", name, before[name], value)
			}
		}
	}
	changed(c.secretInSecret, withSecretRotation("2"), func(name string) bool { return name == "airtel-callback-key" })
	changed(c.keyInSecret, withKeyRotation("2", "24h"), func(name string) bool {
		return name != "airtel-callback-key" && name != "moov-encryption-key" && !strings.HasSuffix(name, "-uri")
	})
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Environments = s.Spec.Environments[:1] })
	c.nativeEntries(payments.MTN)
	edit(c, sandbox, func(s *v1alpha1.SandboxEnvironment) { s.Spec.Environments[0].Enabled = &no }) // as the Secret was created
	c.nativeEntries()
}

// The Secret and the status have both addresses of an operator's own API. The one of the root goes with the domain.
func TestAddressesOfOperators(t *testing.T) {
	c := newCluster(t)
	c.start(func(o *controllers.Options) {
		o.OperatorRoot = func(of *sandboxes.Sandbox, operator payments.Operator) string {
			return "https://" + string(operator) + "." + of.OrganizationID + "." + of.Name + "." + of.Namespace
		}
	})
	no := false
	sandbox := c.newSandbox(func(s *v1alpha1.SandboxEnvironment) {
		s.Spec.Environments = append(s.Spec.Environments, v1alpha1.Environment{Operator: "airtel", Country: "RW", Enabled: &no},
			v1alpha1.Environment{Operator: "orange", Country: "CI"})
	})
	c.create(sandbox)
	c.sandboxReady(sandbox)
	addresses := func(root func(operator, organization string) string) {
		t.Helper()
		c.until(func(ctx context.Context) string {
			found := &v1alpha1.SandboxEnvironment{}
			if err := c.Get(ctx, client.ObjectKeyFromObject(sandbox), found); err != nil {
				return err.Error()
			}
			data := c.secret(credentialsName).Data
			var told []string
			for _, api := range found.Status.OperatorAPIs {
				name := string(api.Operator)
				told = append(told, name, api.URL, api.RootURL, string(data[name+"-uri"]), string(data[name+"-root-uri"]))
			}
			var want []string
			for _, operator := range []string{"mtn", "orange"} {
				at, root := found.Status.URL+"/operators/"+operator, root(operator, found.Status.OrganizationID)
				want = append(want, operator, at, root, at, root)
			}
			return cmp.Diff(want, told)
		})
	}
	addresses(func(operator, organization string) string {
		return "https://" + operator + "." + organization + "." + sandbox.Name + "." + sandbox.Namespace
	})
	c.stop()
	c.start()
	addresses(func(string, string) string { return "" })
	if _, left := c.secret(credentialsName).Data["mtn-root-uri"]; left {
		t.Error("the Secret keeps an entry of a root that is gone")
	}
}
