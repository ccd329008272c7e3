// Package system runs Cauri as in production, without Kubernetes: its own Postgres with durable commits, and the api
// and the worker as processes that a test can kill, stop and start again. It configures sandboxes directly in the
// database, as the controller does. Receivers of webhooks can misbehave. [System.Audit] then checks whether anything
// was lost, doubled or miscounted.
//
// Tests that need Kubernetes can start a [Cluster] and use sandboxes of the controller ([System.Adopt]).
//
// The tests of faults and chaos and the load measurements share this package. Everything listens on the loopback
// interface, and every wait has a timeout. Signals go only to processes that the test started itself, and to the
// Postgres processes that the server lists.
package system
