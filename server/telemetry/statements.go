package telemetry

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Statements returns a tracer that creates a child span for every SQL statement. The span has the name of the statement
// and, after an error, the SQLSTATE. It has neither values nor the text of errors, which may contain values. Statements
// returns nil if tracing is off.
func (t *Tracing) Statements() pgx.QueryTracer {
	if t == nil {
		return nil
	}
	return statementTracer{t.tracer}
}

type statementTracer struct{ tracer trace.Tracer }

var (
	_ pgx.QueryTracer = statementTracer{}
	_ pgx.BatchTracer = statementTracer{}
)

type statementKey struct{}

// statement is a running SQL statement.
type statement struct {
	name  string
	began time.Time
	span  trace.Span // nil for a statement of a sweep that has not found any work yet
}

func (t statementTracer) begin(ctx context.Context, sql string) context.Context {
	running := &statement{name: statementName(sql), began: time.Now()}
	if trace.SpanFromContext(ctx).IsRecording() {
		ctx, running.span = t.tracer.Start(ctx, running.name, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(statementAttributes(running.name)...))
	} else if sweepOf(ctx) == nil {
		return ctx
	}
	return context.WithValue(ctx, statementKey{}, running)
}

func (t statementTracer) end(ctx context.Context, err error) {
	running, _ := ctx.Value(statementKey{}).(*statement)
	switch {
	case running == nil:
	case running.span != nil:
		failStatement(running.span, err)
		running.span.End()
	default:
		sweepOf(ctx).add(finished{running.name, running.began, time.Now(), err})
	}
}

// TraceQueryStart implements [pgx.QueryTracer].
func (t statementTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return t.begin(ctx, data.SQL)
}

// TraceQueryEnd implements [pgx.QueryTracer].
func (t statementTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	t.end(ctx, data.Err)
}

// TraceBatchStart implements [pgx.BatchTracer]. A batch is the entry into the tenant scope and one statement. The span
// has the name of the statement.
func (t statementTracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData) context.Context {
	queued := data.Batch.QueuedQueries
	if len(queued) == 0 {
		return ctx
	}
	return t.begin(ctx, queued[len(queued)-1].SQL)
}

// TraceBatchQuery implements [pgx.BatchTracer].
func (statementTracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd implements [pgx.BatchTracer].
func (t statementTracer) TraceBatchEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchEndData) {
	t.end(ctx, data.Err)
}

func statementAttributes(name string) []attribute.KeyValue {
	return []attribute.KeyValue{attribute.String("db.system.name", "postgresql"), attribute.String("db.query.summary", name)}
}

func failStatement(span trace.Span, err error) {
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		return
	}
	reason := "error"
	var answered *pgconn.PgError
	switch {
	case errors.As(err, &answered):
		reason = answered.Code
		span.SetAttributes(attribute.String("db.response.status_code", reason))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		reason = "given up"
	}
	span.SetStatus(codes.Error, reason)
}

// statementName returns the name of a generated query, from its first line. For other statements, it returns the first
// word.
func statementName(sql string) string {
	if named, ok := strings.CutPrefix(sql, "-- name: "); ok {
		name, _, _ := strings.Cut(named, " ")
		return name
	}
	word, _, _ := strings.Cut(strings.TrimSpace(sql), " ")
	if len(word) > 20 {
		return "statement"
	}
	return strings.ToLower(strings.TrimRight(word, ";"))
}
