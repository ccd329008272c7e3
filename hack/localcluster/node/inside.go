package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// The network of a node. Each node has its own network namespace, so all nodes can use the same addresses.
const (
	nodeName      = "cauri-node"
	nodeAddress   = "10.250.0.1"
	podRange      = "10.244.0.0/24"
	dnsServiceIP  = "10.96.0.10"
	clusterDomain = "cluster.local"
)

// nodePorts are constants, because no other program listens in the namespace.
var nodePorts = process.Ports{kube.EtcdPort: 2379, kube.EtcdPeerPort: 2380, kube.APIServerPort: 6443, kube.ControllerManagerPort: 10257}

const (
	schedulerPort     = 10259
	kubeletHealthPort = 10248
	proxyHealthPort   = 10256
	proxyMetricsPort  = 10249
)

// node is one run inside the namespaces. Its steps fill the fields in order.
type node struct {
	run        nodeRun
	stages     *stages
	state      process.StateDir
	plane      kube.ControlPlane
	supervisor process.Supervisor
	kubeconfig []byte
	cluster    *kube.Cluster
}

// runInside is the part of the command that runs inside the namespaces. It starts the node and runs the user's command.
func runInside(ctx context.Context, run nodeRun) error {
	state := process.StateDir{Path: run.Dir}
	n := &node{
		run: run, state: state, stages: &stages{out: os.Stderr, begun: time.Now()},
		plane: nodeControlPlane(state, run.Programs), supervisor: process.Supervisor{State: state},
	}
	if err := os.Setenv("PATH", systemPath()); err != nil { // for this process and its children
		return err
	}
	if err := os.RemoveAll(run.Logs); err != nil {
		return fmt.Errorf("removing the logs of the previous node: %w", err)
	}
	err := n.up(ctx)
	switch {
	case err == nil:
		err = n.runCommand()
	case ctx.Err() != nil:
		return errors.New("interrupted before the node was ready")
	}
	if (err != nil && ctx.Err() == nil) || run.KeepLogs {
		n.keepLogs()
	}
	return err
}

// up starts the node. Independent steps run in parallel: importing images takes as long as starting an API server.
func (n *node) up(ctx context.Context) error {
	if err := n.prepare(ctx); err != nil {
		return err
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	ownImages, images := newOutcome(), newOutcome()
	go func() {
		ownImages.set(n.startRuntime(ctx))
		err := errors.Join(ownImages.wait(ctx), n.importImages(ctx, n.run.Images))
		images.set(err)
		if err != nil {
			giveUp(err)
		}
	}()
	for _, step := range []func(context.Context) error{
		n.startControlPlane, ownImages.wait, n.startManagers, n.applyObjects, n.startProxy, n.waitReady, images.wait,
	} {
		if err := step(ctx); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx) // the error of a canceled step has no cause
			}
			return err
		}
	}
	n.stages.reached("everything is ready")
	return nil
}

// prepare creates the mounts, addresses, certificates and files that the processes need at their start.
func (n *node) prepare(ctx context.Context) (err error) {
	if err := isolateMounts(n.state); err != nil {
		return err
	}
	if err := makeNetwork(ctx); err != nil {
		return err
	}
	if n.kubeconfig, err = n.plane.Prepare(time.Now()); err != nil {
		return err
	}
	if err := host.WriteFile(n.state.Kubeconfig(), n.kubeconfig); err != nil {
		return err
	}
	if n.cluster, err = kube.Open(n.kubeconfig); err != nil {
		return err
	}
	return n.writeConfigurations()
}

