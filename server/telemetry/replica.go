package telemetry

import "github.com/prometheus/client_golang/prometheus"

// ReplicaState is the state of a read replica of the database.
type ReplicaState struct {
	Usable   bool
	Answered int64 // number of lists that the replica answered
	Declined int64 // number of lists that the primary answered instead
}

// RegisterReplica registers metrics of a read replica.
func RegisterReplica(registry prometheus.Registerer, state func() ReplicaState) {
	registry.MustRegister(replicaCollector(state))
}

type replicaCollector func() ReplicaState

var (
	replicaUsable = prometheus.NewDesc("cauri_api_replica_usable",
		"1 while lists are read from the read replica of the database, 0 while the replica is unavailable or behind.", nil, nil)
	replicaLists = prometheus.NewDesc("cauri_api_replica_lists_total",
		"Lists by the database that answered: replica, or primary if the replica was unavailable or behind.", []string{"database"}, nil)
)

// Describe implements [prometheus.Collector].
func (replicaCollector) Describe(out chan<- *prometheus.Desc) {
	out <- replicaUsable
	out <- replicaLists
}

// Collect implements [prometheus.Collector].
func (c replicaCollector) Collect(out chan<- prometheus.Metric) {
	state := c()
	usable := 0.0
	if state.Usable {
		usable = 1
	}
	out <- prometheus.MustNewConstMetric(replicaUsable, prometheus.GaugeValue, usable)
	out <- prometheus.MustNewConstMetric(replicaLists, prometheus.CounterValue, float64(state.Answered), "replica")
	out <- prometheus.MustNewConstMetric(replicaLists, prometheus.CounterValue, float64(state.Declined), "primary")
}
