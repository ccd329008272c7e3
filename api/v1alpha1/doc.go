// Package v1alpha1 is version v1alpha1 of the API group cauri.dev: sandboxes of mobile-money APIs, and the telephones
// that pay in them.
//
// What the schema can check, it checks: every rule has a message that says what to write. The controller checks the rest
// and answers with the condition Stalled.
//
// +kubebuilder:object:generate=true
// +groupName=cauri.dev
package v1alpha1
