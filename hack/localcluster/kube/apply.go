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

// fieldManager owns the applied fields. It differs from kubectl's name, so that the API server can tell our changes
// from those of a user who runs `kubectl apply`.
const fieldManager = "localcluster"

// Cluster is a client of a Kubernetes cluster: that of localcluster or the user's.
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
	config.QPS = -1 // no limit, because there are only a few requests
	config.UserAgent = fieldManager
	// Deprecation warnings are for the authors of the objects, not for users of localcluster.
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

// Version returns the server's version. Without an error, the server is reachable and accepts the credentials.
func (c *Cluster) Version() (string, error) {
	version, err := c.discovery.ServerVersion()
	if err != nil {
		return "", err
	}
	return version.GitVersion, nil
}

// Apply applies objects in order with server-side apply. It returns them as the server stores them.
func (c *Cluster) Apply(ctx context.Context, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	groups, err := restmapper.GetAPIGroupResources(c.discovery)
	if err != nil {
		return nil, fmt.Errorf("reading the resources of the cluster: %w", err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	var applied []*unstructured.Unstructured
	for _, object := range objects {
		client, err := c.clientFor(mapper, object)
		if err != nil {
			return nil, fmt.Errorf("applying %s: %w", Describe(object), err)
		}
		// Force overwrites changes of other field managers, because the files take precedence.
		stored, err := client.Apply(ctx, object.GetName(), object, metav1.ApplyOptions{FieldManager: fieldManager, Force: true})
		if err != nil {
			return nil, fmt.Errorf("applying %s: %w", Describe(object), err)
		}
		applied = append(applied, stored)
	}
	return applied, nil
}

// clientFor returns the client of an object's kind. It sets the default namespace if the object has none, as kubectl
// does.
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

// ReadObjects reads the objects of a YAML or JSON file, or of all such files below a folder. It skips folders with a
// kustomization. Objects that others depend on come first. Otherwise the order of the files stays.
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

// DecodeObjects reads the objects of a YAML or JSON text. Errors contain the name.
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
		// Empty documents and kustomizations are not objects of the API server.
		if len(object.Object) == 0 || strings.HasPrefix(object.GetAPIVersion(), "kustomize.config.k8s.io/") {
			continue
		}
		objects = append(objects, object)
	}
}

// applyRank returns the rank of an object in the order of dependencies. The order of Cauri's own kinds does not matter.
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
