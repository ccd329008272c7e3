package controllers_test

import (
	"io/fs"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/controllers"
	"github.com/cauri-dev/cauri/server/egress"
)

// TestSamples applies every folder of samples as it stands, as `kubectl apply -k` does, and waits until all of it is ready.
func TestSamples(t *testing.T) {
	folders := sampleFolders(t)
	if len(folders) < 3 {
		t.Fatalf("only %q have samples", folders)
	}
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			c := newCluster(t)
			c.start()
			applied := c.applyFolder(filepath.Join("..", "config", "samples", folder))
			sandboxes := 0
			for _, obj := range applied {
				switch obj.GetKind() {
				case "SandboxEnvironment":
					sandboxes++
					sandbox := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: obj.GetName()}}
					c.kstatusBecomes(sandbox, status.CurrentStatus)
					c.refresh(sandbox)
					mayReceive(t, sandbox.Spec.Webhook)
				case "TestClient":
					c.testClientReady(&v1alpha1.TestClient{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: obj.GetName()}})
				}
			}
			if sandboxes == 0 {
				t.Errorf("no sandbox among %d objects", len(applied))
			}
		})
	}
}

// TestSamplesAreRenamed builds each folder of samples with a suffix for its names, as a pipeline does for each run: what refers to a
// sandbox or to a Secret follows, also in an Expectation that somebody adds.
func TestSamplesAreRenamed(t *testing.T) {
	const added = "{apiVersion: cauri.dev/v1alpha1, kind: Expectation, metadata: {name: paid, namespace: default}, spec: {sandboxRef: {name: NAME}, " +
		"expect: [{nothingElse: true}]}}\n---\n" +
		"{apiVersion: v1, kind: Secret, metadata: {name: own, namespace: default}}\n---\n" +
		"{apiVersion: cauri.dev/v1alpha1, kind: SandboxEnvironment, metadata: {name: NAME, namespace: default}, spec: {" +
		"credentials: {apiKeySecretRef: {name: own, key: k}}, webhook: {signingSecretRef: {name: own, key: k}}, " +
		"stores: [{slug: a, operatorCredentials: [{secretRef: {name: own}}]}]}}\n"
	for _, folder := range sampleFolders(t) {
		if folder == "platform/base" {
			continue // without a resource that refers to another one
		}
		t.Run(folder, func(t *testing.T) {
			root := t.TempDir()
			if err := os.CopyFS(root, os.DirFS(filepath.Join("..", "config", "samples"))); err != nil {
				t.Fatal(err)
			}
			here := filepath.Join(root, folder)
			edited, err := os.ReadFile(filepath.Join(here, "kustomization.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			edited = []byte(strings.Replace(string(edited), "resources:\n", "nameSuffix: -run-42\nresources:\n- added.yaml\n", 1))
			for file, text := range map[string]string{"added.yaml": strings.ReplaceAll(added, "NAME", "one-more"), "kustomization.yaml": string(edited)} {
				if err := os.WriteFile(filepath.Join(here, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			built, err := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"), "kustomize", here).Output()
			if err != nil {
				t.Fatal(err)
			}
			references := regexp.MustCompile(`(?m)(sandboxRef|[sS]ecretRef):\n(?: +key: .*\n)? +name: (.*)$`).FindAllSubmatch(built, -1)
			if len(references) < 4 {
				t.Errorf("it has %d references:\n%s", len(references), built)
			}
			for _, found := range references {
				if !strings.HasSuffix(string(found[2]), "-run-42") {
					t.Errorf("a %s names %s, which is renamed", found[1], found[2])
				}
			}
		})
	}
}

// sampleFolders are the folders of config/samples for `kubectl apply -k`: all that make a sandbox of a namespace.
func sampleFolders(t *testing.T) (folders []string) {
	t.Helper()
	root := filepath.Join("..", "config", "samples")
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Name() == "kustomization.yaml" {
			folder, _ := filepath.Rel(root, filepath.Dir(file))
			folders = append(folders, filepath.ToSlash(folder))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return folders
}

// applyFolder builds a folder with kustomize and creates its objects in the test's namespace.
func (c *cluster) applyFolder(path string) []*unstructured.Unstructured {
	c.Helper()
	file := filepath.Join(c.TempDir(), "built.yaml")
	if err := os.WriteFile(file, []byte(c.kubectl("kustomize", path)), 0o600); err != nil {
		c.Fatal(err)
	}
	objects, err := readFile(file)
	if err != nil {
		c.Fatal(err)
	}
	for _, obj := range objects {
		if obj.GetKind() == "Namespace" {
			continue // it exists
		}
		obj.SetNamespace(c.namespace)
		c.create(obj)
	}
	return objects
}

// mayReceive checks the webhook of a sample against the guard of a worker without flags, which every cluster has.
func mayReceive(t *testing.T, webhook *v1alpha1.Webhook) {
	t.Helper()
	if webhook == nil {
		return
	}
	to, err := url.Parse(webhook.URL)
	if err != nil {
		t.Fatal(err)
	}
	address, err := netip.ParseAddr(strings.Replace(to.Hostname(), "localhost", "127.0.0.1", 1))
	if err != nil {
		return // the name of a Service
	}
	if err := (egress.Guard{}).Check(netip.AddrPortFrom(address, 80)); err != nil {
		t.Errorf("a worker sends nothing to %s: %v", webhook.URL, err)
	}
}

// TestSampleTestClients has what config/samples says of its numbers.
func TestSampleTestClients(t *testing.T) {
	c := newCluster(t)
	c.start()
	c.applyFolder(filepath.Join("..", "config", "samples"))
	sandbox := &v1alpha1.SandboxEnvironment{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "checkout"}}
	c.sandboxConditions(sandbox, operatorConditions("True Ready")...)
	if sandbox.Status.EnvironmentsSummary != "4/4" {
		t.Errorf("the environments are %s", sandbox.Status.EnvironmentsSummary)
	}
	for name, want := range map[string]v1alpha1.TestClientStatus{
		"alice": {Operator: "mtn", Country: "RW", Currency: "RWF", Balance: new(int64(50000))},
		"bob":   {Operator: "mtn", Country: "RW", Currency: "RWF", Balance: new(int64(50000))},
		"poor":  {Operator: "mtn", Country: "RW", Currency: "RWF", Balance: new(int64(100))},
		"carol": {Operator: "airtel", Country: "RW", Currency: "RWF", Balance: new(int64(50000))},
		"dan":   {Operator: "orange", Country: "CI", Currency: "XOF", Balance: new(int64(50000))},
	} {
		testClient := &v1alpha1.TestClient{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name}}
		c.testClientReady(testClient)
		want.ObservedGeneration, want.Conditions = 1, testClient.Status.Conditions
		if diff := cmp.Diff(want, testClient.Status); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestLeaderElection elects the leader with no more rights than the controller has in a cluster.
func TestLeaderElection(t *testing.T) {
	c := newCluster(t)
	options := controllers.ManagerOptions(c.namespace)
	options.LeaderElection = true
	options.LeaderElectionID = controllers.LeaseName
	options.LeaderElectionNamespace = "cauri-system"
	options.LeaderElectionReleaseOnCancel = true
	c.startWith(options)
	sandbox := c.newSandbox()
	c.create(sandbox)
	c.sandboxReady(sandbox)
}

// `make up` applies all files of config/samples, and the first payment of a newcomer is not the one that an
// Expectation waits for.
func TestSamplesOfANewcomer(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "config", "samples", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		objects, err := readFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, obj := range objects {
			kinds[obj.GetObjectKind().GroupVersionKind().Kind] = true
		}
	}
	if !maps.Equal(kinds, map[string]bool{"SandboxEnvironment": true, "TestClient": true, "Secret": true}) {
		t.Errorf("config/samples has %v", kinds)
	}
}

func TestSampleOfAnExpectation(t *testing.T) {
	c := newCluster(t)
	objects, err := readFile(filepath.Join("..", "examples", "expectation.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range objects {
		obj.SetNamespace(c.namespace)
		c.create(obj)
	}
	if len(objects) != 1 {
		t.Errorf("there are %d objects", len(objects))
	}
}
