package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cauri-dev/cauri/cmd/cauri/kube"
)

// guessTimeout bounds the request to a cluster that the user may not have meant.
const guessTimeout = 10 * time.Second

// key returns the namespace and name of a sandbox. name is "name" or "namespace/name".
func (t *target) key(cluster *kube.Cluster, name string) (types.NamespacedName, error) {
	namespace, rest, found := strings.Cut(name, "/")
	if !found {
		return types.NamespacedName{Namespace: cluster.Namespace, Name: name}, nil
	}
	if t.kube.Namespace != "" && t.kube.Namespace != namespace {
		return types.NamespacedName{}, usage(fmt.Errorf("the sandbox %s is in another namespace than -n %s: leave -n out", name, t.kube.Namespace))
	}
	return types.NamespacedName{Namespace: namespace, Name: rest}, nil
}

// unnamed returns the sandbox of a command without a sandbox name: the choice of `cauri use`, or else the only sandbox
// in the namespace. It prints the name of the sandbox.
func (t *target) unnamed(ctx context.Context, cluster *kube.Cluster) (key types.NamespacedName, err error) {
	if t.standard.Name != "" {
		return t.standard, nil
	}
	if name := t.choices.of(cluster); name != "" {
		namespace, _, _ := strings.Cut(name, "/")
		if t.kube.Namespace == "" || t.kube.Namespace == namespace {
			t.announce("%s, as `%s` says", name, t.program("use"))
			t.chosen = true
			t.standard, err = t.key(cluster, name)
			return t.standard, err
		}
	}
	if t.standard.Name, err = t.only(ctx, cluster); err != nil {
		return types.NamespacedName{}, err
	}
	t.standard.Namespace = cluster.Namespace
	t.announce("%s, the only one in its namespace", t.standard)
	return t.standard, nil
}

// only returns the name of the only sandbox of a namespace.
func (t *target) only(ctx context.Context, cluster *kube.Cluster) (string, error) {
	if !t.plugin {
		soon, cancel := context.WithTimeout(ctx, guessTimeout)
		defer cancel()
		ctx = soon
	}
	all, err := cluster.Sandboxes(ctx, cluster.Namespace)
	switch {
	case err != nil && t.plugin:
		return "", err
	case err != nil:
		return "", usage(fmt.Errorf("%w. The cluster of the kubeconfig was asked too, %s: %s", errNoSandbox, cluster.Host(), Message(err)))
	case len(all) == 1:
		return all[0].Name, nil
	case len(all) > 1:
		return "", usage(fmt.Errorf("the namespace %s has %d sandboxes: %s. Write which one: `%s`, or choose it for all commands: `%s NAME`",
			cluster.Namespace, len(all), strings.Join(kube.Names(all), ", "), t.naming(cluster), t.program("use")))
	case t.plugin:
		return "", refusedError{fmt.Errorf("the namespace %s has no sandboxes: name another one with -n; `%s` lists all",
			cluster.Namespace, t.program("list -A"))}
	}
	return "", usage(fmt.Errorf("%w. The namespace %s of %s has none", errNoSandbox, cluster.Namespace, cluster.Host()))
}

// naming returns a command line with a placeholder for the sandbox name, for messages.
func (t *target) naming(cluster *kube.Cluster) string {
	if t.plugin {
		return t.cmd.CommandPath() + " NAME"
	}
	return t.cmd.CommandPath() + " --sandbox=" + cluster.Namespace + "/NAME"
}
