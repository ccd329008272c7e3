package kube

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
)

// The labels of the api's pods, set by the chart and config/default.
const (
	apiPods = "app.kubernetes.io/part-of=cauri,app.kubernetes.io/component=api"
	apiPort = "http"
)

// defaultCauriNamespace is the namespace in which the documents install Cauri.
const defaultCauriNamespace = "cauri-system"

// forwardTimeout bounds the start of a port-forward.
const forwardTimeout = 30 * time.Second

// Forward is a port-forward to the api through the API server and a pod. It reopens when its pod ends. It does not
// listen on a port of this machine, because another user could use such a port. While the pod is replaced, another user
// could even listen on the port and receive the requests.
type Forward struct {
	cluster   *Cluster
	namespace string

	mutex       sync.Mutex
	pod         httpstream.Connection // nil: not open
	port        int32
	connections int
	closed      bool
}

// Close ends the port-forward.
func (f *Forward) Close() error {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	f.closed = true
	return f.closePod()
}

func (f *Forward) closePod() error {
	if f.pod == nil {
		return nil
	}
	pod := f.pod
	f.pod = nil
	return pod.Close()
}

// Forward returns a port-forward to a pod of the api. If the host of sandboxURL is a name of a Service, it determines
// the namespace in which Cauri runs.
func (c *Cluster) Forward(ctx context.Context, sandboxURL string) (*Forward, error) {
	f := &Forward{cluster: c, namespace: c.cauriNamespace(sandboxURL)}
	return f, f.open(ctx)
}

// DialContext connects to a running pod of the api. It ignores the address.
func (f *Forward) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	if f.closed {
		return nil, net.ErrClosed
	}
	if f.pod != nil {
		select {
		case <-f.pod.CloseChan():
			_ = f.closePod()
		default:
			if conn, err := f.connect(); err == nil {
				return conn, nil
			}
			_ = f.closePod() // the pod has ended
		}
	}
	if err := f.open(ctx); err != nil {
		return nil, err
	}
	return f.connect()
}

// connect opens two streams to the pod: one for data, and one on which the kubelet reports an error.
func (f *Forward) connect() (net.Conn, error) {
	pod, header := f.pod, http.Header{}
	f.connections++
	header.Set(corev1.StreamType, corev1.StreamTypeError)
	header.Set(corev1.PortHeader, strconv.Itoa(int(f.port)))
	header.Set(corev1.PortForwardRequestIDHeader, strconv.Itoa(f.connections))
	failure, err := pod.CreateStream(header)
	if err != nil {
		return nil, err
	}
	_ = failure.Close() // closes only the write side, which is not used
	header.Set(corev1.StreamType, corev1.StreamTypeData)
	data, err := pod.CreateStream(header)
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	go func() {
		if n, _ := failure.Read(make([]byte, 1)); n > 0 {
			_ = pod.Close()
		}
	}()
	go func() { _, _ = io.Copy(far, data); _ = far.Close() }()
	go func() {
		_, _ = io.Copy(data, far)
		_ = data.Reset()
		pod.RemoveStreams(data, failure)
	}()
	return near, nil
}

// open opens a port-forward to a running pod.
func (f *Forward) open(ctx context.Context) error {
	c := f.cluster
	pod, port, err := c.apiPod(ctx, f.namespace)
	if err != nil {
		return err
	}
	dialer, err := c.dialer(c.client.Post().AbsPath("/api/v1/namespaces/" + f.namespace + "/pods/" + pod + "/portforward").URL())
	if err != nil {
		return err
	}
	type dialed struct {
		pod httpstream.Connection
		err error
	}
	result := make(chan dialed)
	ctx, cancel := context.WithTimeoutCause(ctx, forwardTimeout,
		fmt.Errorf("the port-forward to the pod %s/%s was not ready after %s", f.namespace, pod, forwardTimeout))
	defer cancel()
	go func() { // in a goroutine, because the dialer has no context
		connection, _, err := dialer.Dial(portforward.PortForwardProtocolV1Name)
		select {
		case result <- dialed{connection, err}:
		case <-ctx.Done():
			if err == nil {
				_ = connection.Close()
			}
		}
	}()
	select {
	case r := <-result:
		if r.err != nil {
			return c.forwardError(ctx, r.err, f.namespace)
		}
		f.pod, f.port = r.pod, port
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// forwardError adds the name of the missing right to an error. The error of a failed upgrade has the API server's
// message, but no code.
func (c *Cluster) forwardError(ctx context.Context, err error, namespace string) error {
	if allowed, asked := c.Allowed(ctx, "create", "", "pods", "portforward", namespace); asked == nil && !allowed {
		forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods/portforward"}, "", err)
		return Because(forbidden, "you may not open a port-forward in the namespace %s: ask for the right to create pods/portforward there, "+
			"or for a URL of the API that this machine reaches", namespace)
	}
	return fmt.Errorf("opening a port-forward: %w", err)
}

// cauriNamespace returns the namespace in which Cauri runs: the value of the flag, or the namespace in the name of the
// Service.
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

// pod has the fields of a pod that Forward reads.
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

// ready reports whether a pod is ready and is not being deleted.
func (p *pod) ready() bool {
	for _, condition := range p.Status.Conditions {
		if condition.Type == "Ready" {
			return condition.Status == "True" && p.Metadata.DeletionTimestamp == nil
		}
	}
	return false
}

// apiPort returns the port of the api in a pod; 0 for none.
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

// apiPod returns the name and the port of a running pod of the api. It prefers a ready pod.
func (c *Cluster) apiPod(ctx context.Context, namespace string) (name string, port int32, err error) {
	var pods struct {
		Items []pod `json:"items"`
	}
	query := url.Values{"labelSelector": {apiPods}, "fieldSelector": {"status.phase=Running"}}
	err = c.get(ctx, "/api/v1/namespaces/"+namespace+"/pods", query, &pods)
	if apierrors.IsForbidden(err) {
		return "", 0, Because(err, "you may not list pods in the namespace %s: ask for the rights to list pods and to create pods/portforward "+
			"there, or for a URL of the API that this machine reaches", namespace)
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

// dialer returns a dialer that uses WebSocket. Like kubectl, it falls back to SPDY for an API server before Kubernetes
// 1.31.
func (c *Cluster) dialer(at *url.URL) (httpstream.Dialer, error) {
	config := rest.CopyConfig(c.config)
	transport, upgrader, err := spdy.RoundTripperFor(config)
	if err != nil {
		return nil, err
	}
	older := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport}, http.MethodPost, at)
	newer, err := portforward.NewSPDYOverWebsocketDialerForStreamingWithLogger(logr.Discard(), at, config)
	if err != nil {
		return nil, err
	}
	return portforward.NewFallbackDialerForStreaming(newer, older, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	}), nil
}
