package kube

import (
	_ "embed"
	"fmt"

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// Versions of the published programs. They are of the same minor versions as those that are built from source; patch
// versions differ where nobody pins sums of the same one.
const (
	releasedKubernetes = "v1.36.1"
	releasedEtcd       = "v3.6.11"
	releasedEnvtest    = "v1.36.2" // envtest has no archive of every patch version
)

//go:embed release.sums
var pinnedSums string

// releasedPrograms is the download of a control plane, if there is one for the platform.
func releasedPrograms(system, processor string, settings download.Settings) (set download.Set, known bool, err error) {
	name, what := "kubernetes-"+releasedKubernetes, "Kubernetes "+releasedKubernetes+" and etcd "+releasedEtcd
	if system == "darwin" {
		name, what = "kubernetes-"+releasedEnvtest, "Kubernetes "+releasedEnvtest+" without a controller manager"
	}
	return download.NewSet(name, what, releasedFiles(system, processor), pinnedSums, settings)
}

// releasedFiles are the files of Kubernetes and etcd. For macOS, they publish neither an API server nor a controller
// manager, so there the files are those of envtest, which has the API server.
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
