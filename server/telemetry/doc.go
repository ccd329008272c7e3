// Package telemetry reports on the processes: Prometheus metrics, OpenTelemetry traces, and the answers to probes.
//
// Its size does not grow with what merchants do: no label is a sandbox, a transaction, a phone number or a URL. A nil [API], [Worker] or
// [Tracing] is turned off: its methods do nothing.
//
// A new metric of the api (api.go) or the worker (worker.go) needs a field, an entry in the constructor, an argument of MustRegister at the
// constructor's end, and a method that counts. Nothing fails to compile without MustRegister, but then the metric is not served. So also
// give it a value in everything of metrics_test.go, write testdata/metrics.txt again (go test ./server/telemetry -update), and describe it
// in docs/operations.md. registry.go has only what all processes report.
package telemetry
