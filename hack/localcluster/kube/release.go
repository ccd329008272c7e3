package kube

import (
	_ "embed"
	"fmt"

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// Versions of the published programs. The minor versions are the same as those of the build from source. A patch
// version differs if no independent source has its sums.
const (
	releasedKubernetes = "v1.36.1"
	releasedEtcd       = "v3.6.11"
	releasedEnvtest    = "v1.36.2" // envtest has no archive of every patch version
)

//go:embed release.sums
var pinnedSums string

// releasedPrograms returns the download of a control plane. known is false if there is none for the platform.
func releasedPrograms(system, processor string, settings download.Settings) (set download.Set, known bool, err error) {
	name, what := "kubernetes-"+releasedKubernetes, "Kubernetes "+releasedKubernetes+" and etcd "+releasedEtcd
	if system == "darwin" {
		name, what = "kubernetes-"+releasedEnvtest, "Kubernetes "+releasedEnvtest+" without a controller manager"
	}
	return download.NewSet(name, what, releasedFiles(system, processor), pinnedSums, settings)
}

// releasedFiles returns the files of Kubernetes and etcd. For macOS, it returns those of envtest, because Kubernetes
// publishes no API server for macOS.
func releasedFiles(system, processor string) []download.File {
	if system == "darwin" {
		const releases = "github.com/kubernetes-sigs/controller-tools/releases/download/envtest-" + releasedEnvtest
		return []download.File{{
			URL:      fmt.Sprintf("%s/envtest-%s-darwin-%s.tar.gz", releases, releasedEnvtest, processor),
			Programs: []string{process.EtcdName, process.APIServerName, kubectlName},
		}}
	}
	var files []download.File
	for _, name := range []string{process.APIServerName, process.ControllerManagerName, kubectlName} {
		files = append(files, download.File{URL: fmt.Sprintf("dl.k8s.io/release/%s/bin/%s/%s/%s", releasedKubernetes, system, processor, name)})
	}
	const releases = "github.com/etcd-io/etcd/releases/download/" + releasedEtcd
	return append(files, download.File{
		URL:      fmt.Sprintf("%s/etcd-%s-%s-%s.tar.gz", releases, releasedEtcd, system, processor),
		Programs: []string{process.EtcdName},
	})
}
