package telemetry

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// receiver is an OTLP endpoint.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
	raw   strings.Builder // all that came, as text
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		var message collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &message)
		}
		if err != nil || request.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", request.URL.Path, err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.raw.WriteString(message.String())
		for _, resource := range message.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				r.spans = append(r.spans, scope.GetSpans()...)
			}
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(r.Close)
	return r
}

// follow makes tracing that sends to a receiver; flush sends all there is.
func follow(t *testing.T) (tracing *Tracing, r *receiver, flush func()) {
	t.Helper()
	r = newReceiver(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", r.URL)
	tracing, err := NewTracing(t.Context(), "api", "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return tracing, r, func() {
		t.Helper()
		if err := tracing.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// spanOf finds a span that arrived.
func (r *receiver) spanOf(t *testing.T, name string) *tracepb.Span {
	t.Helper()
	for _, s := range r.spans {
		if s.GetName() == name {
			return s
		}
	}
	t.Fatalf("no span %q arrived; there are %v", name, r.names())
	return nil
}

func (r *receiver) names() (names []string) {
	for _, s := range r.spans {
		names = append(names, s.GetName())
	}
	return names
}

func textOf(s *tracepb.Span, key string) string {
	for _, a := range s.GetAttributes() {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

func TestSpansArrive(t *testing.T) {
	tracing, r, flush := follow(t)
	const number, key = "+250788000001", "sk_test_secret"
	request := httptest.NewRequest(http.MethodPost, "/v1/payments?msisdn="+number, strings.NewReader(number))
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Traceparent", "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01")
	ctx, span := tracing.Serve(request)
	tracing.Describe(ctx, "cauri.organization", "org_1")

	statements := tracing.Statements()
	in := statements.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: "-- name: FindSIM :one\nselect 1", Args: []any{number, key}})
	statements.TraceQueryEnd(in, nil, pgx.TraceQueryEndData{Err: &pgconn.PgError{Code: "23505", Message: "for " + number, Detail: key}})
	var batch pgx.Batch
	batch.Queue("select set_config('cauri.tenant', $1, true)", "1")
	batch.Queue("-- name: RecordCollection :one\ninsert", number)
	batches := statements.(pgx.BatchTracer)
	in = batches.TraceBatchStart(ctx, nil, pgx.TraceBatchStartData{Batch: &batch})
	batches.TraceBatchEnd(in, nil, pgx.TraceBatchEndData{})
	span.Served("/v1/payments", http.MethodPost, "req_1", 503)
	flush()

	served := r.spanOf(t, "POST /v1/payments")
	if len(served.GetParentSpanId()) != 0 || len(served.GetLinks()) != 1 {
		t.Errorf("the caller's trace has to be a link and no parent: parent %x, links %v", served.GetParentSpanId(), served.GetLinks())
	}
	if served.GetStatus().GetCode() != tracepb.Status_STATUS_CODE_ERROR || textOf(served, "http.route") != "/v1/payments" ||
		textOf(served, "cauri.organization") != "org_1" || textOf(served, "cauri.request_id") != "req_1" {
		t.Errorf("the request's span: %v", served)
	}
	for _, name := range []string{"FindSIM", "RecordCollection"} {
		if child := r.spanOf(t, name); string(child.GetParentSpanId()) != string(served.GetSpanId()) {
			t.Errorf("%s does not belong to its request", name)
		}
	}
	if failed := r.spanOf(t, "FindSIM"); failed.GetStatus().GetMessage() != "23505" {
		t.Errorf("the failed statement: %v", failed)
	}
	for _, secret := range []string{number, number[1:], key, "Bearer"} {
		if strings.Contains(r.raw.String(), secret) {
			t.Errorf("%q is in the traces", secret)
		}
	}
	for _, want := range []string{`"cauri-api"`, `"1.2.3"`} {
		if !strings.Contains(r.raw.String(), want) {
			t.Errorf("%s is not in the traces", want)
		}
	}
}

// A worker looks for work twenty times a second; a look that finds none is no news, and neither is a statement that belongs to nothing.
func TestSweepsBecomeSpansOnlyIfTheyFoundSomething(t *testing.T) {
	tracing, r, flush := follow(t)
	statements := tracing.Statements()
	look := func(ctx context.Context, name string, err error) {
		in := statements.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: "-- name: " + name + " :many\nselect 1"})
		statements.TraceQueryEnd(in, nil, pgx.TraceQueryEndData{Err: err})
	}
	ctx, _ := tracing.Sweep(t.Context())
	look(ctx, "FoundNothing", nil)
	look(t.Context(), "Alone", nil)
	ctx, sweep := tracing.Sweep(t.Context())
	look(ctx, "Claim", nil)
	look(ctx, "Settle", context.DeadlineExceeded)
	sweep.Found(ctx, "settlement", attribute.Int("transactions", 2))
	flush()

	if diff := cmp.Diff([]string{"Claim", "Settle", "settlement"}, r.names()); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	whole, claim := r.spanOf(t, "settlement"), r.spanOf(t, "Claim")
	if string(claim.GetParentSpanId()) != string(whole.GetSpanId()) || claim.GetStartTimeUnixNano() < whole.GetStartTimeUnixNano() ||
		claim.GetEndTimeUnixNano() > whole.GetEndTimeUnixNano() {
		t.Errorf("%v is not within %v", claim, whole)
	}
	if failed := r.spanOf(t, "Settle"); failed.GetStatus().GetMessage() != "given up" {
		t.Errorf("the failed statement: %v", failed)
	}
}

func TestTracingIsOffUnlessConfigured(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want bool
	}{
		"nothing":            {nil, false},
		"endpoint":           {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, true},
		"endpoint of traces": {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, true},
		"turned off":         {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"}, false},
		"no exporter":        {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, false},
	} {
		if got := tracingConfigured(func(key string) string { return c.env[key] }); got != c.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := NewTracing(t.Context(), "api", "1"); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("a protocol that is not spoken: %v", err)
	}
}

// Everything that is turned off is nil, and its methods do nothing and allocate nothing.
func TestTurnedOffCostsNothing(t *testing.T) {
	var tracing *Tracing
	if tracing.Statements() != nil {
		t.Error("there is a tracer of statements")
	}
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	ctx := t.Context()
	var api *API
	var worker *Worker
	allocations := testing.AllocsPerRun(100, func() {
		_, span := tracing.Serve(request)
		tracing.Describe(ctx, "a", "b")
		span.Served("/", http.MethodGet, "req_1", 200)
		ctx, sweep := tracing.Sweep(ctx)
		sweep.Found(ctx, "nothing")
		_, call := tracing.Call(ctx, "nothing")
		call.Fail("why")
		call.End()
		api.Begin()
		api.End("/", http.MethodGet, 200, 0)
		worker.Settled("SUCCESS", nil)
		worker.Attempted(Attempt{})
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	if err := tracing.Close(ctx); err != nil {
		t.Error(err)
	}
}

func TestStatementName(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"-- name: FindSIM :one\nselect 1": "FindSIM", "begin": "begin", "COMMIT;": "commit", "": "",
		"select set_config('role', 'x', true)": "select", "x'secret-that-is-long-and-without-blanks'": "statement",
	} {
		if got := statementName(sql); got != want {
			t.Errorf("%q: got %q, want %q", sql, got, want)
		}
	}
}

func TestFailuresOfStatementsAreNoNews(t *testing.T) {
	tracing, r, flush := follow(t)
	ctx, span := tracing.Begin(t.Context(), "work")
	statements := tracing.Statements()
	for name, err := range map[string]error{"Missing": pgx.ErrNoRows, "Broken": errors.New("cannot reach 10.0.0.1 as user cauri")} {
		in := statements.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: "-- name: " + name + " :one\n"})
		statements.TraceQueryEnd(in, nil, pgx.TraceQueryEndData{Err: err})
	}
	span.End()
	flush()
	if got := r.spanOf(t, "Missing").GetStatus().GetCode(); got != tracepb.Status_STATUS_CODE_UNSET {
		t.Errorf("a row that is not there is no failure: %v", got)
	}
	if got := r.spanOf(t, "Broken").GetStatus().GetMessage(); got != "error" {
		t.Errorf("got %q", got)
	}
}
