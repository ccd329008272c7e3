// Package view maps what the service knows to the answers of the API: from rows of the ledger, the proof and the sandboxes to
// types of package wire, and from errors to their answers.
package view
