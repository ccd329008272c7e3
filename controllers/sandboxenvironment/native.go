package sandboxenvironment

import (
	"maps"
	"slices"
	"sync"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// nativeAPIs returns the operators' own APIs, of each operator with an enabled environment.
func nativeAPIs(spec v1alpha1.SandboxEnvironmentSpec) map[payments.Operator]*operatorapi.API {
	all := map[payments.Operator]*operatorapi.API{}
	for _, e := range spec.Environments {
		operator := payments.Operator(e.Operator)
		if api := operators.NativeAPI(operator); api != nil && valueOr(e.Enabled, true) {
			all[operator] = api
		}
	}
	return all
}

// allDisabled reports whether a sandbox has no enabled environment.
func allDisabled(spec v1alpha1.SandboxEnvironmentSpec) bool {
	return !slices.ContainsFunc(spec.Environments, func(e v1alpha1.Environment) bool { return valueOr(e.Enabled, true) })
}

// operatorAPIs returns the addresses of nativeAPIs, in the order of the operators' names.
func (r *Reconciler) operatorAPIs(sandbox *v1alpha1.SandboxEnvironment, organizationID string) (all []v1alpha1.OperatorAPI) {
	of := &sandboxes.Sandbox{Namespace: sandbox.Namespace, Name: sandbox.Name, OrganizationID: organizationID}
	for _, operator := range slices.Sorted(maps.Keys(nativeAPIs(sandbox.Spec))) {
		api := v1alpha1.OperatorAPI{Operator: v1alpha1.Operator(operator), URL: r.sandboxURL(sandbox) + "/operators/" + string(operator)}
		if r.OperatorRoot != nil {
			api.RootURL = r.OperatorRoot(of, operator)
		}
		all = append(all, api)
	}
	return all
}

// nativeEntries has the names of the entries of all operators' own APIs in a credentials Secret.
var nativeEntries = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, api := range operators.NativeAPIs() {
		for name := range api.SecretEntries("", "") {
			names[name] = true
		}
		for name := range api.AddressEntries("any", "any") {
			names[name] = true
		}
	}
	return names
})

// isLeftover returns a function that reports whether an entry of a credentials Secret is of an operator that has no
// enabled environment any more, if data is the content that the Secret has to have.
func isLeftover(data map[string][]byte) func(name string, value []byte) bool {
	return func(name string, _ []byte) bool {
		_, wanted := data[name]
		return nativeEntries()[name] && !wanted
	}
}

// nativeDigests returns the digests of the credentials of nativeAPIs, which the database stores. The credentials are
// derived from the API key, and so rotate with it.
func nativeDigests(spec v1alpha1.SandboxEnvironmentSpec, apiKey string) []byte {
	digests := sandboxes.NativeDigests{}
	for operator, api := range nativeAPIs(spec) {
		c := api.Derive(apiKey)
		digests[operator] = sandboxes.DigestOf(c.Key, c.User, c.UserKey).With(c.Checked)
	}
	return digests.Encode()
}
