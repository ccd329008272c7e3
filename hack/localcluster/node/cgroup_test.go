package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestCgroupOfVersion1IsInEveryHierarchy(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	for _, name := range []string{"memory", "cpu,cpuacct", "unified"} {
		if err := os.Mkdir(filepath.Join(mount, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("cpu,cpuacct", filepath.Join(mount, "cpu")); err != nil {
		t.Fatal(err)
	}
	if err := makeCgroupIn(mount, "cauri-node-1"); err != nil {
		t.Fatal(err)
	}
	made := []string{filepath.Join(mount, "cpu,cpuacct", "cauri-node-1"), filepath.Join(mount, "memory", "cauri-node-1")}
	found, err := filepath.Glob(filepath.Join(mount, "*,*", "cauri-node-1"))
	more, _ := filepath.Glob(filepath.Join(mount, "[mu]*", "cauri-node-1"))
	if diff := cmp.Diff(made, append(found, more...)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	// Folders that the kubelet and a pod add.
	for _, folder := range made {
		if err := os.MkdirAll(filepath.Join(folder, "kubepods", "pod1", "container"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	other := filepath.Join(mount, "memory", "cauri-node-2", "kubepods")
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := removeCgroupIn(mount, "cauri-node-1"); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(mount, "*", "cauri-node-1")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error("the cgroup of another node was removed")
	}
	if err := removeCgroupIn(mount, "cauri-node-1"); err != nil {
		t.Errorf("removing what is not there: %v", err)
	}
}

func TestCgroupOfVersion2HandsControllersDown(t *testing.T) {
	t.Parallel()
	mount := t.TempDir()
	child := filepath.Join(mount, "cauri-node-1")
	if err := os.Mkdir(child, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{mount, child} { // the kernel makes this file
		if err := os.WriteFile(filepath.Join(folder, "cgroup.controllers"), []byte("cpuset cpu memory misc pids\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := makeCgroupIn(mount, "cauri-node-1"); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{mount, child} {
		enabled, err := os.ReadFile(filepath.Join(folder, "cgroup.subtree_control"))
		if err != nil || string(enabled) != "+cpuset +cpu +memory +pids" {
			t.Errorf("%s enables %q, %v", folder, enabled, err)
		}
	}
}

func TestAMachineWithoutCgroupsIsRefused(t *testing.T) {
	t.Parallel()
	testkit.WantAdvice(t, makeCgroupIn(t.TempDir(), "cauri-node-1"), "there are no cgroups")
	if err := makeCgroupIn(filepath.Join(t.TempDir(), "missing"), "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a mount: %v", err)
	}
}

func TestCgroupCountsAsManyProcesses(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{"cpu/cauri-node-1/cpu.shares": "16384", "cauri-node-1/cpu.weight": "1600"} {
		mount := t.TempDir()
		if err := os.MkdirAll(filepath.Join(mount, filepath.Dir(file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := weighCgroupIn(mount, "cauri-node-1"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(mount, file)); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v; want %s", file, got, err, want)
		}
	}
}
