package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracing creates spans and exports them. A nil Tracing creates none.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// Environment variables of the OpenTelemetry specification that turn tracing on and off. The SDK also reads the
// variables of its OTLP exporter, sampler and batches.
const (
	variableEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	variableTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	variableProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	variableTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	variableExporter       = "OTEL_TRACES_EXPORTER"
	variableDisabled       = "OTEL_SDK_DISABLED"

	onlyProtocol = "http/protobuf"
)

// NewTracing returns a Tracing that exports to the OTLP endpoint in the environment. It returns nil without an
// endpoint. The service name is "cauri-" and the role, unless OTEL_SERVICE_NAME is set.
func NewTracing(ctx context.Context, role, version string) (*Tracing, error) {
	if !tracingConfigured(os.Getenv) {
		return nil, nil
	}
	for _, variable := range []string{variableTracesProtocol, variableProtocol} {
		if protocol := os.Getenv(variable); protocol != "" && protocol != onlyProtocol {
			return nil, fmt.Errorf("%s=%s: traces are exported by %s only; set this value, with the HTTP port of the endpoint (usually 4318)",
				variable, protocol, onlyProtocol)
		}
	}
	for _, variable := range []string{variableEndpoint, variableTracesEndpoint} {
		endpoint := os.Getenv(variable)
		if u, err := url.Parse(endpoint); endpoint != "" && (err != nil || u.Host == "" || u.User != nil || strings.Contains(endpoint, "@")) {
			return nil, fmt.Errorf("%s is no URL of a collector: write http://host:4318, and credentials in OTEL_EXPORTER_OTLP_HEADERS", variable)
		}
	}
	otel.SetLogger(logr.Discard()) // it would print the variables that it cannot read, which may have credentials
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("setting up traces: %w", err)
	}
	// The resource must not contain the command line or the environment, which may have the password of the database.
	described, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "cauri-"+role), attribute.String("service.version", version),
	), resource.WithFromEnv(), resource.WithTelemetrySDK(), resource.WithHost())
	if err != nil {
		return nil, fmt.Errorf("setting up traces: %w", err)
	}
	otel.SetErrorHandler(&exportErrors{})
	return newTracing(sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described))), nil
}

func newTracing(provider *sdktrace.TracerProvider) *Tracing {
	return &Tracing{provider: provider, tracer: provider.Tracer("github.com/cauri-dev/cauri")}
}

func tracingConfigured(getenv func(string) string) bool {
	if strings.EqualFold(getenv(variableDisabled), "true") || getenv(variableExporter) == "none" {
		return false
	}
	return getenv(variableEndpoint) != "" || getenv(variableTracesEndpoint) != ""
}

// Close exports the remaining spans.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// exportErrors logs errors of the export, at most one a minute.
type exportErrors struct{ last atomic.Int64 }

// Handle implements [otel.ErrorHandler].
func (c *exportErrors) Handle(err error) {
	now := time.Now().Unix()
	last := c.last.Load()
	if now-last >= 60 && c.last.CompareAndSwap(last, now) {
		slog.Warn("cannot export traces", "error", err)
	}
}
