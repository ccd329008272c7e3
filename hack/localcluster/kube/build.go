package kube

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/hack/localcluster/source"
)

// spaceForBuild is the disk space in bytes, measured for a first build: compiled packages, source, and temporary files
// of the linker.
const spaceForBuild = 8000 * host.Mebibyte

// kubePrograms are the names of the links to localkube.
var kubePrograms = []string{
	process.EtcdName,
	process.APIServerName,
	process.ControllerManagerName,
	process.SchedulerName,
	process.KubeletName,
	process.ProxyName,
	kubectlName,
}

// FindBuild returns the build of Kubernetes for the current state of its source.
func FindBuild() (source.Build, error) {
	build, err := source.Build{
		Name: "localkube", Links: kubePrograms,
		Cost: buildCost(runtime.NumCPU()), Space: spaceForBuild,
		Meanwhile: "Meanwhile, `bin/cauri dev` in another terminal is a sandbox without Kubernetes, ready within a minute beside this build.",
	}.Find("kube", "k8s.io/kubernetes")
	build.What = "Kubernetes " + build.Version + " (etcd, API server, controller manager, scheduler, kubelet, proxy, kubectl)"
	build.LinkerFlags = kubeLinkerFlags(build.Version)
	return build, err
}

// buildCost returns a text with the duration of a build, as measured with an empty cache on an idle machine with 2
// processors.
func buildCost(processors int) string {
	return fmt.Sprintf("4 minutes on 2 idle processors (measured: 243 s; this machine has %d) and 8 GB of disk, most of it in Go's caches", processors)
}

// kubeLinkerFlags set the version of the programs, as Kubernetes' own build scripts do. Clients refuse a server without
// a version.
func kubeLinkerFlags(version string) string {
	parts := strings.SplitN(strings.TrimPrefix(version, "v")+"..", ".", 3)
	const variable = "-X k8s.io/component-base/version."
	return strings.Join([]string{
		variable + "gitVersion=" + version,
		variable + "gitMajor=" + parts[0],
		variable + "gitMinor=" + parts[1],
		variable + "gitTreeState=clean",
	}, " ")
}
