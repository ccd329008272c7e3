package main

import (
	"strings"
)

// kubePrograms are the names by which localkube is called, each a link to it.
var kubePrograms = []string{etcdName, apiServerName, controllerManagerName, schedulerName, kubeletName, proxyName, "kubectl"}

// findKubeBuild names the build of Kubernetes in its present state.
func findKubeBuild() (sourceBuild, error) {
	build, err := sourceBuild{
		name: "localkube", links: kubePrograms,
		cost: "5 to 10 minutes on two cores and 8 GB of disk, most of it in Go's caches", space: spaceForBuild,
	}.find("kube", "k8s.io/kubernetes")
	build.what = "Kubernetes " + build.version + " (etcd, API server, controller manager, scheduler, kubelet, proxy, kubectl)"
	build.linkerFlags = kubeLinkerFlags(build.version)
	return build, err
}

// kubeLinkerFlags tell the programs their version: that is otherwise done by Kubernetes' own scripts, and clients refuse a
// server without one.
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
