package node

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/image"
	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process/processtest"
	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func newTestNode(t *testing.T) *node {
	t.Helper()
	state := processtest.State(t)
	run := nodeRun{Dir: state.Path, Plugins: "/usr/lib/cni", Programs: "/programs", Cgroup: "cauri-node-1", Snapshotter: "native"}
	return &node{run: run, state: state, plane: nodeControlPlane(state, run.Programs)}
}

func TestNodeWantsACommand(t *testing.T) {
	t.Parallel()
	cmd := NewCommand()
	cmd.SetArgs([]string{"--images", "x"})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	testkit.WantAdvice(t, cmd.Execute(), "at least 1 arg")
}

func TestPartsOfANodeAreStartedByNoOther(t *testing.T) {
	t.Parallel()
	for _, cmd := range []interface {
		SetArgs([]string)
		Execute() error
	}{NewInitCommand(), NewInsideCommand()} {
		cmd.SetArgs([]string{"{}"})
		if err := cmd.Execute(); err == nil || !strings.Contains(err.Error(), "localcluster node") {
			t.Errorf("outside of its namespaces: %v", err)
		}
	}
}

func TestEveryFolderHasANodeOfItsOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	first, err := nodeHome("")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	second, err := nodeHome("")
	if err != nil {
		t.Fatal(err)
	}
	if first == second || first.cgroup() == second.cgroup() || filepath.Dir(first.path) != host.SystemHome {
		t.Errorf("two checkouts: %v and %v", first, second)
	}
	given, err := nodeHome("given")
	if err != nil || filepath.Base(given.path) != "given" || !filepath.IsAbs(given.path) {
		t.Errorf("a folder that is given: %v, %v", given, err)
	}
}

func TestImagesOfAFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"cauri.tar", "pause.tar", "notes.txt", ".half.tar-1"} {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	images, err := imagesIn(folder, []string{"/cache/pause.tar"})
	if diff := cmp.Diff([]string{filepath.Join(folder, "cauri.tar")}, images); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if images, err := imagesIn(filepath.Join(folder, "missing"), nil); err != nil || len(images) != 0 {
		t.Errorf("a folder that is not there: %v, %v", images, err)
	}
}

func TestPackagesForMissingPrograms(t *testing.T) {
	t.Parallel()
	all := missingPackages(func(string) bool { return false })
	for _, name := range []string{"containerd", "runc", "iptables"} {
		if !slices.Contains(all, name) {
			t.Errorf("%s is not among %v", name, all)
		}
	}
	if slices.Sort(all); len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("named twice: %v", all)
	}
	// Do not replace the containerd of Docker.
	if some := missingPackages(
		func(program string) bool { return program != "iptables" },
	); slices.Contains(some, "containerd") ||
		!slices.Contains(some, "iptables") {
		t.Errorf("only iptables is missing: %v", some)
	}
}

