// Package grade sends a fixed battery of events to a receiver of webhooks, and grades it by its answers. The events are
// of transactions that do not exist, so no money moves, unless the caller names a transaction that the receiver knows.
//
// docs/grade.md explains each line and the rule of the letter.
package grade

// Battery is the version of the lines: of what they send, and of which answers they expect.
const Battery = 3
