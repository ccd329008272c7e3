package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Tracing makes spans and sends them. A nil one makes none.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// The variables of the OpenTelemetry specification that turn tracing on and off; all others of its OTLP exporter, sampler and
// batches are followed as well.
const (
	variableEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	variableTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	variableProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	variableTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	variableExporter       = "OTEL_TRACES_EXPORTER"
	variableDisabled       = "OTEL_SDK_DISABLED"

	onlyProtocol = "http/protobuf"
)

// NewTracing makes what sends spans to the OTLP endpoint that the environment names. It returns nil where none is named. The
// service is called by its role, unless OTEL_SERVICE_NAME calls it something else.
func NewTracing(ctx context.Context, role, version string) (*Tracing, error) {
	if !tracingConfigured(os.Getenv) {
		return nil, nil
	}
	for _, variable := range []string{variableTracesProtocol, variableProtocol} {
		if protocol := os.Getenv(variable); protocol != "" && protocol != onlyProtocol {
			return nil, fmt.Errorf("%s=%s: traces are sent by %s only; set it to that, with the endpoint's port for HTTP (usually 4318)",
				variable, protocol, onlyProtocol)
		}
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("setting up traces: %w", err)
	}
	// Nothing of the command line or the environment is told, which may hold the database's password.
	described, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "cauri-"+role), attribute.String("service.version", version),
	), resource.WithFromEnv(), resource.WithTelemetrySDK(), resource.WithHost())
	if err != nil {
		return nil, fmt.Errorf("setting up traces: %w", err)
	}
	otel.SetErrorHandler(&complaints{})
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

// Close sends what was not sent yet.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// complaints logs what goes wrong with sending, at most once a minute: traces are lost then, and nothing else.
type complaints struct{ last atomic.Int64 }

// Handle implements [otel.ErrorHandler].
func (c *complaints) Handle(err error) {
	now := time.Now().Unix()
	last := c.last.Load()
	if now-last >= 60 && c.last.CompareAndSwap(last, now) {
		slog.Warn("traces could not be sent", "error", err)
	}
}