func TestConfigurationOfTheRuntime(t *testing.T) {
	t.Parallel()
	n := newTestNode(t)
	if err := n.writeRuntimeConfiguration(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(n.state.File("containerd.toml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`address = "` + n.containerdSocket() + `"`, `sandbox_image = "` + image.Pause + `"`, `bin_dir = "/usr/lib/cni"`,
		`conf_dir = "` + n.state.File("cni") + `"`, `snapshotter = "native"`, "restrict_oom_score_adj = true",
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if strings.Contains(string(text), "%!") || strings.Contains(string(text), "/run/containerd/containerd.sock") {
		t.Errorf("not filled in, or the machine's own containerd:\n%s", text)
	}
	network, err := os.ReadFile(n.state.File("cni", "10-cauri.conflist"))
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct{ Plugins []struct{ Type string } }
	if err := json.Unmarshal(network, &parsed); err != nil || len(parsed.Plugins) == 0 {
		t.Fatalf("the network: %v", err)
	}
	for _, plugin := range parsed.Plugins {
		if !slices.Contains(pluginNames, plugin.Type) {
			t.Errorf("the plugin %s is used and not looked for", plugin.Type)
		}
	}
}

func TestConfigurationOfTheKubelet(t *testing.T) {
	t.Parallel()
	n := newTestNode(t)
	configuration := n.kubeletConfiguration()
	for name, want := range map[string]any{
		"cgroupRoot": "/cauri-node-1", "failCgroupV1": false, "clusterDNS": []string{dnsServiceIP}, "containerRuntimeEndpoint": "unix://" + n.containerdSocket(),
		"imagePullCredentialsVerificationPolicy": "NeverVerify",
		"evictionHard":                           map[string]string{"memory.available": "100Mi", "nodefs.available": "200Mi", "imagefs.available": "200Mi"},
	} {
		if diff := cmp.Diff(want, configuration[name]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if !slices.Contains(n.kubelet().Args, "--hostname-override="+nodeName) {
		t.Errorf("arguments: %q", n.kubelet().Args)
	}
}

func TestNoTwoPortsOfANodeAreTheSame(t *testing.T) {
	t.Parallel()
	taken := map[int]bool{schedulerPort: true, kubeletHealthPort: true, proxyHealthPort: true, proxyMetricsPort: true, 10250: true}
	want := len(taken) + len(nodePorts)
	for _, port := range nodePorts {
		taken[port] = true
	}
	if len(taken) != want {
		t.Errorf("ports: %v", taken)
	}
}

func TestCertificatesOfANode(t *testing.T) {
	t.Parallel()
	n := newTestNode(t)
	now := time.Now()
	if err := n.plane.Pki.Ensure(now); err != nil {
		t.Fatal(err)
	}
	if !n.plane.Pki.Complete(now) {
		t.Error("the set is not complete")
	}
	if (kube.PKI{State: processtest.State(t), More: nodeIdentities}).Complete(now) {
		t.Error("an empty folder is complete")
	}
	client, err := n.plane.Pki.Client(kube.ClusterAuthority, "kubelet")
	if err != nil {
		t.Fatal(err)
	}
	leaf := client.Certificates[0].Leaf
	if leaf.Subject.CommonName != "system:node:"+nodeName || !slices.Equal(leaf.Subject.Organization, []string{"system:nodes"}) {
		t.Errorf("the kubelet is %v", leaf.Subject)
	}
	if !slices.ContainsFunc(leaf.IPAddresses, net.ParseIP(nodeAddress).Equal) {
		t.Errorf("the kubelet is at %v", leaf.IPAddresses)
	}
}

// The YAML files are handwritten. They must match the constants that configure everything else.
func TestObjectsOfANodeFitItsConstants(t *testing.T) {
	t.Parallel()
	state := processtest.State(t)
	objects, err := nodeObjects(state)
	if err != nil {
		t.Fatal(err)
	}
	byKind := map[string][]*unstructured.Unstructured{}
	for _, object := range objects {
		byKind[object.GetKind()] = append(byKind[object.GetKind()], object)
	}
	address, _, _ := unstructured.NestedString(byKind["Service"][0].Object, "spec", "clusterIP")
	containers, _, _ := unstructured.NestedSlice(byKind["Deployment"][0].Object, "spec", "template", "spec", "containers")
	corefile, _, _ := unstructured.NestedString(byKind["ConfigMap"][0].Object, "data", "Corefile")
	if address != dnsServiceIP || containers[0].(map[string]any)["image"] != image.CoreDNS || !strings.Contains(corefile, clusterDomain) {
		t.Errorf("DNS: address %s, %v, %s", address, containers[0], corefile)
	}
	if name := byKind["StorageClass"][0].GetName(); name != storageClass {
		t.Errorf("the StorageClass is called %s", name)
	}
	if err := makeVolumes(state); err != nil {
		t.Fatal(err)
	}
	if len(byKind["PersistentVolume"]) != volumeCount {
		t.Errorf("%d volumes", len(byKind["PersistentVolume"]))
	}
	for _, volume := range byKind["PersistentVolume"] {
		path, _, _ := unstructured.NestedString(volume.Object, "spec", "local", "path")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o777 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

func TestACommandIsLookedForInItsOwnPath(t *testing.T) {
	folder := t.TempDir()
	program := filepath.Join(folder, "only-here")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	before := os.Getenv("PATH")
	if found, err := lookIn(folder, "only-here"); err != nil || found != program {
		t.Errorf("found %q, %v", found, err)
	}
	if os.Getenv("PATH") != before {
		t.Error("the PATH of this program was changed")
	}
}

func TestOutcomeOfOneIsKnownToAll(t *testing.T) {
	t.Parallel()
	failed := errors.New("no such image")
	known := newOutcome()
	go known.set(failed)
	for range 2 {
		if err := known.wait(t.Context()); !errors.Is(err, failed) {
			t.Errorf("waited for %v", err)
		}
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newOutcome().wait(interrupted); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestTheEndOfLogsIsKept(t *testing.T) {
	t.Parallel()
	source, kept := t.TempDir(), filepath.Join(t.TempDir(), "kept")
	long := filepath.Join(source, "default_pod-1", "container", "0.log")
	if err := os.MkdirAll(filepath.Dir(long), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(long, []byte(strings.Repeat("x", longestLog)+"the end"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := copyLogs(source, kept); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(kept, "default_pod-1", "container", "0.log"))
	if err != nil || len(content) != longestLog || !strings.HasSuffix(string(content), "the end") {
		t.Errorf("kept %d bytes, %v", len(content), err)
	}
	if err := copyLogs(filepath.Join(source, "missing"), filepath.Join(kept, "missing")); err != nil {
		t.Errorf("a node that did not get that far: %v", err)
	}
}
