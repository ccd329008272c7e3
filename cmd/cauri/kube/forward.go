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

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/klog/v2"
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

// reopenInterval is the time between two attempts to open a port-forward again.
const reopenInterval = 500 * time.Millisecond

// Forward is a port of this machine that leads to the api. It is opened again when its pod ends.
type Forward struct {
	URL       string // http://127.0.0.1:port
	cluster   *Cluster
	namespace string
	port      uint16
	stop      context.CancelFunc
	done      chan struct{}
}

// Close ends the port-forward.
func (f *Forward) Close() error {
	f.stop()
	<-f.done
	return nil
}

// Forward opens a port-forward to a pod of the api. sandboxURL tells where Cauri runs, if it is a name of a Service.
func (c *Cluster) Forward(ctx context.Context, sandboxURL string) (*Forward, error) {
	f := &Forward{cluster: c, namespace: c.cauriNamespace(sandboxURL), done: make(chan struct{})}
	ctx, f.stop = context.WithCancel(klog.NewContext(ctx, logr.Discard())) // the library logs each lost connection
	ended, err := f.open(ctx)
	if err != nil {
		f.stop()
		return nil, err
	}
	f.URL = fmt.Sprintf("http://127.0.0.1:%d", f.port)
	go f.keep(ctx, ended)
	return f, nil
}

// keep opens the port-forward again whenever it ends, at the same port, until ctx ends. The pod may be another one then.
func (f *Forward) keep(ctx context.Context, ended <-chan error) {
	defer close(f.done)
	for {
		<-ended
		for err := error(nil); ctx.Err() == nil; {
			if ended, err = f.open(ctx); err == nil {
				break
			}
			select {
			case <-ctx.Done():
			case <-time.After(reopenInterval):
			}
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// open opens a port-forward to a pod that runs now, at the port of before. The channel gets the result when it ends.
func (f *Forward) open(ctx context.Context) (<-chan error, error) {
	c := f.cluster
	pod, port, err := c.apiPod(ctx, f.namespace)
	if err != nil {
		return nil, err
	}
	dialer, err := c.dialer(c.client.Post().AbsPath("/api/v1/namespaces/" + f.namespace + "/pods/" + pod + "/portforward").URL())
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	ready := make(chan struct{})
	forwarder, err := portforward.NewOnAddressesForStreamingWithContext(running, dialer, []string{"127.0.0.1"},
		[]string{fmt.Sprintf("%d:%d", f.port, port)}, ready, io.Discard, io.Discard)
	if err != nil {
		stop()
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { defer stop(); ended <- forwarder.ForwardPorts() }()
	timer := time.NewTimer(forwardTimeout)
	defer timer.Stop()
	select {
	case <-ready:
	case err := <-ended:
		return nil, c.forwardError(ctx, err, f.namespace)
	case <-timer.C:
		stop()
		return nil, fmt.Errorf("the port-forward to the pod %s/%s was not ready after %s", f.namespace, pod, forwardTimeout)
	}
	ports, err := forwarder.GetPorts()
	if err != nil {
		stop()
		return nil, err
	}
	f.port = ports[0].Local
	return ended, nil
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

// pod is what is read of a pod.
type pod struct {
	Metadata struct {
		Name              string  `json:"name"`
		DeletionTimestamp *string `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec struct {
		Containers []struct {
			Ports []struct {
				Name          string `json:"name"`
				ContainerPort int32  `json:"containerPort"`
			} `json:"ports"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		Conditions []struct{ Type, Status string } `json:"conditions"`
	} `json:"status"`
}

// ready reports whether a pod answers, and is to go on doing so.
func (p *pod) ready() bool {
	for _, condition := range p.Status.Conditions {
		if condition.Type == "Ready" {
			return condition.Status == "True" && p.Metadata.DeletionTimestamp == nil
		}
	}
	return false
}

// apiPort is the port of the api in a pod; 0: it has none.
func (p *pod) apiPort() int32 {
	for _, container := range p.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == apiPort {
				return port.ContainerPort
			}
		}
	}
	return 0
}

// apiPod is a pod of the api that runs, and its port: one that is ready, if there is one.
func (c *Cluster) apiPod(ctx context.Context, namespace string) (name string, port int32, err error) {
	var pods struct {
		Items []pod `json:"items"`
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
	for i := range pods.Items {
		if p := &pods.Items[i]; p.apiPort() != 0 && (name == "" || p.ready()) {
			name, port = p.Metadata.Name, p.apiPort()
		}
	}
	if name == "" {
		return "", 0, fmt.Errorf("no pod of Cauri's api runs in the namespace %s: name the namespace of Cauri with --cauri-namespace", namespace)
	}
	return name, port, nil
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
