// Package localapi is a small Kubernetes API in memory, for `cauri dev`. The controllers run on it unchanged, so the
// same code configures a sandbox with and without Kubernetes.
//
// [Read] reads manifests in the format of `kubectl apply`. [API.Apply] validates them with the libraries of the API
// server, so it returns the same messages, and stores them. [API.NewManager] returns a manager for the controllers,
// which read, change and watch the resources. No socket is opened: the HTTP transport of the client is the store
// itself.
//
// It serves only the requests of the controllers: get, list, watch, create, merge patch, apply and delete with
// preconditions. Its kinds are SandboxEnvironment, TestClient and Expectation, with the status subresource, and Secret.
// It stores owner references, but has no garbage collection: the controllers delete their own Secrets.
package localapi
