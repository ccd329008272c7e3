// Package kube connects tests to the Kubernetes API of a [system.Cluster]. It is a separate package, so that tests
// without Kubernetes do not link its libraries.
package kube

import (
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/test/system"
)

// Connect installs the CRDs of a folder, such as config/crd. It returns a client without a rate limit and with all
// rights.
func Connect(cluster *system.Cluster, crds string) (client.WithWatch, error) {
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	config.QPS = -1
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{Paths: []string{crds}, ErrorIfPathMissing: true}); err != nil {
		return nil, fmt.Errorf("installing the CRDs: %w", err)
	}
	return client.NewWithWatch(config, client.Options{Scheme: controllers.Scheme})
}
