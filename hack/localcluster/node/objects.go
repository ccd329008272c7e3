package node

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

//go:embed objects/*.yaml
var nodeObjectFiles embed.FS

const (
	storageClass = "standard"
	volumeCount  = 10
	volumeSize   = "20Gi" // size in the API; the use of the disk is not limited
)

var (
	nodeResource           = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	deploymentResource     = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	serviceAccountResource = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
)

// nodeObjects returns the objects of the DNS server and the storage.
func nodeObjects(state process.StateDir) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, name := range []string{"objects/storage.yaml", "objects/coredns.yaml"} {
		content, err := nodeObjectFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		found, err := kube.DecodeObjects(name, bytes.NewReader(content))
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return append(objects, nodeVolumes(state)...), nil
}

// nodeVolumes returns the PersistentVolumes for claims.
func nodeVolumes(state process.StateDir) []*unstructured.Unstructured {
	var volumes []*unstructured.Unstructured
	for i := range volumeCount {
		name := fmt.Sprintf("local-%d", i)
		volumes = append(volumes, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1",
			"kind":       "PersistentVolume",
			"metadata":   map[string]any{"name": name},
			"spec": map[string]any{
				"capacity":                      map[string]any{"storage": volumeSize},
				"accessModes":                   []any{"ReadWriteOnce"},
				"storageClassName":              storageClass,
				"persistentVolumeReclaimPolicy": "Retain",
				"local":                         map[string]any{"path": state.File("volumes", name)},
				"nodeAffinity": map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{
					"matchExpressions": []any{map[string]any{"key": "kubernetes.io/hostname", "operator": "In", "values": []any{nodeName}}},
				}}}},
			},
		}})
	}
	return volumes
}

// makeVolumes creates the folders of the volumes. Every user may write to them, because pods run as various users.
func makeVolumes(state process.StateDir) error {
	for _, volume := range nodeVolumes(state) {
		folder := state.File("volumes", volume.GetName())
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("creating a volume: %w", err)
		}
		if err := os.Chmod(folder, 0o777); err != nil {
			return fmt.Errorf("setting the permissions of a volume: %w", err)
		}
	}
	return nil
}

// applyObjects applies the node's objects. It retries, because the API server creates its namespaces and roles only
// after it is ready.
func (n *node) applyObjects(ctx context.Context) error {
	if err := makeVolumes(n.state); err != nil {
		return err
	}
	objects, err := nodeObjects(n.state)
	if err != nil {
		return err
	}
	err = host.Poll(ctx, host.PollSlow, 30*time.Second, func(ctx context.Context) error {
		_, err := n.cluster.Apply(ctx, objects)
		return err
	})
	if err != nil {
		return fmt.Errorf("setting up the cluster: %w", err)
	}
	n.stages.reached("DNS and storage applied")
	return nil
}

// waitReady waits until pods can run and resolve names.
func (n *node) waitReady(ctx context.Context) error {
	for _, wanted := range []struct {
		what  string
		check func(context.Context) error
	}{
		{"node Ready", n.nodeReady},
		{"default ServiceAccount", n.accountThere},
		{"DNS answers", n.dnsReady},
	} {
		if err := host.Poll(ctx, host.PollFast, 2*time.Minute, wanted.check); err != nil {
			return fmt.Errorf("waiting for: %s: %w", wanted.what, err)
		}
		n.stages.reached(wanted.what)
	}
	return nil
}

func (n *node) nodeReady(ctx context.Context) error {
	stored, err := n.cluster.Dynamic.Resource(nodeResource).Get(ctx, nodeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if ready := kube.Condition(stored, "Ready"); ready["status"] != "True" {
		return fmt.Errorf("the node is not ready: %v", ready["message"])
	}
	return nil
}

// accountThere checks that the default namespace has a ServiceAccount. Pods need one.
func (n *node) accountThere(ctx context.Context) error {
	_, err := n.cluster.Dynamic.Resource(serviceAccountResource).Namespace(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}

func (n *node) dnsReady(ctx context.Context) error {
	stored, err := n.cluster.Dynamic.Resource(deploymentResource).Namespace("kube-system").Get(ctx, "coredns", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if available := kube.Condition(stored, "Available"); available["status"] != "True" {
		return fmt.Errorf("CoreDNS is not available: %v", available["message"])
	}
	return resolves(ctx, "kubernetes.default.svc."+clusterDomain)
}
