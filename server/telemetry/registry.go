package telemetry

import (
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// NewRegistry returns a registry with the metrics of the Go runtime, of the process, and the build info.
func NewRegistry(role, version string) *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		buildInfo(role, version),
	)
	return registry
}

// buildInfo returns a metric with the value 1. Its labels are the role, the version and the Go version.
func buildInfo(role, version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "cauri_build_info", Help: "Always 1; the labels are the role of the process, its version and the version of Go.",
		ConstLabels: prometheus.Labels{"role": role, "version": version, "goversion": runtime.Version()},
	})
	info.Set(1)
	return info
}

// RegisterBuildInfo registers only the build info.
func RegisterBuildInfo(registry prometheus.Registerer, role, version string) error {
	return registry.Register(buildInfo(role, version))
}

// MetricsHandler serves all metrics of a registry.
func MetricsHandler(registry *prometheus.Registry) http.Handler {
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}
