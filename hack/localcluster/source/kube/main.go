// Command localkube is one program with etcd and the Kubernetes programs for a developer's machine. This needs one
// build instead of seven, and downloads only Go modules. The API server and its dependencies form a control plane
// without pods. The scheduler, the kubelet and the proxy are for a node that runs pods.
//
// The name of the program selects the part to run: localcluster creates a link for each part. With any other name, the
// first argument selects it:
//
//	localkube kubectl get sandboxenvironments
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	// The upstream main packages also link these: the credential plugins of a kubeconfig, the JSON log format and the
	// client metrics.
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

// roles are the parts, by their upstream names. Each runs until the end of the process and returns the exit code.
var roles = map[string]func() int{
	"etcd":                    runEtcd,
	"kube-apiserver":          func() int { return runServer(apiserver.NewAPIServerCommand) },
	"kube-controller-manager": func() int { return runServer(controllermanager.NewControllerManagerCommand) },
	"kube-proxy":              func() int { return runServer(proxy.NewProxyCommand) },
	"kube-scheduler":          func() int { return runServer(newScheduler) },
	"kubectl":                 runKubectl,
	"kubelet":                 func() int { return runServer(newKubelet) },
}

func main() {
	role, ok := chooseRole()
	if !ok {
		fmt.Fprintf(os.Stderr, "usage: localkube ROLE [ARGUMENTS]\nroles: %s\n", strings.Join(slices.Sorted(maps.Keys(roles)), ", "))
		os.Exit(2)
	}
	os.Exit(role())
}

// chooseRole returns the role, and sets os.Args so that the role's name is first.
func chooseRole() (func() int, bool) {
	if role, ok := roles[filepath.Base(os.Args[0])]; ok {
		return role, true
	}
	if len(os.Args) < 2 {
		return nil, false
	}
	role, ok := roles[os.Args[1]]
	os.Args = os.Args[1:]
	return role, ok
}

// runServer runs a server. Its parameter is the constructor of the command, because some constructors register flags
// and metrics for the whole process, so only the chosen one may run.
func runServer(newCommand func() *cobra.Command) int {
	return cli.Run(newCommand())
}

// newScheduler returns the command of the scheduler without additional plugins.
func newScheduler() *cobra.Command { return scheduler.NewSchedulerCommand() }

// newKubelet returns the command of the kubelet. Its context never ends, because the kubelet handles signals itself.
func newKubelet() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }

func runEtcd() int {
	etcdmain.Main(os.Args)
	return 0
}

func runKubectl() int {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
		return 1
	}
	return 0
}
