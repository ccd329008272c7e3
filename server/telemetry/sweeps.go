package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Sweep is one run of a sweep, which mostly finds no work. It becomes a span, with the spans of its statements, only if it found some: a
// worker looks for work twenty times a second.
type Sweep struct {
	tracing *Tracing
	began   time.Time

	mu         sync.Mutex
	statements []finished
}

// finished is an SQL statement that has ended.
type finished struct {
	name         string
	began, ended time.Time
	err          error
}

type sweepKey struct{}

func sweepOf(ctx context.Context) *Sweep {
	s, _ := ctx.Value(sweepKey{}).(*Sweep)
	return s
}

// Sweep begins a run of a sweep. It returns a nil sweep if tracing is off.
func (t *Tracing) Sweep(ctx context.Context) (context.Context, *Sweep) {
	if t == nil {
		return ctx, nil
	}
	s := &Sweep{tracing: t, began: time.Now()}
	return context.WithValue(ctx, sweepKey{}, s), s
}

func (s *Sweep) add(f finished) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statements = append(s.statements, f)
}

// Found turns the sweep into a span that ends now.
func (s *Sweep) Found(ctx context.Context, name string, attributes ...attribute.KeyValue) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, span := s.tracing.tracer.Start(ctx, name, trace.WithTimestamp(s.began), trace.WithAttributes(attributes...))
	defer span.End()
	for _, f := range s.statements {
		_, child := s.tracing.tracer.Start(ctx, f.name, trace.WithTimestamp(f.began), trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(statementAttributes(f.name)...))
		failStatement(child, f.err)
		child.End(trace.WithTimestamp(f.ended))
	}
}
