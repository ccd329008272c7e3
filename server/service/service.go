// Package service executes the requests of the holders of API keys. It is the application layer that all HTTP APIs
// share.
//
// It does not depend on HTTP or SQL. A front (an HTTP API) decodes a request, calls a method of [Service], and encodes
// the result. Errors of this package, ledger and payments mean that the request is wrong. Errors of package postgres
// mean that the database could not execute it. [Refusals] lists them. The front writes the error message.
package service

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/cauri-dev/cauri/server/ledger"
	"github.com/cauri-dev/cauri/server/proof"
	"github.com/cauri-dev/cauri/server/requests"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// Service executes requests. It is safe for concurrent use.
type Service struct {
	ledger    *ledger.Ledger
	books     *proof.Books
	sandboxes *sandboxes.Registry
	directory Configuration
	requests  *requests.Log
	now       func() time.Time
	draw      func(n int64) int64
	random    io.Reader
	draining  <-chan struct{}
	waiting   Waiting
	metrics   Metrics
	payerWait time.Duration

	faultRules FaultRules
}

// Options are the dependencies and settings of a [Service].
type Options struct {
	Ledger    *ledger.Ledger
	Books     *proof.Books
	Sandboxes *sandboxes.Registry
	Directory Configuration     // [sandboxes.Directory]
	Requests  *requests.Log     // nil: no request is logged
	Now       func() time.Time  // current time, for ids and due times of answers
	Draw      func(int64) int64 // returns a random number in [0, n), for latencies
	Random    io.Reader         // random bytes for ids
	Draining  <-chan struct{}   // closed when the process is told to stop; ends all waits
	Waiting   Waiting
	Metrics   Metrics
	// PayerWait bounds how long an answer waits for a payer; zero: 50 s.
	PayerWait  time.Duration
	FaultRules FaultRules
}

// Configuration is the cached configuration of all sandboxes.
type Configuration interface {
	// Refresh updates the cache from the database.
	Refresh(context.Context) error
	// ByKey returns the sandbox that a key opens.
	ByKey(sandboxes.KeyHash) (*sandboxes.Sandbox, bool)
}

// Metrics count recorded transactions and applied faults.
type Metrics interface {
	// Recorded counts a transaction that was recorded, by its type and its status.
	Recorded(kind, status string)
	// FaultApplied counts a fault that was applied, by its kind.
	FaultApplied(kind string)
}

// Waiting bounds how many requests wait at a time.
type Waiting interface {
	// Acquire counts a request of an organization as waiting until release is called. It returns false if the limit is
	// reached.
	Acquire(organization string) (release func(), ok bool)
	// Count returns how many requests of an organization wait.
	Count(organization string) int
}

// New returns a service.
func New(o Options) *Service {
	return &Service{
		ledger: o.Ledger, books: o.Books, sandboxes: o.Sandboxes, directory: o.Directory, requests: o.Requests, now: o.Now,
		draw: o.Draw, random: o.Random, draining: o.Draining, waiting: o.Waiting, metrics: o.Metrics,
		payerWait: cmp.Or(o.PayerWait, payerWait), faultRules: o.FaultRules,
	}
}
