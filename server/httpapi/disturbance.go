package httpapi

import (
	"net/http"
	"strings"

	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/service"
)

// disturbed answers a request that records no transaction by f, after the faults of its sandbox.
func (s *Server) disturbed(f handler) handler {
	return func(w http.ResponseWriter, r *http.Request) (answer, error) {
		if err := s.service.ApplyFault(r.Context(), callerOf(r)); err != nil {
			return answer{}, err
		}
		return f(w, r)
	}
}

// requestFaults describes a request to the decision which fault applies.
func requestFaults(r *http.Request) service.RequestFaults {
	f := service.RequestFaults{At: faults.AtRequest, Path: pathWithin(nativePath(r.URL.Path)), ReadOnly: r.Method == http.MethodGet}
	if !f.ReadOnly {
		f.Repeats = r.Method + " " + f.Path
	}
	return f
}

// pathWithin is the path of a request within its sandbox, as the API's description has it.
func pathWithin(path string) string {
	if named, found := strings.CutPrefix(path, "/sandboxes/"); found {
		if parts := strings.SplitN(named, "/", 3); len(parts) == 3 {
			path = "/" + parts[2]
		}
	}
	if within, found := strings.CutPrefix(path, apiForm); found && strings.HasPrefix(within, "/") {
		return within
	}
	return path
}
