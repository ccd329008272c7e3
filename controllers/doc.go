// Package controllers writes the resources to the database, and the database's state to the status of the resources.
//
// There is one reconciler for each kind. Start with <kind>_controller.go. <kind>_reconciler.go is what its steps share. The
// other files of a kind have one concern each; <kind>_status.go computes the status without any I/O. The type of a step's
// error decides what happens next: see errors.go.
//
// No payment passes through here: sandboxes keep working while the Kubernetes API or the controller is unavailable.
package controllers
