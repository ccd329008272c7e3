package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Check returns an error if a process is not healthy. The text of the error is public.
type Check func(context.Context) error

// probeTimeout bounds one probe. The default of Kubernetes is one second.
const probeTimeout = 2 * time.Second

// Probes are the liveness and readiness probes of a process.
type Probes struct {
	Live    []Check      // checks of the liveness probe
	Ready   []Check      // checks of the readiness probe
	Metrics http.Handler // may be nil
}

// Handler serves /healthz, /readyz and /metrics.
func (p Probes) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, handler := range p.routes() {
		mux.Handle(pattern, handler)
	}
	return mux
}

// routes returns the handlers by path. They need no authentication.
func (p Probes) routes() map[string]http.Handler {
	routes := map[string]http.Handler{"GET /healthz": probe(p.Live), "GET /readyz": probe(p.Ready)}
	if p.Metrics != nil {
		routes["GET /metrics"] = p.Metrics
	}
	return routes
}

func probe(checks []Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// WithoutCancel, because a client that has closed its side of the connection may still read the answer.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), probeTimeout)
		defer cancel()
		var problems []string
		for _, check := range checks {
			if err := check(ctx); err != nil {
				problems = append(problems, err.Error())
			}
		}
		if len(problems) > 0 {
			http.Error(w, strings.Join(problems, "\n"), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
}
