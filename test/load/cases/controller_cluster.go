package cases

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/test/load/report"
	"github.com/cauri-dev/cauri/test/system"
	"github.com/cauri-dev/cauri/test/system/kube"
)

// cluster is a Kubernetes API server with its own etcd.
type cluster struct {
	*system.Cluster
	client.WithWatch
}

// startCluster needs KUBEBUILDER_ASSETS, the folder of kube-apiserver and etcd.
func startCluster(ctx context.Context) (c *cluster, err error) {
	c = &cluster{}
	c.Cluster, err = system.StartCluster(ctx)
	if errors.Is(err, system.ErrNoAssets) {
		return nil, fmt.Errorf("%w: %w; `make bench` does", report.ErrCannotMeasure, err)
	}
	if err != nil {
		return nil, err
	}
	if c.WithWatch, err = kube.Connect(c.Cluster, filepath.Join("config", "crd")); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *cluster) stop() {
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "stopping the API server:", err)
	}
}

func (c *cluster) namespace(ctx context.Context, name string) error {
	return c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func isReady(sandbox *v1alpha1.SandboxEnvironment) bool {
	return meta.IsStatusConditionTrue(sandbox.Status.Conditions, v1alpha1.ConditionReady)
}

// versions returns the resource versions of all objects that the controller writes.
func (c *cluster) versions(ctx context.Context) (map[string]string, error) {
	versions := map[string]string{}
	for _, kind := range []schema.GroupVersionKind{
		v1alpha1.GroupVersion.WithKind("SandboxEnvironment"), v1alpha1.GroupVersion.WithKind("TestClient"),
		corev1.SchemeGroupVersion.WithKind("Secret"),
	} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		if err := c.List(ctx, list); err != nil {
			return nil, fmt.Errorf("listing every %s: %w", kind.Kind, err)
		}
		for _, item := range list.Items {
			versions[kind.Kind+" "+item.Namespace+"/"+item.Name] = item.ResourceVersion
		}
	}
	return versions, nil
}

// metrics returns the metrics of a process, line by line.
type metrics []string

func (s *scale) metrics(ctx context.Context) (metrics, error) {
	return metricsOf(ctx, s.controller.MetricsURL)
}

func metricsOf(ctx context.Context, url string) (lines metrics, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept-Encoding", "identity") // compression would cost the process that is measured
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	scanner := bufio.NewScanner(response.Body)
	for scanner.Scan() {
		lines = append(lines, scanner.Text())
	}
	return lines, scanner.Err()
}

// sum adds the values of a metric whose labels contain a text.
func (m metrics) sum(name, label string) (sum float64) {
	for _, line := range m {
		series, value, found := strings.Cut(line, "} ")
		if !found || !strings.HasPrefix(series, name+"{") || !strings.Contains(series, label) {
			continue
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			sum += n
		}
	}
	return sum
}

// writes counts the controller's write requests to the API server.
func (m metrics) writes() (sum float64) {
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		sum += m.sum("rest_client_requests_total", `method="`+method+`"`)
	}
	return sum
}
