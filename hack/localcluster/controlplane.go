package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Names of ports.
const (
	etcdPort              = "etcd"
	etcdPeerPort          = "etcd-peer"
	apiServerPort         = "kube-apiserver"
	controllerManagerPort = "kube-controller-manager"
)

// Addresses of Services. Nothing routes to them, since nothing here runs pods, but the API server gives them out.
const serviceRange = "10.96.0.0/16"

var kubernetesServiceIP = net.IPv4(10, 96, 0, 1)

// controlPlane describes the Kubernetes that runs here.
type controlPlane struct {
	state  stateDir
	pki    pki
	assets string // folder of the programs
	ports  ports

	address       string   // of the API server
	apiServerArgs []string // what depends on whether there is a node
}

// localControlPlane is one without a node, for a machine whose network is left alone.
func localControlPlane(state stateDir, assets string, chosen ports) controlPlane {
	return controlPlane{
		state: state, pki: pki{state: state}, assets: assets, ports: chosen, address: "127.0.0.1",
		// A loopback address cannot stand in Endpoints, so that those of the `kubernetes` Service are left alone.
		apiServerArgs: []string{"--endpoint-reconciler-type=none", "--authorization-mode=RBAC"},
	}
}

const purgeHint = "repeat the command; if it fails the same way again, `make clean` (or `localcluster down --purge`) starts over without the data"

func (c controlPlane) server() string {
	return "https://" + net.JoinHostPort(c.address, strconv.Itoa(c.ports[apiServerPort]))
}

// components are the processes, in the order in which they need each other.
func (c controlPlane) components() ([]component, error) {
	etcdClient, err := c.httpClient(etcdAuthority, "apiserver-etcd-client")
	if err != nil {
		return nil, err
	}
	admin, err := c.httpClient(clusterAuthority, "admin")
	if err != nil {
		return nil, err
	}
	return []component{c.etcd(etcdClient), c.apiServer(admin), c.controllerManager(admin)}, nil
}

func (c controlPlane) etcd(client *http.Client) component {
	address := "https://" + loopback(c.ports[etcdPort])
	peer := "https://" + loopback(c.ports[etcdPeerPort])
	return c.component(etcdName, address, address+"/health", client, "etcd", etcdAuthority, []string{
		"--name=local",
		"--data-dir=" + c.state.file("etcd"),
		// The data survive every end of the process; only a crash of the machine may cost them, and nobody minds here.
		"--unsafe-no-fsync",
		"--listen-client-urls=" + address,
		"--advertise-client-urls=" + address,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=local=" + peer,
		"--cert-file=" + c.pki.certificate("etcd"),
		"--key-file=" + c.pki.key("etcd"),
		"--client-cert-auth",
		"--trusted-ca-file=" + c.pki.certificate(etcdAuthority),
		"--peer-cert-file=" + c.pki.certificate("etcd"),
		"--peer-key-file=" + c.pki.key("etcd"),
		"--peer-client-cert-auth",
		"--peer-trusted-ca-file=" + c.pki.certificate(etcdAuthority),
		"--log-level=warn",
	})
}

func (c controlPlane) apiServer(client *http.Client) component {
	return c.component(apiServerName, c.server(), c.server()+"/readyz", client, "apiserver", clusterAuthority, append([]string{
		"--etcd-servers=https://" + loopback(c.ports[etcdPort]),
		"--etcd-cafile=" + c.pki.certificate(etcdAuthority),
		"--etcd-certfile=" + c.pki.certificate("apiserver-etcd-client"),
		"--etcd-keyfile=" + c.pki.key("apiserver-etcd-client"),
		"--bind-address=" + c.address,
		"--advertise-address=" + c.address, // or the machine's outside address would be looked up
		fmt.Sprintf("--secure-port=%d", c.ports[apiServerPort]),
		"--tls-cert-file=" + c.pki.certificate("apiserver"),
		"--tls-private-key-file=" + c.pki.key("apiserver"),
		"--client-ca-file=" + c.pki.certificate(clusterAuthority),
		"--anonymous-auth=false",
		"--service-cluster-ip-range=" + serviceRange,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.pki.serviceAccountPublicKey(),
		"--service-account-signing-key-file=" + c.pki.serviceAccountKey(),
	}, c.apiServerArgs...))
}

func (c controlPlane) controllerManager(client *http.Client) component {
	address := "https://" + loopback(c.ports[controllerManagerPort])
	kubeconfig := c.controllerManagerKubeconfig()
	made := c.component(controllerManagerName, address, address+"/healthz", client, "controller-manager", clusterAuthority, []string{
		"--kubeconfig=" + kubeconfig,
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.ports[controllerManagerPort]),
		"--tls-cert-file=" + c.pki.certificate("controller-manager"),
		"--tls-private-key-file=" + c.pki.key("controller-manager"),
		"--service-account-private-key-file=" + c.pki.serviceAccountKey(),
		"--root-ca-file=" + c.pki.certificate(clusterAuthority),
		"--use-service-account-credentials=true",
		"--leader-elect=false", // there is only one
	})
	made.files = append(made.files, kubeconfig)
	return made
}

// component fills in what all three have in common. They serve TLS with the certificate of that name, and trust what the
// authority signed.
func (c controlPlane) component(name, address, health string, client *http.Client, certificate, authority string, args []string) component {
	return component{
		name:        name,
		program:     filepath.Join(c.assets, name),
		args:        args,
		files:       []string{c.pki.certificate(certificate), c.pki.certificate(authority), c.pki.serviceAccountPublicKey()},
		dir:         c.state.path,
		address:     address,
		stopSignal:  syscall.SIGTERM,
		stopWithin:  20 * time.Second,
		ready:       answersOK(client, health),
		readyWithin: 2 * time.Minute,
		hint:        purgeHint,
	}
}

func (c controlPlane) controllerManagerKubeconfig() string {
	return c.state.file("pki", "controller-manager.kubeconfig")
}

// prepare writes what the processes read, and returns the kubeconfig of the user.
func (c controlPlane) prepare(now time.Time) (kubeconfig []byte, err error) {
	if err := c.pki.ensure(now); err != nil {
		return nil, err
	}
	own, err := c.pki.kubeconfigFor("controller-manager", c.server())
	if err != nil {
		return nil, err
	}
	if err := writeFile(c.controllerManagerKubeconfig(), own); err != nil {
		return nil, err
	}
	return c.pki.kubeconfigFor("admin", c.server())
}

func (c controlPlane) httpClient(authority, certificate string) (*http.Client, error) {
	config, err := c.pki.client(authority, certificate)
	if err != nil {
		return nil, err
	}
	return healthClient(config), nil
}

// healthClient asks on a new connection every time: what it learns is whether a server answers now.
func healthClient(config *tls.Config) *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
}
