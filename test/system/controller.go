package system

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	c.Process, err = s.run("controller", append([]string{
		"controller", "--kubeconfig=" + kubeconfig, "--base-url=http://127.0.0.1:8080",
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

// CPU is the processor time that the process has used so far. Linux only.
func (p *Process) CPU() (time.Duration, error) {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.PID()), "stat"))
	if err != nil {
		return 0, fmt.Errorf("reading the processor time of %s: %w", p.Name, err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may contain spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, fmt.Errorf("the system does not report the processor time of %s", p.Name)
	}
	var ticks int64
	for _, field := range fields[11:13] { // user time and system time
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading the processor time of %s: %w", p.Name, err)
		}
		ticks += n
	}
	const perSecond = 100 // the value on every Linux that Go supports
	return time.Duration(ticks) * time.Second / perSecond, nil
}
