// Package cluster installs Cauri into a real cluster as a platform team does, with helm and kubectl, and uses it there: workloads in
// teams' namespaces, a rolling upgrade under load, pods that die, an end and a new beginning.
//
// `make e2e` brings up a node on this machine and runs the tests there; `make kind` runs them in a kind cluster. Everything
// goes through the Kubernetes API, so that the tests need not stand in the cluster's network. Each chapter of the story needs the
// first, and few need another one: RUN='TestCluster/(helm_install|memory_under)' runs two of them.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	system  = "cauri-system" // the namespace of the installation
	release = "cauri"
	// image is what is installed, next the same with another version.
	image, next = "e2e", "e2e-next"
)

// chapter is a part of the story. Each goes on from where the one before left the cluster.
type chapter struct {
	name string
	tell func(*testing.T, *cluster)
}

var chapters = []chapter{
	{"helm install", installed},
	{"helm test", chartTested},
	{"a merchant in a team's namespace", merchantWorks},
	{"an operator's own API at the root of its host", rooted},
	{"sandboxes are apart", isolated},
	{"memory at rest", memoryAtRest},
	{"rolling upgrade under load", upgraded},
	{"a worker killed", workerKilled},
	{"events for a developer outside of the cluster", listened},
	{"the database killed", databaseKilled},
	{"narrowed to namespaces, and rolled back", narrowed},
	{"memory under load", memoryUnderLoad},
	{"a pipeline", pipelineJudges},
	{"a sandbox deleted", sandboxDeleted},
	{"uninstalled and installed again", reinstalled},
	{"what the documents show", documented},
	{"kustomize", kustomized},
}

func TestCluster(t *testing.T) {
	if os.Getenv("CAURI_E2E") == "" {
		t.Skip("it needs a cluster: `make e2e` brings up a node on this machine and runs it there, `make kind` runs it in kind")
	}
	c := connect(t)
	t.Cleanup(func() {
		if t.Failed() {
			c.diagnose()
		}
		c.print()
	})
	for _, chapter := range chapters {
		begun := time.Now()
		if !t.Run(chapter.name, func(t *testing.T) { chapter.tell(t, c) }) {
			t.Fatalf("%q failed, and what follows needs it", chapter.name)
		}
		t.Logf("%s: %.1f s", chapter.name, time.Since(begun).Seconds())
	}
}

// cluster is the cluster under test, by way of its API and the programs that its users have.
type cluster struct {
	root    string // of the checkout
	base    string // of the Kubernetes API
	http    *http.Client
	figures []figure

	followed map[string]bool // snippets of documents

	// before is what was noted in one chapter for a later one.
	before struct {
		version string
		memory  map[string]float64
	}
}

func connect(t *testing.T) *cluster {
	t.Helper()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil).ClientConfig()
	if err != nil {
		t.Fatalf("finding the cluster, which KUBECONFIG names: %v", err)
	}
	c := &cluster{base: strings.TrimSuffix(config.Host, "/"), followed: map[string]bool{}}
	if c.http, err = rest.HTTPClientFor(config); err != nil {
		t.Fatal(err)
	}
	if c.root, err = checkout(); err != nil {
		t.Fatal(err)
	}
	return c
}

// checkout is the folder of the checkout, at or above the working directory: the tests are run as a program from its root too.
func checkout() (string, error) {
	folder, err := os.Getwd()
	for ; err == nil; folder = filepath.Dir(folder) {
		if _, missing := os.Stat(filepath.Join(folder, "charts", "cauri")); missing == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			err = errors.New("the chart charts/cauri is in no folder above the working directory")
		}
	}
	return "", err
}

// kubectl runs kubectl and returns what it printed. A failure fails the test.
func (c *cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return c.must(t, "", "kubectl", args...)
}

// apply applies resources.
func (c *cluster) apply(t *testing.T, yaml string, args ...string) {
	t.Helper()
	c.must(t, yaml, "kubectl", append([]string{"apply", "-f", "-"}, args...)...)
}

// helm runs helm for the release.
func (c *cluster) helm(t *testing.T, args ...string) string {
	t.Helper()
	return c.must(t, "", "helm", append([]string{"--namespace", system}, args...)...)
}

func (c *cluster) must(t *testing.T, input, program string, args ...string) string {
	t.Helper()
	out, err := c.try(t.Context(), input, program, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, out)
	}
	return out
}

// try runs a program from the root of the checkout.
func (c *cluster) try(ctx context.Context, input, program string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = c.root
	command.Stdin = strings.NewReader(input)
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// ask sends a request to a path of the Kubernetes API and returns the answer. What it answers as its own error is an error.
func (c *cluster) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("%s %s was answered %d %s", method, path, response.StatusCode, text)
	}
	return text, err
}
