package controllers_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/ledgertest"
	"github.com/cauri-dev/cauri/test/system"
)

// replica is a controller in a process of its own.
type replica struct {
	*exec.Cmd
	log   bytes.Buffer
	ended chan struct{}
}

// program is the cauri program.
func program(t *testing.T) string {
	t.Helper()
	path, err := system.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// kubeconfig is a file with which a process is the controller's user.
func (c *cluster) kubeconfig() string {
	c.Helper()
	path := filepath.Join(c.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {Server: c.config.Host, CertificateAuthorityData: c.config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {
			ClientCertificateData: c.config.CertData, ClientKeyData: c.config.KeyData, Impersonate: controllerUser,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u"}},
		CurrentContext: "x",
	}, path)
	if err != nil {
		c.Fatal(err)
	}
	return path
}

// replicate starts a controller for the test's namespace beside those that run.
func (c *cluster) replicate(program, kubeconfig string) *replica {
	c.Helper()
	key := filepath.Join(c.TempDir(), "key")
	if err := os.WriteFile(key, []byte("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\n"), 0o600); err != nil {
		c.Fatal(err)
	}
	r := &replica{ended: make(chan struct{})}
	r.Cmd = exec.Command(program, "serve", "controller", "--leader-elect", "--leader-election-namespace=cauri-system", "--kubeconfig="+kubeconfig,
		"--encryption-key-file="+key, "--watch-namespaces="+c.namespace, "--health-address=0", "--metrics-address=0")
	r.Env = append(os.Environ(), "DATABASE_URL="+ledgertest.URLAs(c, c.databaseURL, ledgertest.Controller))
	r.Stdout, r.Stderr = &r.log, &r.log
	if err := r.Start(); err != nil {
		c.Fatal(err)
	}
	go func() {
		_ = r.Wait()
		close(r.ended)
	}()
	c.Cleanup(func() {
		r.end(syscall.SIGKILL)
		if c.Failed() {
			c.Logf("a controller:\n%s", r.log.String())
		}
	})
	return r
}

// end ends the process and waits for its end.
func (r *replica) end(signal syscall.Signal) {
	_ = r.Process.Signal(signal)
	<-r.ended
}

// leader waits until the Lease is held by somebody else than before, and returns by whom and since when.
func (c *cluster) leader(before string) (holder string) {
	c.Helper()
	c.until(func(context.Context) string {
		if holder = c.holder(); holder == "" || holder == before {
			return fmt.Sprintf("the Lease is held by %q", holder)
		}
		return ""
	})
	return holder
}

// holder is who holds the Lease, empty for nobody.
func (c *cluster) holder() string {
	c.Helper()
	var lease coordinationv1.Lease
	err := c.Get(c.Context(), client.ObjectKey{Namespace: "cauri-system", Name: controllers.LeaseName}, &lease)
	if client.IgnoreNotFound(err) != nil {
		c.Fatal(err)
	}
	if err != nil || lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// Two controllers run; the leader is killed in the middle of its work, and later another one is told to stop. Whoever is next
// goes on, and no sandbox has two keys or two organizations.
func TestAnotherControllerTakesOver(t *testing.T) {
	c := newCluster(t)
	program, kubeconfig := program(t), c.kubeconfig()
	first := c.replicate(program, kubeconfig)
	leader := c.leader("")
	second := c.replicate(program, kubeconfig)
	before := c.sandboxes("before")["before"]
	c.sandboxReady(before)
	key := string(c.secret(before.CredentialsSecretName()).Data["api-key"])

	var names []string
	for i := range 40 {
		names = append(names, fmt.Sprintf("s%02d", i))
	}
	all := c.sandboxes(names...)
	c.until(func(context.Context) string { // some are done, and some are not begun
		if n := c.count("select count(*) from organizations"); n < 5 {
			return fmt.Sprintf("%d organizations", n)
		}
		return ""
	})
	first.end(syscall.SIGKILL)
	leader = c.leader(leader)
	for _, sandbox := range all {
		c.sandboxReady(sandbox)
	}

	third := c.replicate(program, kubeconfig)
	second.end(syscall.SIGTERM)
	if holder := c.holder(); holder == leader { // it would be waited for 15 s
		t.Errorf("a leader that ended in order has not given back the Lease: %s", holder)
	}
	c.leader(leader)
	last := c.sandboxes("after")["after"]
	c.sandboxReady(last)
	third.end(syscall.SIGTERM)

	all["before"], all["after"] = before, last
	for _, sandbox := range all {
		var held corev1.Secret
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: sandbox.CredentialsSecretName()}, &held); err != nil {
			t.Fatal(err)
		}
		hash := sha256.Sum256(held.Data["api-key"])
		var keys, same int
		c.row(`select count(*), count(*) filter (where k.hash = $2) from api_keys k join organizations o using (tenant)
			where o.resource_uid::text = $1`, []any{string(sandbox.UID), hash[:]}, &keys, &same)
		if keys != 1 || same != 1 {
			t.Errorf("%s has %d keys, %d of them that of its Secret; want one", sandbox.Name, keys, same)
		}
	}
	if n := c.count("select count(*) from organizations"); n != len(all) {
		t.Errorf("%d organizations for %d sandboxes", n, len(all))
	}
	if got := string(c.secret(before.CredentialsSecretName()).Data["api-key"]); got != key {
		t.Error("a key that was given out changed")
	}
}
