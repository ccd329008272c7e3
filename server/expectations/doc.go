// Package expectations judges what happened in a sandbox. It reads the lines of an expectation, says of each line
// whether an observation meets it, and decides when all of them are met or one has failed.
//
// It is pure: package ledger makes the observations, and callers keep the state between two judgements.
package expectations
