// Package sim plays the operators: it serves their native APIs for each sandbox, so that collections from numbers that a
// sandbox does not know have somebody to be forwarded to. It approves all of them, and keeps what it was asked in Postgres.
//
// A simulated operator moves none of a sandbox's money; what its answers come to is decided by whoever forwards to it.
package sim

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/store"
)

// Storage is what the simulated operators keep their knowledge in. Errors are [store.ErrNotFound] and
// [store.ErrUnavailable] as there.
type Storage interface {
	FindSimulatedSandbox(ctx context.Context, namespace, name string) (store.SimulatedSandbox, error)
	AcceptsCredentials(ctx context.Context, in store.SimulatedSandbox, operator payments.Operator, clientID, clientSecret string) (bool, error)
	IssueToken(ctx context.Context, tenant int64, operator payments.Operator, hash [32]byte, valid time.Duration) error
	TokenValid(ctx context.Context, tenant int64, operator payments.Operator, hash [32]byte) (bool, error)
	CreateSimulatedPayment(ctx context.Context, tenant int64, operator payments.Operator, p store.SimulatedPayment, answerAfter time.Duration) (bool, error)
	FindSimulatedPayment(ctx context.Context, tenant int64, operator payments.Operator, reference string) (store.SimulatedPayment, error)
}

// Simulator serves the native APIs of the operators of all sandboxes.
type Simulator struct {
	storage Storage
	now     func() time.Time
	draw    func(n int64) int64
	random  io.Reader
	log     *slog.Logger
}

// Options are what a [Simulator] is made of.
type Options struct {
	Storage Storage
	Now     func() time.Time    // for ids and deadlines
	Draw    func(n int64) int64 // a random number in [0, n), for latencies
	Random  io.Reader           // for tokens and ids
	Log     *slog.Logger
}

// New makes a simulator.
func New(o Options) *Simulator {
	return &Simulator{storage: o.Storage, now: o.Now, draw: o.Draw, random: o.Random, log: o.Log}
}

// BaseURL is where the operator of a sandbox is served, below the base URL of the api.
func BaseURL(api, namespace, sandbox string, operator payments.Operator) string {
	return strings.TrimRight(api, "/") + "/sandboxes/" + namespace + "/" + sandbox + "/operators/" + string(operator)
}

// Mount serves the operators' paths, /sandboxes/{namespace}/{name}/operators/{operator}/..., and leaves all others to next.
func (s *Simulator) Mount(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, ok := s.visit(w, r)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		v.serve()
	})
}

// visit is one request to a simulated operator.
type visit struct {
	*Simulator
	w         http.ResponseWriter
	r         *http.Request
	namespace string
	name      string
	operator  payments.Operator
	path      string // behind the operator, escaped, since a reference in it may hold anything

	in store.SimulatedSandbox
}

// visit reads the path of a request; ok is false for a path that is no operator's.
func (s *Simulator) visit(w http.ResponseWriter, r *http.Request) (v *visit, ok bool) {
	rest, ok := strings.CutPrefix(r.URL.EscapedPath(), "/sandboxes/")
	parts := strings.SplitN(rest, "/", 5)
	if !ok || len(parts) != 5 || parts[2] != "operators" {
		return nil, false
	}
	v = &visit{Simulator: s, w: w, r: r, namespace: parts[0], name: parts[1], operator: payments.Operator(parts[3]), path: "/" + parts[4]}
	_, ok = natives[v.operator]
	return v, ok
}
