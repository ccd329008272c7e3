package main

import "time"

// controllerFlags are the settings of `cauri controller`.
type controllerFlags struct {
	databaseURL             string
	kubeconfig              string
	baseURL                 string
	encryptionKeyFile       string
	healthAddress           string
	metricsAddress          string
	clockOffset             time.Duration
	containerMemory         int64
	leaderElect             bool
	leaderElectionNamespace string
	concurrency             int
	kubeAPIQPS              float32
	kubeAPIBurst            int
	statusWritesPerSecond   float64
	watchNamespaces         []string
	maxSandboxes            int
	maxTestClients          int
	signingSecret           string   // of all sandboxes whose webhook names none; no flag
	callbackHosts           []string // of all sandboxes that name none; no flag
}
