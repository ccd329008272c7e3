// Package v1alpha1 is version v1alpha1 of the API group cauri.dev. It has sandboxes of mobile-money APIs, the SIMs
// that pay in them, and what a test expects to happen there.
//
// The schema checks as much as possible. Every rule has a message that says what to write. The controller checks the
// rest, and reports an error with the condition Stalled.
//
// +kubebuilder:object:generate=true
// +groupName=cauri.dev
package v1alpha1
