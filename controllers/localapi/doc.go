// Package localapi is a small Kubernetes API in memory, for `cauri dev`. The controllers run on it unchanged, so that a sandbox is
// configured by the same code with and without Kubernetes.
//
// [Read] reads manifests as `kubectl apply` takes them. [API.Apply] checks them as the API server does, by Kubernetes' own libraries and
// with the same messages, and stores them. [API.NewManager] makes a manager for the controllers, which then find the resources, change
// them, and follow their changes. No socket is opened: the client's requests end in [store.RoundTrip].
//
// It serves what the controllers use, and no more: get, list, watch, create, merge patch, apply, delete with preconditions, and the
// status subresource of SandboxEnvironment, TestClient and Secret. Owner references are stored, but nothing is collected for them: the
// controllers delete their own Secrets.
package localapi
