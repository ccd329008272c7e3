// Package kube runs a Kubernetes control plane on this machine (etcd, API server, controller manager) and uses its API.
package kube

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// Names of ports.
const (
	EtcdPort              = "etcd"
	EtcdPeerPort          = "etcd-peer"
	APIServerPort         = "kube-apiserver"
	ControllerManagerPort = "kube-controller-manager"
)

// Addresses of Services. The API server assigns them, but nothing routes to them, because no pods run.
const ServiceRange = "10.96.0.0/16"

var kubernetesServiceIP = net.IPv4(10, 96, 0, 1)

// ControlPlane describes the control plane to run.
type ControlPlane struct {
	State  process.StateDir
	Pki    PKI
	Assets string // folder of the programs
	Ports  process.Ports

	Address       string   // address of the API server
	APIServerArgs []string // arguments that depend on whether a node runs
}

// LocalControlPlane returns a control plane without a node. It does not change the machine's network.
func LocalControlPlane(state process.StateDir, assets string, chosen process.Ports) ControlPlane {
	return ControlPlane{
		State: state, Pki: PKI{State: state}, Assets: assets, Ports: chosen, Address: "127.0.0.1",
		// A loopback address cannot be in Endpoints. This leaves the endpoints of the `kubernetes` Service empty.
		APIServerArgs: []string{"--endpoint-reconciler-type=none", "--authorization-mode=RBAC"},
	}
}

func (c ControlPlane) Server() string {
	return "https://" + net.JoinHostPort(c.Address, strconv.Itoa(c.Ports[APIServerPort]))
}

// HasControllerManager reports whether the programs include a controller manager. Those of envtest do not.
func (c ControlPlane) HasControllerManager() bool {
	return hasProgram(c.Assets, process.ControllerManagerName)
}

// Components returns the processes in the order of their dependencies.
func (c ControlPlane) Components() ([]process.Component, error) {
	etcdClient, err := c.HTTPClient(etcdAuthority, "apiserver-etcd-client")
	if err != nil {
		return nil, err
	}
	admin, err := c.HTTPClient(ClusterAuthority, "admin")
	if err != nil {
		return nil, err
	}
	components := []process.Component{c.etcd(etcdClient), c.apiServer(admin)}
	if c.HasControllerManager() {
		components = append(components, c.controllerManager(admin))
	}
	return components, nil
}

func (c ControlPlane) etcd(client *http.Client) process.Component {
	address := "https://" + host.Loopback(c.Ports[EtcdPort])
	peer := "https://" + host.Loopback(c.Ports[EtcdPeerPort])
	return c.Component(process.EtcdName, address, address+"/health", client, "etcd", etcdAuthority, []string{
		"--name=local",
		"--data-dir=" + c.State.File("etcd"),
		// Without fsync, the data survives a crash of the process, but not of the machine.
		"--unsafe-no-fsync",
		"--listen-client-urls=" + address,
		"--advertise-client-urls=" + address,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=local=" + peer,
		"--cert-file=" + c.Pki.Certificate("etcd"),
		"--key-file=" + c.Pki.Key("etcd"),
		"--client-cert-auth",
		"--trusted-ca-file=" + c.Pki.Certificate(etcdAuthority),
		"--peer-cert-file=" + c.Pki.Certificate("etcd"),
		"--peer-key-file=" + c.Pki.Key("etcd"),
		"--peer-client-cert-auth",
		"--peer-trusted-ca-file=" + c.Pki.Certificate(etcdAuthority),
		"--log-level=warn",
	})
}

func (c ControlPlane) apiServer(client *http.Client) process.Component {
	return c.Component(process.APIServerName, c.Server(), c.Server()+"/readyz", client, "apiserver", ClusterAuthority, append([]string{
		"--etcd-servers=https://" + host.Loopback(c.Ports[EtcdPort]),
		"--etcd-cafile=" + c.Pki.Certificate(etcdAuthority),
		"--etcd-certfile=" + c.Pki.Certificate("apiserver-etcd-client"),
		"--etcd-keyfile=" + c.Pki.Key("apiserver-etcd-client"),
		"--bind-address=" + c.Address,
		"--advertise-address=" + c.Address, // by default, the API server takes the machine's external address
		fmt.Sprintf("--secure-port=%d", c.Ports[APIServerPort]),
		"--tls-cert-file=" + c.Pki.Certificate("apiserver"),
		"--tls-private-key-file=" + c.Pki.Key("apiserver"),
		"--client-ca-file=" + c.Pki.Certificate(ClusterAuthority),
		"--anonymous-auth=false",
		"--service-cluster-ip-range=" + ServiceRange,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.Pki.serviceAccountPublicKey(),
		"--service-account-signing-key-file=" + c.Pki.serviceAccountKey(),
	}, c.APIServerArgs...))
}

func (c ControlPlane) controllerManager(client *http.Client) process.Component {
	address := "https://" + host.Loopback(c.Ports[ControllerManagerPort])
	kubeconfig := c.controllerManagerKubeconfig()
	made := c.Component(process.ControllerManagerName, address, address+"/healthz", client, "controller-manager", ClusterAuthority, []string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.Ports[ControllerManagerPort]),
		"--tls-cert-file=" + c.Pki.Certificate("controller-manager"),
		"--tls-private-key-file=" + c.Pki.Key("controller-manager"),
		"--service-account-private-key-file=" + c.Pki.serviceAccountKey(),
		"--root-ca-file=" + c.Pki.Certificate(ClusterAuthority),
		"--use-service-account-credentials=true",
		"--leader-elect=false", // there is only one instance
	})
	made.Files = append(made.Files, kubeconfig)
	return made
}

// Component returns a component with the common settings of the three processes. The process serves TLS with the
// certificate of that name and trusts the authority.
func (c ControlPlane) Component(
	name, address, health string,
	client *http.Client,
	certificate, authority string,
	args []string,
) process.Component {
	return process.Component{
		Name:        name,
		Program:     filepath.Join(c.Assets, name),
		Args:        args,
		Files:       []string{c.Pki.Certificate(certificate), c.Pki.Certificate(authority), c.Pki.serviceAccountPublicKey()},
		Dir:         c.State.Path,
		Address:     address,
		StopSignal:  syscall.SIGTERM,
		StopWithin:  20 * time.Second,
		Ready:       host.AnswersOK(client, health),
		ReadyWithin: 2 * time.Minute,
		Hint:        process.PurgeHint,
	}
}

func (c ControlPlane) controllerManagerKubeconfig() string {
	return c.State.File("pki", "controller-manager.kubeconfig")
}

// Prepare writes the files of the processes and returns the user's kubeconfig.
func (c ControlPlane) Prepare(now time.Time) (kubeconfig []byte, err error) {
	if err := c.Pki.Ensure(now); err != nil {
		return nil, err
	}
	own, err := c.Pki.KubeconfigFor("controller-manager", c.Server())
	if err != nil {
		return nil, err
	}
	if err := host.WriteFile(c.controllerManagerKubeconfig(), own); err != nil {
		return nil, err
	}
	return c.Pki.KubeconfigFor("admin", c.Server())
}

func (c ControlPlane) HTTPClient(authority, certificate string) (*http.Client, error) {
	config, err := c.Pki.Client(authority, certificate)
	if err != nil {
		return nil, err
	}
	return healthClient(config), nil
}

// healthClient opens a new connection for each request, to check that a server answers now.
func healthClient(config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
}
