package telemetry

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Check returns what is wrong, in words that anybody may read, or nil.
type Check func(context.Context) error

// probeTimeout bounds one probe. The default of Kubernetes is one second.
const probeTimeout = 2 * time.Second

// Probes answer questions about a process.
type Probes struct {
	Live    []Check      // a process that fails one of these needs a restart
	Ready   []Check      // a process that fails one of these must get no traffic
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

// routes are all routes. Everybody who reaches the port may call them.
func (p Probes) routes() map[string]http.Handler {
	routes := map[string]http.Handler{"GET /healthz": probe(p.Live), "GET /readyz": probe(p.Ready)}
	if p.Metrics != nil {
		routes["GET /metrics"] = p.Metrics
	}
	return routes
}

func probe(checks []Check) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A client that closes its side of the connection and still reads gets an answer too.
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
