package kube

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
)

// fieldManager is who owns what is applied. It is not kubectl's name, so that `kubectl apply` by hand stays a decision of
// the user that the API server tells from ours.
const fieldManager = "localcluster"

// Cluster is a Kubernetes that objects are applied to, whoever runs it.
type Cluster struct {
	Dynamic   dynamic.Interface
	discovery discovery.DiscoveryInterface
}

// Open connects to the cluster of the current context.
func Open(kubeconfig []byte) (*Cluster, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading a kubeconfig: %w", err)
	}
	config.Timeout = 20 * time.Second
	config.QPS = -1 // a handful of requests in a row
	config.UserAgent = fieldManager
	// Deprecations are for those who write the objects, not for those who run them.
	config.WarningHandler = rest.NoWarnings{}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	discoveryClient, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return &Cluster{Dynamic: dynamicClient, discovery: discoveryClient}, nil
}

// Version asks the server for its version, which shows that it is there and accepts the credentials.
func (c *Cluster) Version() (string, error) {
	version, err := c.discovery.ServerVersion()
	if err != nil {
		return "", err
	}
	return version.GitVersion, nil
}

// Apply applies objects by server-side apply, in their order, and returns them as they are stored.
func (c *Cluster) Apply(ctx context.Context, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	groups, err := restmapper.GetAPIGroupResources(c.discovery)
	if err != nil {
		return nil, fmt.Errorf("asking the cluster for its resources: %w", err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	var applied []*unstructured.Unstructured
	for _, object := range objects {
		client, err := c.clientFor(mapper, object)
		if err != nil {
			return nil, fmt.Errorf("applying %s: %w", Describe(object), err)
		}
		// Forced: what the files say counts, whoever has changed it since.
		stored, err := client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		if err != nil {
			return nil, fmt.Errorf("applying %s: %w", Describe(object), err)
		}
		applied = append(applied, stored)
	}
	return applied, nil
}

// clientFor also fills in the default namespace, as kubectl does.
func (c *Cluster) clientFor(mapper apimeta.RESTMapper, object *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	kind := object.GroupVersionKind()
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return nil, err
	}
	if mapping.Scope.Name() != apimeta.RESTScopeNameNamespace {
		return c.Dynamic.Resource(mapping.Resource), nil
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
	return c.Dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace()), nil
}

func Describe(object *unstructured.Unstructured) string {
	name := object.GetName()
	if namespace := object.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return object.GetKind() + " " + name
}

// ReadObjects reads the objects of a YAML or JSON file, or of all such files below a folder, except in folders of their own
// kustomization: these are kustomize's to build. Those that others depend on come first; otherwise the order of the files stays.
func ReadObjects(path string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && file != path && isKustomization(file) {
			return fs.SkipDir
		}
		if entry.IsDir() || (file != path && !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file))) {
			return nil
		}
		found, err := readFile(file)
		objects = append(objects, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the objects of %s: %w", path, err)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return applyRank(a) - applyRank(b) })
	return objects, nil
}

func isKustomization(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "kustomization.yaml"))
	return err == nil
}

func readFile(path string) ([]*unstructured.Unstructured, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return DecodeObjects(path, file)
}

// DecodeObjects reads the objects of a YAML or JSON text; the name is for errors.
func DecodeObjects(name string, text io.Reader) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bufio.NewReader(text), 4096)
	var objects []*unstructured.Unstructured
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		// An empty document, and what is written for kustomize and not for the API server.
		if len(object.Object) == 0 || strings.HasPrefix(object.GetAPIVersion(), "kustomize.config.k8s.io/") {
			continue
		}
		objects = append(objects, object)
	}
}

// applyRank sorts by who needs whom. References between our own kinds need no order.
func applyRank(object *unstructured.Unstructured) int {
	switch object.GetKind() {
	case "Namespace":
		return 0
	case "CustomResourceDefinition":
		return 1
	case "Secret", "ConfigMap":
		return 2
	default:
		return 3
	}
}
