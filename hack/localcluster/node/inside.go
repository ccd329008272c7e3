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

// The network of a node. It is nobody else's, so that every node has the same addresses.
const (
	nodeName      = "cauri-node"
	nodeAddress   = "10.250.0.1"
	podRange      = "10.244.0.0/24"
	dnsServiceIP  = "10.96.0.10"
	clusterDomain = "cluster.local"
)

// nodePorts are fixed: nothing else listens there.
var nodePorts = process.Ports{kube.EtcdPort: 2379, kube.EtcdPeerPort: 2380, kube.APIServerPort: 6443, kube.ControllerManagerPort: 10257}

const (
	schedulerPort     = 10259
	kubeletHealthPort = 10248
	proxyHealthPort   = 10256
	proxyMetricsPort  = 10249
)

// node is one run within the namespaces. Its steps fill it in from top to bottom.
type node struct {
	run        nodeRun
	stages     *stages
	state      process.StateDir
	plane      kube.ControlPlane
	supervisor process.Supervisor
	kubeconfig []byte
	cluster    *kube.Cluster
}

// runInside is the part within the namespaces: it brings up the node and runs the command.
func runInside(ctx context.Context, run nodeRun) error {
	state := process.StateDir{Path: run.Dir}
	n := &node{
		run: run, state: state, stages: &stages{out: os.Stderr, begun: time.Now()},
		plane: nodeControlPlane(state, run.Programs), supervisor: process.Supervisor{State: state},
	}
	if err := os.Setenv("PATH", systemPath()); err != nil { // of all that is started here, and what that starts
		return err
	}
	if err := os.RemoveAll(run.Logs); err != nil {
		return fmt.Errorf("removing the logs of the last node: %w", err)
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

// up brings up the node. What does not need each other starts together: importing images takes as long as an API server does.
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
				return context.Cause(ctx) // what is told of a step that was given up is not why
			}
			return err
		}
	}
	n.stages.reached("everything is ready")
	return nil
}

// prepare makes what processes find when they start: mounts, addresses, certificates, files.
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

// start starts processes together and waits until all are ready.
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

// startControlPlane starts etcd and the API server that needs it. All others can wait for these.
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

// startManagers starts what makes pods of objects.
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

// startProxy waits for the kubelet to make the node: the proxy looks for it when it starts, and again only half a minute later.
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

// runCommand runs what all this is for. Signals reach it and what it has started.
func (n *node) runCommand() error {
	cmd := exec.Command(n.run.Command[0], n.run.Command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+n.state.Kubeconfig(), "PATH="+n.run.Path)
	if cmd.Err != nil { // it was looked for in the PATH of this program
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

// lookIn finds a program in a PATH that is not that of this process.
func lookIn(path, program string) (string, error) {
	own := os.Getenv("PATH")
	defer os.Setenv("PATH", own)
	if err := os.Setenv("PATH", path); err != nil {
		return "", err
	}
	return exec.LookPath(program)
}

// tellEnded names the parts of the node that have ended meanwhile, which may be why the command failed.
func (n *node) tellEnded() {
	all, err := n.state.Processes()
	if err != nil {
		return
	}
	for _, p := range all {
		if !p.Running() {
			fmt.Fprintf(n.stages.out, "%s has ended while the command ran\n", p.Name)
		}
	}
}

// outcome is an error, or none, that somebody else finds out.
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

// stages tells how far the node is, one line each, with the seconds since its start.
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

// nodeControlPlane is the control plane of a node: one that pods reach, and that reaches the kubelet.
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

// nodeIdentities are those of the parts that only a node has.
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
