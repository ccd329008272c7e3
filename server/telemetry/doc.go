// Package telemetry is what the processes tell of themselves: Prometheus metrics, OpenTelemetry traces, and the answers to
// probes.
//
// Nothing in it grows with what merchants do: no label is a sandbox, a transaction, a number or a URL. A nil [API], [Worker] or
// [Tracing] is one that is turned off; each of their methods then does nothing.
package telemetry
