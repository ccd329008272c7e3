// Package kube is the Kubernetes client of the command line. It reads sandboxes and their Secrets, and opens a
// port-forward to the API.
package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
)

// Flags select a cluster and a namespace, like the flags of kubectl.
type Flags struct {
	Kubeconfig, Context, Namespace string
	// CauriNamespace is the namespace in which Cauri runs, for the port-forward.
	CauriNamespace string
}

// Add declares the flags.
func (f *Flags) Add(flags *pflag.FlagSet) {
	f.AddSelection(flags)
	flags.StringVar(&f.CauriNamespace, "cauri-namespace", "",
		"namespace in which Cauri runs, for the port-forward; empty: the one in the sandbox's URL, or cauri-system")
}

// AddSelection declares the flags of a command that opens no port-forward.
func (f *Flags) AddSelection(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Namespace, "namespace", "n", "", "namespace of the sandbox; empty: the one of the kubeconfig's context")
	flags.StringVar(&f.Context, "context", "", "context of the kubeconfig; empty: the current one")
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "kubeconfig file; empty: KUBECONFIG, or ~/.kube/config")
}

// Given reports whether one of the flags names a cluster or a namespace.
func (f *Flags) Given() bool { return f.Namespace != "" || f.Context != "" || f.Kubeconfig != "" }

// Cluster is a client of a Kubernetes API server.
type Cluster struct {
	config    *rest.Config
	client    *rest.RESTClient
	Namespace string // default namespace
	Context   string // context of the kubeconfig; empty in a pod
	cauri     string // namespace in which Cauri runs; empty: not known
}

// Open reads the kubeconfig. It sends no request.
func (f *Flags) Open() (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.Context}
	overrides.Context.Namespace = f.Namespace
	loaded := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loaded.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster: %w; name a kubeconfig by KUBECONFIG or --kubeconfig", err)
	}
	namespace, _, err := loaded.Namespace()
	if err != nil {
		return nil, err
	}
	raw, err := loaded.RawConfig()
	if err != nil {
		return nil, err
	}
	c, err := newCluster(config, namespace, f.CauriNamespace)
	if err == nil {
		c.Context = cmp.Or(f.Context, raw.CurrentContext)
	}
	return c, err
}

func newCluster(config *rest.Config, namespace, cauri string) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // no limit, because a command sends few requests
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &Cluster{config: config, client: client, Namespace: namespace, cauri: cauri}, nil
}

// Host returns the address of the API server, for messages.
func (c *Cluster) Host() string { return c.config.Host }

const (
	sandboxesPath    = "/apis/cauri.dev/v1alpha1/namespaces/%s/sandboxenvironments"
	allSandboxesPath = "/apis/cauri.dev/v1alpha1/sandboxenvironments"
)

// Sandbox reads a sandbox.
func (c *Cluster) Sandbox(ctx context.Context, key types.NamespacedName) (*v1alpha1.SandboxEnvironment, error) {
	found := new(v1alpha1.SandboxEnvironment)
	err := c.get(ctx, fmt.Sprintf(sandboxesPath, key.Namespace)+"/"+key.Name, nil, found)
	if apierrors.IsNotFound(err) {
		return nil, c.missing(ctx, key, err)
	}
	return found, c.explain(err, "get", "sandboxenvironments", key.Namespace)
}

// missing returns the error for a sandbox that does not exist. Its text has the names of the existing sandboxes, or
// says that Cauri is not installed.
func (c *Cluster) missing(ctx context.Context, key types.NamespacedName, cause error) error {
	all, err := c.Sandboxes(ctx, key.Namespace)
	if apierrors.IsNotFound(err) {
		return err
	}
	if err != nil || len(all) == 0 {
		return Because(cause, "the namespace %s has no sandboxes; name another one with -n", key.Namespace)
	}
	return Because(cause, "the namespace %s has no sandbox %q; it has %s", key.Namespace, key.Name, strings.Join(Names(all), ", "))
}

