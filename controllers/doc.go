// Package controllers writes the resources to the database, and the database's state to the status of the resources.
//
// Each kind has one reconciler. Start with <kind>_controller.go. The fields that its steps share are in
// <kind>_reconciler.go. The other files of a kind have one concern each. <kind>_status.go computes the status without
// any I/O. The type of a step's error decides when the resource is reconciled again: see errors.go.
//
// The controllers do not process payments. So sandboxes work while the Kubernetes API or the controller is unavailable.
package controllers
