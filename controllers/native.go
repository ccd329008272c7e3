package controllers

import (
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
