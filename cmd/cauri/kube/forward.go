package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// The api's pods, as the chart and config/default label them.
const (
	apiPods = "app.kubernetes.io/part-of=cauri,app.kubernetes.io/component=api"
	apiPort = "http"
)

// defaultCauriNamespace is where the documents install Cauri.
const defaultCauriNamespace = "cauri-system"

// forwardTimeout bounds the start of a port-forward.
const forwardTimeout = 30 * time.Second

// Forward is a port of this machine that leads to the api.
type Forward struct {
	URL  string // http://127.0.0.1:port
	stop context.CancelFunc
	done chan error
}

// Close ends the port-forward.
func (f *Forward) Close() error {
	f.stop()
	<-f.done
	return nil
}

// Forward opens a port-forward to a pod of the api. sandboxURL tells where Cauri runs, if it is a name of a Service.
func (c *Cluster) Forward(ctx context.Context, sandboxURL string) (*Forward, error) {
	namespace := c.cauriNamespace(sandboxURL)
	pod, port, err := c.apiPod(ctx, namespace)
	if err != nil {
		return nil, err
	}
	dialer, err := c.dialer(c.client.Post().AbsPath("/api/v1/namespaces/" + namespace + "/pods/" + pod + "/portforward").URL())
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	ready := make(chan struct{})
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(running, dialer, []string{"127.0.0.1"}, []string{fmt.Sprintf("0:%d", port)},
		ready, io.Discard, io.Discard)
	if err != nil {
		stop()
		return nil, err
	}
	f := &Forward{stop: stop, done: make(chan error, 1)}
	go func() { f.done <- forwarder.ForwardPorts() }()
	timer := time.NewTimer(forwardTimeout)
	defer timer.Stop()
	select {
	case <-ready:
	case err := <-f.done:
		stop()
		return nil, c.forwardError(ctx, err, namespace)
	case <-timer.C:
		stop()
		return nil, fmt.Errorf("the port-forward to the pod %s/%s was not ready after %s", namespace, pod, forwardTimeout)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	f.URL = fmt.Sprintf("http://127.0.0.1:%d", ports[0].Local)
	return f, nil
}

// forwardError names the right that is missing. The error of an upgrade has the API server's message, and no code.
func (c *Cluster) forwardError(ctx context.Context, err error, namespace string) error {
	if err == nil {
		return errors.New("the port-forward ended at once")
	}
	if allowed, asked := c.Allowed(ctx, "create", "", "pods", "portforward", namespace); asked == nil && !allowed {
		return fmt.Errorf("you may not open a port-forward in the namespace %s: ask for the right to create pods/portforward there, "+
			"or for a URL of the API that this machine reaches: %w", namespace, err)
	}
	return fmt.Errorf("opening a port-forward: %w", err)
}

// cauriNamespace is where Cauri runs: what the flag says, or what the name of its Service says.
func (c *Cluster) cauriNamespace(sandboxURL string) string {
	if c.cauri != "" {
		return c.cauri
	}
	if at, err := url.Parse(sandboxURL); err == nil {
		if parts := strings.Split(at.Hostname(), "."); len(parts) >= 3 && parts[2] == "svc" {
			return parts[1]
		}
	}
	return defaultCauriNamespace
}

// apiPod is a pod of the api that runs, and its port.
func (c *Cluster) apiPod(ctx context.Context, namespace string) (name string, port int32, err error) {
	var pods struct {
		Items []struct {
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
			Spec struct {
				Containers []struct {
					Ports []struct {
						Name          string `json:"name"`
						ContainerPort int32  `json:"containerPort"`
					} `json:"ports"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"items"`
	}
	query := url.Values{"labelSelector": {apiPods}, "fieldSelector": {"status.phase=Running"}}
	err = c.get(ctx, "/api/v1/namespaces/"+namespace+"/pods", query, &pods)
	if apierrors.IsForbidden(err) {
		return "", 0, fmt.Errorf("you may not list pods in the namespace %s: ask for the rights to list pods and to create pods/portforward "+
			"there, or for a URL of the API that this machine reaches: %w", namespace, err)
	}
	if err != nil {
		return "", 0, err
	}
	for _, pod := range pods.Items {
		for _, container := range pod.Spec.Containers {
			for _, p := range container.Ports {
				if p.Name == apiPort {
					return pod.Metadata.Name, p.ContainerPort, nil
				}
			}
		}
	}
	return "", 0, fmt.Errorf("no pod of Cauri's api runs in the namespace %s: name the namespace of Cauri with --cauri-namespace", namespace)
}

// dialer speaks WebSocket, or SPDY to an API server before Kubernetes 1.31, as kubectl does.
func (c *Cluster) dialer(at *url.URL) (httpstream.Dialer, error) {
	config := rest.CopyConfig(c.config)
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	older := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, at)
	newer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(at, config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(newer, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}
