package main

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
var nodePorts = ports{etcdPort: 2379, etcdPeerPort: 2380, apiServerPort: 6443, controllerManagerPort: 10257}

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
	state      stateDir
	plane      controlPlane
	supervisor supervisor
	kubeconfig []byte
	cluster    *cluster
}

// runInside is the part within the namespaces: it brings up the node and runs the command.
func runInside(ctx context.Context, run nodeRun) error {
	state := stateDir{path: run.Dir}
	n := &node{
		run: run, state: state, stages: &stages{out: os.Stderr, begun: time.Now()},
		plane: nodeControlPlane(state, run.Programs), supervisor: supervisor{state: state},
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
	if n.kubeconfig, err = n.plane.prepare(time.Now()); err != nil {
		return err
	}
	if err := writeFile(n.state.kubeconfig(), n.kubeconfig); err != nil {
		return err
	}
	if n.cluster, err = openCluster(n.kubeconfig); err != nil {
		return err
	}
	return n.writeConfigurations()
}

// start starts processes together and waits until all are ready.
func (n *node) start(ctx context.Context, components ...component) error {
	var group sync.WaitGroup
	failed := make([]error, len(components))
	for i, c := range components {
		group.Go(func() {
			if _, failed[i] = n.supervisor.reach(ctx, c); failed[i] == nil {
				n.stages.reached(c.name)
			}
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// startControlPlane starts etcd and the API server that needs it. All others can wait for these.
func (n *node) startControlPlane(ctx context.Context) error {
	components, err := n.plane.components()
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
	components, err := n.plane.components()
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
	err := poll(ctx, pollFast, time.Minute, func(ctx context.Context) error {
		_, err := n.cluster.dynamic.Resource(nodeResource).Get(ctx, nodeName, metav1.GetOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("waiting for the node to be registered: %w; see %s", err, n.state.logFile(kubeletName))
	}
	return n.start(ctx, n.proxy())
}

// runCommand runs what all this is for. Signals reach it and what it has started.
func (n *node) runCommand() error {
	cmd := exec.Command(n.run.Command[0], n.run.Command[1:]...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+n.state.kubeconfig(), "PATH="+n.run.Path)
	if cmd.Err != nil { // it was looked for in the PATH of this program
		path, err := lookIn(n.run.Path, n.run.Command[0])
		if err != nil {
			return err
		}
		cmd.Path, cmd.Err = path, nil
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	err := forwarding(cmd, func(received os.Signal) { syscall.Kill(-cmd.Process.Pid, received.(syscall.Signal)) })
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
	all, err := n.state.processes()
	if err != nil {
		return
	}
	for _, p := range all {
		if !p.running() {
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
func nodeControlPlane(state stateDir, programs string) controlPlane {
	certificates := pki{state: state, more: nodeIdentities, addresses: []net.IP{net.ParseIP(nodeAddress)}}
	return controlPlane{
		state: state, pki: certificates, assets: programs, ports: nodePorts, address: nodeAddress,
		apiServerArgs: []string{
			"--authorization-mode=Node,RBAC",
			"--enable-admission-plugins=NodeRestriction",
			"--allow-privileged=true",
			"--kubelet-certificate-authority=" + certificates.certificate(clusterAuthority),
			"--kubelet-client-certificate=" + certificates.certificate("apiserver-kubelet-client"),
			"--kubelet-client-key=" + certificates.key("apiserver-kubelet-client"),
			"--kubelet-preferred-address-types=InternalIP",
		},
	}
}

// nodeIdentities are those of the parts that only a node has.
var nodeIdentities = []identity{
	{file: "apiserver-kubelet-client", authority: clusterAuthority, name: "kube-apiserver-kubelet-client", groups: []string{"system:masters"}, usage: asClient},
	{file: "kubelet", authority: clusterAuthority, name: "system:node:" + nodeName, groups: []string{"system:nodes"}, usage: asBoth},
	{file: "scheduler", authority: clusterAuthority, name: "system:kube-scheduler", usage: asBoth},
	{file: "proxy", authority: clusterAuthority, name: "system:kube-proxy", usage: asClient},
}
