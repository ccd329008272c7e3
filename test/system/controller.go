package system

import (
	"context"
	"net/http"
	"time"

	"github.com/cauri-dev/cauri/test/ports"
)

// Controller is a running controller.
type Controller struct {
	*Process
	MetricsURL string
	healthURL  string
}

// StartController starts a controller for the cluster of a kubeconfig and waits until its caches are filled.
func (s *System) StartController(ctx context.Context, kubeconfig string, within time.Duration, flags ...string) (*Controller, error) {
	health, err := s.port("controller")
	if err != nil {
		return nil, err
	}
	metrics, err := s.port("controller's metrics")
	if err != nil {
		return nil, err
	}
	c := &Controller{MetricsURL: "http://" + ports.Loopback(metrics) + "/metrics", healthURL: "http://" + ports.Loopback(health)}
	c.Process, err = s.run("controller", "controller", append([]string{
		"--kubeconfig=" + kubeconfig, "--base-url=http://127.0.0.1:8080",
		"--health-address=" + ports.Loopback(health), "--metrics-address=" + ports.Loopback(metrics),
	}, flags...))
	if err != nil {
		return nil, err
	}
	return c, c.ready(ctx, within, c.Ready)
}

// Ready returns nil if the controller is ready.
func (c *Controller) Ready(ctx context.Context) error {
	return Answers(ctx, c.healthURL+"/readyz", http.StatusOK)
}
