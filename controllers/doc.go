// Package controllers turns the resources into rows of the database, and rows into status.
//
// There is one reconciler a kind. <kind>_controller.go tells its story; the other files of a kind hold one concern each,
// and <kind>_status.go derives the status from what was seen, without any I/O. What a step's error is decides what
// happens next: see errors.go.
//
// No payment ever passes through here: while the Kubernetes API or the controller is away, sandboxes go on working as
// they are.
package controllers
