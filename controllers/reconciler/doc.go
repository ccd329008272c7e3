// Package reconciler has what the reconcilers of the kinds share: the steps of a reconciliation and their conditions, the
// errors of a step, the writing of a status, finalizers, limits.
//
// The type of a step's error decides when the resource is reconciled again: see errors.go.
package reconciler