// Sandboxes returns the sandboxes of a namespace; of all namespaces for "".
func (c *Cluster) Sandboxes(ctx context.Context, namespace string) ([]v1alpha1.SandboxEnvironment, error) {
	path := allSandboxesPath
	if namespace != "" {
		path = fmt.Sprintf(sandboxesPath, namespace)
	}
	var found v1alpha1.SandboxEnvironmentList
	err := c.get(ctx, path, nil, &found)
	if apierrors.IsNotFound(err) {
		return nil, c.notInstalled(err)
	}
	return found.Items, c.explain(err, "list", "sandboxenvironments", namespace)
}

func (c *Cluster) notInstalled(cause error) error {
	return Because(cause, "%s has no SandboxEnvironments: Cauri is not installed there, or this is another cluster", c.Host())
}

// Names returns the names of sandboxes.
func Names(all []v1alpha1.SandboxEnvironment) []string {
	names := make([]string, 0, len(all))
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// Patch changes fields of a sandbox by a JSON merge patch.
func (c *Cluster) Patch(ctx context.Context, key types.NamespacedName, patch any) (*v1alpha1.SandboxEnvironment, error) {
	body, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	path := fmt.Sprintf(sandboxesPath, key.Namespace) + "/" + key.Name
	text, err := c.client.Patch(types.MergePatchType).AbsPath(path).Param("fieldManager", "cauri").Body(body).DoRaw(ctx)
	if apierrors.IsNotFound(err) {
		return nil, c.missing(ctx, key, err)
	}
	if err != nil {
		return nil, c.explain(err, "patch", "sandboxenvironments", key.Namespace)
	}
	found := new(v1alpha1.SandboxEnvironment)
	return found, json.Unmarshal(text, found)
}

// Secret returns the data of a Secret.
func (c *Cluster) Secret(ctx context.Context, key types.NamespacedName) (map[string][]byte, error) {
	var found struct {
		Data map[string][]byte `json:"data"`
	}
	err := c.get(ctx, "/api/v1/namespaces/"+key.Namespace+"/secrets/"+key.Name, nil, &found)
	return found.Data, c.explain(err, "get", "secrets", key.Namespace)
}

// Allowed reports whether the user has a right, by a SelfSubjectAccessReview.
func (c *Cluster) Allowed(ctx context.Context, verb, group, resource, subresource, namespace string) (bool, error) {
	review := map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]string{
			"verb": verb, "group": group, "resource": resource, "subresource": subresource, "namespace": namespace,
		}},
	}
	body, err := json.Marshal(review)
	if err != nil {
		return false, err
	}
	text, err := c.client.Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).DoRaw(ctx)
	if err != nil {
		return false, err
	}
	var answer struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	return answer.Status.Allowed, json.Unmarshal(text, &answer)
}

// Version returns the version of Kubernetes.
func (c *Cluster) Version(ctx context.Context) (string, error) {
	var found struct {
		GitVersion string `json:"gitVersion"`
	}
	return found.GitVersion, c.get(ctx, "/version", nil, &found)
}

func (c *Cluster) get(ctx context.Context, path string, query url.Values, into any) error {
	request := c.client.Get().AbsPath(path)
	for name := range query {
		request.Param(name, query.Get(name))
	}
	text, err := request.DoRaw(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// explain adds the name of the missing right to an error.
func (c *Cluster) explain(err error, verb, resource, namespace string) error {
	if apierrors.IsForbidden(err) && namespace == "" {
		return Because(err, "you may not %s %s in all namespaces: ask for this right, or name one namespace with -n", verb, resource)
	}
	if apierrors.IsForbidden(err) {
		return Because(err, "you may not %s %s in the namespace %s: ask for this right, or name another namespace with -n", verb, resource, namespace)
	}
	return err
}

// explained is an error whose text does not contain the text of its cause.
type explained struct {
	text  string
	cause error
}

func (e explained) Error() string { return e.text }
func (e explained) Unwrap() error { return e.cause }

// Because returns an error that wraps cause. Its text does not contain the text of cause.
func Because(cause error, format string, args ...any) error {
	return explained{fmt.Sprintf(format, args...), cause}
}

// Status returns the HTTP status of an answer of the API server that is wrapped by err; 0 for none.
func Status(err error) int {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || answer.Status().Code < http.StatusBadRequest {
		return 0
	}
	return int(answer.Status().Code)
}
