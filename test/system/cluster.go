package system

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/cauri-dev/cauri/test/ports"
)

// assetsVariable names the folder of etcd and kube-apiserver, as in envtest.
const assetsVariable = "KUBEBUILDER_ASSETS"

// ErrNoAssets means that the programs of Kubernetes are not available.
var ErrNoAssets = errors.New(
	"there is no Kubernetes API server: set " + assetsVariable + ` to a folder with etcd and kube-apiserver, for example "$(bin/localcluster assets)"`,
)

// clusterReadyWithin is a generous timeout. An API server starts in seconds, later on a busy machine.
const clusterReadyWithin = 2 * time.Minute

// Cluster is a Kubernetes API server with its etcd. Each is a process that a test can kill, stop and start again. There
// is no node.
type Cluster struct {
	Etcd       *Process
	APIServer  *Process
	Kubeconfig string // path of the file, for a user with all rights

	folder                       string
	etcdPort, peerPort, ownsPort int
}

// StartCluster starts an empty cluster in its own folder. It returns [ErrNoAssets] if the programs are missing.
// [Cluster.Close] removes the cluster.
func StartCluster(ctx context.Context) (*Cluster, error) {
	if os.Getenv(assetsVariable) == "" {
		return nil, ErrNoAssets
	}
	c := &Cluster{}
	if err := c.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if err := errors.Join(c.StartEtcd(ctx), c.StartAPIServer(ctx)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// prepare writes the files of the programs.
func (c *Cluster) prepare() (err error) {
	if c.folder, err = os.MkdirTemp("", "cauri-cluster-"); err != nil {
		return fmt.Errorf("creating a folder for a cluster: %w", err)
	}
	c.Kubeconfig = c.file("kubeconfig")
	for _, port := range []*int{&c.etcdPort, &c.peerPort, &c.ownsPort} {
		if *port, err = ports.Free(); err != nil {
			return err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("creating the key of service accounts: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encoding the key of service accounts: %w", err)
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // never fails
	token := hex.EncodeToString(random)
	kubeconfig := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: test
contexts: [{name: test, context: {cluster: test, user: test}}]
clusters: [{name: test, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: test, user: {token: %s}}]
`, c.url(), c.certificate(), token)
	for name, content := range map[string]string{
		"kubeconfig": kubeconfig, "tokens": token + ",test,test,system:masters\n",
		"service-accounts.key": string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})),
	} {
		if err := os.WriteFile(c.file(name), []byte(content), 0o600); err != nil {
			return fmt.Errorf("preparing a cluster: %w", err)
		}
	}
	return nil
}

func (c *Cluster) file(name string) string { return filepath.Join(c.folder, name) }

// certificate returns the API server's self-signed certificate and its authority. The API server creates it once.
func (c *Cluster) certificate() string { return c.file("certificates/apiserver.crt") }

func (c *Cluster) url() string { return "https://" + ports.Loopback(c.ownsPort) }

// StartEtcd starts etcd, with its old data after a restart, and waits until it serves.
func (c *Cluster) StartEtcd(ctx context.Context) (err error) {
	address, peer := "http://"+ports.Loopback(c.etcdPort), "http://"+ports.Loopback(c.peerPort)
	c.Etcd, err = c.start("etcd", "--name=test", "--data-dir="+c.file("etcd"),
		"--unsafe-no-fsync", // the data only has to survive the process, not the machine
		"--listen-client-urls="+address, "--advertise-client-urls="+address, "--listen-peer-urls="+peer,
		"--initial-advertise-peer-urls="+peer, "--initial-cluster=test="+peer, "--log-level=warn")
	if err != nil {
		return err
	}
	return c.Etcd.ready(ctx, clusterReadyWithin, func(ctx context.Context) error { return Answers(ctx, address+"/health", http.StatusOK) })
}

// StartAPIServer starts the API server, at its old address after a restart, and waits until it serves.
func (c *Cluster) StartAPIServer(ctx context.Context) (err error) {
	c.APIServer, err = c.start(
		"kube-apiserver",
		"--etcd-servers=http://"+ports.Loopback(c.etcdPort),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--secure-port="+strconv.Itoa(c.ownsPort),
		"--cert-dir="+c.file("certificates"),
		"--endpoint-reconciler-type=none", // a loopback address cannot be in Endpoints
		"--authorization-mode=RBAC",
		"--token-auth-file="+c.file("tokens"),
		"--disable-admission-plugins=ServiceAccount",
		"--service-cluster-ip-range=10.96.0.0/16",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+c.file("service-accounts.key"),
		"--service-account-signing-key-file="+c.file("service-accounts.key"),
	)
	if err != nil {
		return err
	}
	return c.APIServer.ready(ctx, clusterReadyWithin, c.Ready)
}

func (c *Cluster) start(name string, args ...string) (*Process, error) {
	return start(command{
		name:       name,
		program:    filepath.Join(os.Getenv(assetsVariable), name),
		args:       args,
		env:        []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.folder},
		dir:        c.folder,
		log:        c.file(name + ".log"),
		onOrphaned: Immediate,
	})
}

// Ready returns nil if the API server is ready.
func (c *Cluster) Ready(ctx context.Context) error {
	authority, err := os.ReadFile(c.certificate())
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	// Use a new connection each time, to check that a server answers now.
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	return answers(ctx, &http.Client{Transport: transport}, c.url()+"/readyz", http.StatusOK)
}

// Logs are the last lines of both processes.
func (c *Cluster) Logs(lines int) string {
	return c.Etcd.LogTail(lines) + "\n" + c.APIServer.LogTail(lines)
}

// SaveLogs copies the logs of both processes into a folder.
func (c *Cluster) SaveLogs(folder string) error {
	return errors.Join(
		copyFile(c.Etcd.log, filepath.Join(folder, "etcd.log")),
		copyFile(c.APIServer.log, filepath.Join(folder, "kube-apiserver.log")),
	)
}

// Close kills both processes and removes their data.
func (c *Cluster) Close() error {
	for _, p := range []*Process{c.APIServer, c.Etcd} {
		if p != nil {
			p.Kill()
		}
	}
	return os.RemoveAll(c.folder)
}
