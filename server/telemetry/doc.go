// Package telemetry reports on the processes: Prometheus metrics, OpenTelemetry traces, and the answers to probes.
//
// Its size does not grow with what merchants do: no label is a sandbox, a transaction, a phone number or a URL. A nil [API], [Worker] or
// [Tracing] is turned off: its methods do nothing.
package telemetry
