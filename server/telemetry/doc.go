// Package telemetry has Prometheus metrics, OpenTelemetry traces and the probes of the processes.
//
// The number of time series does not depend on the merchants: no label is a sandbox, a transaction, a phone number or a
// URL. The methods of a nil [API], [Worker] or [Tracing] do nothing.
//
// The steps to add a metric of the api (api.go) or the worker (worker.go):
//
//   - Add a field, its value in the constructor, an argument of MustRegister at the constructor's end, and a method
//     that counts. Without MustRegister the code compiles, but the metric is not served.
//   - Give it a value in the function everything of metrics_test.go, and write testdata/metrics.txt again
//     (go test ./server/telemetry -update).
//   - Describe it in docs/operations.md.
//
// registry.go has only the metrics of all processes.
package telemetry
