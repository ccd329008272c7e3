package telemetry

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestProbes(t *testing.T) {
	t.Parallel()
	var ready error
	handler := Probes{
		Ready:   []Check{func(context.Context) error { return ready }, func(context.Context) error { return nil }},
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
	}.Handler()
	get := func(path string) (int, string) {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		return answer.Code, answer.Body.String()
	}
	for _, c := range []struct {
		path  string
		ready error
		code  int
		body  string
	}{
		{"/healthz", nil, 200, "ok\n"},
		{"/readyz", nil, 200, "ok\n"},
		{"/readyz", errors.New("stopping"), 503, "stopping\n"},
		{"/healthz", errors.New("stopping"), 200, "ok\n"},
		{"/metrics", nil, 418, ""},
		{"/debug/pprof/", nil, 404, "404 page not found\n"},
	} {
		ready = c.ready
		if code, body := get(c.path); code != c.code || body != c.body {
			t.Errorf("%s: got %d %q, want %d %q", c.path, code, body, c.code, c.body)
		}
	}
}
