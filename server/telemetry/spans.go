package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Span is a span of a trace. The zero value is not recorded.
type Span struct{ span trace.Span }

// Followed reports whether the span is recorded.
func (s Span) Followed() bool { return s.span != nil && s.span.IsRecording() }

// Set adds attributes. They must not contain keys, secrets or phone numbers.
func (s Span) Set(attributes ...attribute.KeyValue) {
	if s.span != nil {
		s.span.SetAttributes(attributes...)
	}
}

// Fail marks the span as failed. The text why must be a constant.
func (s Span) Fail(reason string) {
	if s.span != nil {
		s.span.SetStatus(codes.Error, reason)
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

var callers propagation.TraceContext

// Serve starts the span of a request. The trace of the caller becomes a link of the span, not its parent, so that the
// caller does not decide whether the span is sampled.
func (t *Tracing) Serve(r *http.Request) (context.Context, Span) {
	if t == nil {
		return r.Context(), Span{}
	}
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithNewRoot()}
	from := trace.SpanContextFromContext(callers.Extract(context.Background(), propagation.HeaderCarrier(r.Header)))
	if from.IsValid() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: from}))
	}
	ctx, span := t.tracer.Start(r.Context(), methodLabel(r.Method), options...)
	return ctx, Span{span}
}

// Served ends the span of a request.
func (s Span) Served(route, method, requestID string, status int) {
	if s.span == nil {
		return
	}
	method = methodLabel(method)
	if route == "" {
		route = unmatched
	}
	s.span.SetName(method + " " + route)
	s.span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status), attribute.String("cauri.request_id", requestID))
	if status >= http.StatusInternalServerError {
		s.span.SetStatus(codes.Error, http.StatusText(status))
	}
	s.span.End()
}

// Describe adds attributes to the span of a context.
func (t *Tracing) Describe(ctx context.Context, key, value string) {
	if t != nil {
		trace.SpanFromContext(ctx).SetAttributes(attribute.String(key, value))
	}
}

// Begin starts the span of work without a request.
func (t *Tracing) Begin(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, Span{span}
}

// Call starts the span of a request to another system. The request has no trace header, because the contract with
// merchants does not have it.
func (t *Tracing) Call(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return ctx, Span{span}
}
