package telemetry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whoever reaches the port is answered these and nothing else, with or without a credential. A new route gets a line here.
func TestProbesAnswerNothingElse(t *testing.T) {
	t.Parallel()
	answered := map[string]int{"GET /healthz": http.StatusOK, "GET /readyz": http.StatusOK, "GET /metrics": http.StatusOK}
	probes := Probes{Metrics: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	for route := range probes.routes() {
		if answered[route] == 0 {
			t.Errorf("%s is answered: say here to whom", route)
		}
	}
	for route, status := range map[string]int{
		"POST /healthz": 405, "POST /metrics": 405, "DELETE /readyz": 405, "GET /": 404, "GET /debug/pprof/": 404, "GET /v1/payments": 404,
		"GET /metrics/x": 404,
	} {
		answered[route] = status
	}
	for route, want := range answered {
		for _, authorization := range []string{"", "Bearer x"} {
			method, path, _ := strings.Cut(route, " ")
			r, w := httptest.NewRequest(method, path, nil), httptest.NewRecorder()
			r.Header.Set("Authorization", authorization)
			probes.Handler().ServeHTTP(w, r)
			if w.Code != want {
				t.Errorf("%s answered %d, want %d", route, w.Code, want)
			}
		}
	}
}
