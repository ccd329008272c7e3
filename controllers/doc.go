// Package controllers puts the controller together: it writes the resources to the database, and the database's state to
// the status of the resources.
//
// Each kind has a package with one reconciler: sandboxenvironment, testclient, expectation. Start with its controller.go.
// The fields that its steps share are in reconciler.go. The other files have one concern each. status.go computes the
// status without any I/O. What the kinds share is in package reconciler. Package resync reconciles again without a watch.
//
// The controllers do not process payments. So sandboxes work while the Kubernetes API or the controller is unavailable.
package controllers
