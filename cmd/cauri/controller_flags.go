package main

import (
	"time"

	"github.com/cauri-dev/cauri/server/payments"
	"github.com/cauri-dev/cauri/server/sandboxes"
)

// controllerFlags are the settings of `cauri serve controller`.
type controllerFlags struct {
	guardFlags
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
	installation            string
	leaderElectionID        string
	maxSandboxes            int
	maxTestClients          int
	signingSecret           string   // secret for webhooks that name none; has no flag
	callbackHosts           []string // hosts for sandboxes that name none; has no flag
	operatorDomain          string
	// operatorRoot is passed to [controllers.Options]; it has no flag. nil: from operatorDomain.
	operatorRoot func(*sandboxes.Sandbox, payments.Operator) string
}