// start starts processes in parallel and waits until all are ready.
func (n *node) start(ctx context.Context, components ...process.Component) error {
	var group sync.WaitGroup
	failed := make([]error, len(components))
	for i, c := range components {
		group.Go(func() {
			if _, failed[i] = n.supervisor.Reach(ctx, c); failed[i] == nil {
				n.stages.reached(c.Name)
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// startControlPlane starts etcd and the API server. All other processes start after these.
func (n *node) startControlPlane(ctx context.Context) error {
	components, err := n.plane.Components()
	if err != nil {
		return err
	}
	for _, c := range components[:2] {
		if err := n.start(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// startManagers starts the controller manager, the scheduler and the kubelet.
func (n *node) startManagers(ctx context.Context) error {
	components, err := n.plane.Components()
	if err != nil {
		return err
	}
	scheduler, err := n.scheduler()
	if err != nil {
		return err
	}
	return n.start(ctx, components[2], scheduler, n.kubelet())
}

// startProxy waits until the kubelet has registered the node, and starts the proxy. If the proxy does not find the node
// at its start, it retries only after 30 s.
func (n *node) startProxy(ctx context.Context) error {
	err := host.Poll(ctx, host.PollFast, time.Minute, func(ctx context.Context) error {
		_, err := n.cluster.Dynamic.Resource(nodeResource).Get(ctx, nodeName, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for the node to be registered: %w; see %s", err, n.state.LogFile(process.KubeletName))
	}
	return n.start(ctx, n.proxy())
}

// runCommand runs the user's command. It passes signals to the command and its children.
func (n *node) runCommand() error {
	cmd := exec.Command(n.run.Command[0], n.run.Command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+n.state.Kubeconfig(), "PATH="+n.run.Path)
	if cmd.Err != nil { // the lookup used the PATH of this program
		path, err := lookIn(n.run.Path, n.run.Command[0])
		if err != nil {
			return err
		}
		cmd.Path, cmd.Err = path, nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err := process.Forward(cmd, func(received os.Signal) { syscall.Kill(-cmd.Process.Pid, received.(syscall.Signal)) })
	n.tellEnded()
	return err
}

// lookIn finds a program in the given PATH.
func lookIn(path, program string) (string, error) {
	own := os.Getenv("PATH")
	defer os.Setenv("PATH", own)
	if err := os.Setenv("PATH", path); err != nil {
		return "", err
	}
	return exec.LookPath(program)
}

// tellEnded prints the parts of the node that have ended. They may be the reason why the user's command failed.
func (n *node) tellEnded() {
	all, err := n.state.Processes()
	if err != nil {
		return
	}
	for _, p := range all {
		if !p.Running() {
			fmt.Fprintf(n.stages.out, "%s ended while the command was running\n", p.Name)
		}
	}
}

// outcome is the result of a step that runs in another goroutine.
type outcome struct {
	known chan struct{}
	err   error
}

func newOutcome() *outcome { return &outcome{known: make(chan struct{})} }

func (o *outcome) set(err error) {
	o.err = err
	close(o.known)
}

func (o *outcome) wait(ctx context.Context) error {
	select {
	case <-o.known:
		return o.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stages prints one line for each stage, with the seconds since the start.
type stages struct {
	mutex sync.Mutex
	out   io.Writer
	begun time.Time
}

func (s *stages) reached(what string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	fmt.Fprintf(s.out, "  %5.1f s  %s\n", time.Since(s.begun).Seconds(), what)
}

// nodeControlPlane returns the control plane of a node. Pods can reach it, and it can reach the kubelet.
func nodeControlPlane(state process.StateDir, programs string) kube.ControlPlane {
	certificates := kube.PKI{State: state, More: nodeIdentities, Addresses: []net.IP{net.ParseIP(nodeAddress)}}
	return kube.ControlPlane{
		State: state, Pki: certificates, Assets: programs, Ports: nodePorts, Address: nodeAddress,
		APIServerArgs: []string{
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged=true",
			"--kubelet-certificate-authority=" + certificates.Certificate(kube.ClusterAuthority),
			"--kubelet-client-certificate=" + certificates.Certificate("apiserver-kubelet-client"),
			"--kubelet-client-key=" + certificates.Key("apiserver-kubelet-client"),
			"--kubelet-preferred-address-types=InternalIP",
		},
	}
}

// nodeIdentities are the identities of the parts that only a node has.
var nodeIdentities = []kube.Identity{
	{
		File:      "apiserver-kubelet-client",
		Authority: kube.ClusterAuthority,
		Name:      "kube-apiserver-kubelet-client",
		Groups:    []string{"system:masters"},
		Usage:     kube.AsClient,
	},
	{File: "kubelet", Authority: kube.ClusterAuthority, Name: "system:node:" + nodeName, Groups: []string{"system:nodes"}, Usage: kube.AsBoth},
	{File: "scheduler", Authority: kube.ClusterAuthority, Name: "system:kube-scheduler", Usage: kube.AsBoth},
	{File: "proxy", Authority: kube.ClusterAuthority, Name: "system:kube-proxy", Usage: kube.AsClient},
}
