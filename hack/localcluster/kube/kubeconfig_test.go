package kube

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cauri-dev/cauri/hack/localcluster/process/processtest"
	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

const twoClusters = `
apiVersion: v1
kind: Config
current-context: dev
clusters:
- {name: dev, cluster: {server: "https://dev:6443", certificate-authority: ca.crt}}
- {name: prod, cluster: {server: "https://prod:6443"}}
users:
- {name: dev-user, user: {token: abc}}
- {name: prod-user, user: {token: precious}}
contexts:
- {name: dev, context: {cluster: dev, user: dev-user}}
- {name: prod, context: {cluster: prod, user: prod-user}}
`

func TestOutsideKubeconfigIsOnlyTheCurrentContextAndWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config")
	for file, content := range map[string]string{path: twoClusters, filepath.Join(dir, "ca.crt"): "the authority"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content, err := OutsideKubeconfig(path)
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(content)
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Clusters) != 1 || len(config.AuthInfos) != 1 || len(config.Contexts) != 1 || config.CurrentContext != "dev" {
		t.Errorf("more than the current context: %+v", config)
	}
	cluster := config.Clusters["dev"]
	if diff := cmp.Diff([]string{"https://dev:6443", "", "the authority"},
		[]string{cluster.Server, cluster.CertificateAuthority, string(cluster.CertificateAuthorityData)}); diff != "" {
		t.Error(diff)
	}
}

func TestOutsideKubeconfigThatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := OutsideKubeconfig(filepath.Join(dir, "missing"))
	testkit.WantAdvice(t, err, KubeconfigVariable, "missing", "unset it")

	for name, content := range map[string]string{"no-context": "apiVersion: v1\nkind: Config\n", "lost-authority": twoClusters} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := OutsideKubeconfig(path)
		testkit.WantAdvice(t, err, KubeconfigVariable+"="+path)
	}
}

func TestOwnKubeconfig(t *testing.T) {
	t.Parallel()
	p := PKI{State: processtest.State(t)}
	if err := p.Ensure(time.Now()); err != nil {
		t.Fatal(err)
	}
	content, err := p.KubeconfigFor("admin", "https://127.0.0.1:20001")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://127.0.0.1:20001" || len(config.CertData) == 0 || len(config.KeyData) == 0 || len(config.CAData) == 0 {
		t.Errorf("incomplete: %s", content)
	}
}
