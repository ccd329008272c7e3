package controllers

import (
	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// nativeCredentials returns the credentials for the operators' own APIs, for each operator with an enabled environment.
// They are derived from the API key, and so rotate with it.
func nativeCredentials(spec v1alpha1.SandboxEnvironmentSpec, apiKey string) map[payments.Operator]operatorapi.Credentials {
	all := map[payments.Operator]operatorapi.Credentials{}
	for _, e := range spec.Environments {
		operator := payments.Operator(e.Operator)
		if api := operators.NativeAPI(operator); api != nil && valueOr(e.Enabled, true) {
			all[operator] = api.Derive(apiKey)
		}
	}
	return all
}

// nativeDigests returns the digests of nativeCredentials, which the database stores.
func nativeDigests(spec v1alpha1.SandboxEnvironmentSpec, apiKey string) []byte {
	digests := sandboxes.NativeDigests{}
	for operator, c := range nativeCredentials(spec, apiKey) {
		digests[operator] = sandboxes.DigestOf(c.Key, c.User, c.UserKey)
	}
	return digests.Encode()
}
