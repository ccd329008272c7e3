package telemetry

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

var traceparentForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}`)

// FuzzTraceparent checks that a caller's trace is never continued, whatever stands in the headers: who calls does not decide what is
// sampled.
func FuzzTraceparent(f *testing.F) {
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	for _, seed := range []string{parent, parent + "-extra", "ff" + parent[2:], "00-00000000000000000000000000000000-0000000000000000-00", "",
		"x"} {
		f.Add(seed, "vendor=1", http.MethodGet)
	}
	f.Add(parent, "a=1,a=2,=,,", "BREW")
	tracing := newTracing(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.AlwaysSample())))
	f.Fuzz(func(t *testing.T, parent, state, method string) {
		r := httptest.NewRequest(http.MethodGet, "/v1/payments", nil)
		r.Method, r.Header = method, http.Header{"Traceparent": {parent}, "Tracestate": {state}}
		ctx, span := tracing.Serve(r)
		defer span.End()
		made := span.span.(sdktrace.ReadOnlySpan)
		if made.Parent().IsValid() || !trace.SpanContextFromContext(ctx).Equal(made.SpanContext()) {
			t.Errorf("%q is the parent of the request: %v", parent, made.Parent())
		}
		if n := len(made.Links()); n > 1 || n == 1 && !traceparentForm.MatchString(parent) {
			t.Errorf("%q leads to the links %v", parent, made.Links())
		}
		if made.Name() != methodLabel(method) {
			t.Errorf("%q is named %q", method, made.Name())
		}
	})
}
