package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Span is a piece of work in a trace. The zero value is one that nobody follows.
type Span struct{ span trace.Span }

// Followed reports whether anything said of the span arrives anywhere.
func (s Span) Followed() bool { return s.span != nil && s.span.IsRecording() }

// Set adds attributes. They hold no keys, no secrets and no numbers of payers.
func (s Span) Set(attributes ...attribute.KeyValue) {
	if s.span != nil {
		s.span.SetAttributes(attributes...)
	}
}

// Fail says why the work did not succeed, in a word that depends on no value.
func (s Span) Fail(why string) {
	if s.span != nil {
		s.span.SetStatus(codes.Error, why)
	}
}

// End ends the span.
func (s Span) End() {
	if s.span != nil {
		s.span.End()
	}
}

var callers propagation.TraceContext

// Serve begins the span of a request. A trace that the caller says it belongs to becomes a link, not a parent: who calls does not decide
// what is sampled here.
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
		route = Unmatched
	}
	s.span.SetName(method + " " + route)
	s.span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route),
		attribute.Int("http.response.status_code", status), attribute.String("cauri.request_id", requestID))
	if status >= http.StatusInternalServerError {
		s.span.SetStatus(codes.Error, http.StatusText(status))
	}
	s.span.End()
}

// Describe adds what became known of the work that a context belongs to.
func (t *Tracing) Describe(ctx context.Context, key, value string) {
	if t != nil {
		trace.SpanFromContext(ctx).SetAttributes(attribute.String(key, value))
	}
}

// Begin begins the span of something that a process does by itself.
func (t *Tracing) Begin(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithAttributes(attributes...))
	return ctx, Span{span}
}

// Call begins the span of a request to somebody outside. Nothing of the trace is sent along: what merchants' servers get is
// what the contract says, and no more.
func (t *Tracing) Call(ctx context.Context, name string, attributes ...attribute.KeyValue) (context.Context, Span) {
	if t == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return ctx, Span{span}
}
