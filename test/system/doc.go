// Package system runs Cauri as it runs in earnest, without Kubernetes: a Postgres of its own that keeps what it committed, and
// the api and the worker as processes that can be killed, stopped and started again. Sandboxes are configured in the database
// directly, as the controller does it. Receivers of webhooks misbehave as they are told, and [System.Audit] finds out afterwards
// whether anything was lost, doubled or miscounted.
//
// Who needs Kubernetes has a [Cluster] beside it, and sandboxes that the controller makes ([System.Adopt]).
//
// The tests of faults, chaos and the measurements under load share it. Everything is on the loopback interface, every wait has an end,
// and a process is only ever signalled through the handle that started it; those of Postgres, through what their server says of them.
package system
