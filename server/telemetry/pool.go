package telemetry

import (
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
)

// RegisterPool registers metrics of a pool of database connections.
func RegisterPool(registry prometheus.Registerer, stat func() *pgxpool.Stat) {
	registry.MustRegister(poolCollector(stat))
}

type poolCollector func() *pgxpool.Stat

var (
	poolConnections = prometheus.NewDesc("cauri_database_connections",
		"Connections to the database by state: acquired (in use), idle, constructing.", []string{"state"}, nil)
	poolMax      = prometheus.NewDesc("cauri_database_connections_max", "Maximum number of connections to the database.", nil, nil)
	poolAcquires = prometheus.NewDesc("cauri_database_acquires_total", "Connections taken from the pool.", nil, nil)
	poolWaits    = prometheus.NewDesc("cauri_database_acquire_waits_total",
		"Connections taken from the pool after a wait, because none was idle.", nil, nil)
	poolWaited = prometheus.NewDesc("cauri_database_acquire_wait_seconds_total",
		"Time spent waiting for a connection when none was idle.", nil, nil)
	poolCanceled = prometheus.NewDesc("cauri_database_acquires_canceled_total",
		"Waits for a connection that ended without one, because the caller's deadline passed.", nil, nil)
)

// Describe implements [prometheus.Collector].
func (poolCollector) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{poolConnections, poolMax, poolAcquires, poolWaits, poolWaited, poolCanceled} {
		out <- desc
	}
}

// Collect implements [prometheus.Collector].
func (c poolCollector) Collect(out chan<- prometheus.Metric) {
	s := c()
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	counter := func(desc *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value)
	}
	gauge(poolConnections, float64(s.AcquiredConns()), "acquired")
	gauge(poolConnections, float64(s.IdleConns()), "idle")
	gauge(poolConnections, float64(s.ConstructingConns()), "constructing")
	gauge(poolMax, float64(s.MaxConns()))
	counter(poolAcquires, float64(s.AcquireCount()))
	counter(poolWaits, float64(s.EmptyAcquireCount()))
	counter(poolWaited, s.EmptyAcquireWaitTime().Seconds())
	counter(poolCanceled, float64(s.CanceledAcquireCount()))
}
