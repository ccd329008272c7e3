package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// Sweep is one run of a sweep. Only a run that finds work gets a span, with the spans of its statements. A worker polls
// very often, and mostly finds no work.
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

// Sweep starts a run of a sweep. It returns a nil Sweep if tracing is off.
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

// Found creates the span of the run. The span ends now.
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
