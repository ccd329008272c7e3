package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

const cgroupMount = "/sys/fs/cgroup"

// unifiedCgroups reports whether the system has cgroups of version 2, in which all controllers share one hierarchy.
func unifiedCgroups(mount string) bool {
	_, err := os.Stat(filepath.Join(mount, "cgroup.controllers"))
	return err == nil
}

// makeCgroup creates the parent cgroup of all pods, for all controllers.
func makeCgroup(name string) error {
	err := makeCgroupIn(cgroupMount, name)
	if err == nil {
		err = weighCgroupIn(cgroupMount, name)
	}
	if err != nil {
		return fmt.Errorf("creating a cgroup: %w; if this container has no cgroups of its own, %s", err, withoutNode)
	}
	return nil
}

// processesWorth is the CPU weight of all pods together, as a number of processes. By default, the kernel schedules
// their cgroup like one process, so that on a busy machine the pods would be too slow to answer probes.
const processesWorth = 16

// weighCgroupIn sets the CPU weight of the cgroup, in the units of its version.
func weighCgroupIn(mount, name string) error {
	for path, one := range map[string]int{filepath.Join("cpu", name, "cpu.shares"): 1024, filepath.Join(name, "cpu.weight"): 100} {
		err := os.WriteFile(filepath.Join(mount, path), []byte(strconv.Itoa(processesWorth*one)), 0o644)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // only the file of one version exists
			return err
		}
	}
	return nil
}

func makeCgroupIn(mount, name string) error {
	if unifiedCgroups(mount) {
		if err := enableControllers(mount); err != nil {
			return err
		}
		folder := filepath.Join(mount, name)
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
		return enableControllers(folder)
	}
	hierarchies, err := cgroupHierarchies(mount)
	if err != nil {
		return err
	}
	for _, hierarchy := range hierarchies {
		if err := os.MkdirAll(filepath.Join(hierarchy, name), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// enableControllers enables the controllers that pods need, for the children of a version 2 cgroup.
func enableControllers(folder string) error {
	content, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	if err != nil {
		return err
	}
	available := strings.Fields(string(content))
	var enabled []string
	for _, controller := range []string{"cpuset", "cpu", "io", "memory", "hugetlb", "pids"} {
		if slices.Contains(available, controller) {
			enabled = append(enabled, "+"+controller)
		}
	}
	return os.WriteFile(filepath.Join(folder, "cgroup.subtree_control"), []byte(strings.Join(enabled, " ")), 0o644)
}

// cgroupHierarchies returns the mounts of version 1. It omits links, which are second names of mounts.
func cgroupHierarchies(mount string) ([]string, error) {
	entries, err := os.ReadDir(mount)
	if err != nil {
		return nil, err
	}
	var hierarchies []string
	for _, entry := range entries {
		// On version 1, systemd also mounts a version 2 hierarchy. It has no controllers.
		if entry.IsDir() && entry.Name() != "unified" {
			hierarchies = append(hierarchies, filepath.Join(mount, entry.Name()))
		}
	}
	if len(hierarchies) == 0 {
		return nil, fmt.Errorf("there are no cgroups in %s", mount)
	}
	return hierarchies, nil
}

// removeCgroup removes the cgroup and everything below it. It waits for the end of killed processes.
func removeCgroup(name string) error {
	err := host.Poll(
		context.Background(),
		host.PollFast,
		20*time.Second,
		func(context.Context) error { return removeCgroupIn(cgroupMount, name) },
	)
	if err != nil {
		return fmt.Errorf("removing the cgroup of a node: %w; find the processes that run in it: cat %s/pids/%s/**/cgroup.procs", err, cgroupMount, name)
	}
	return nil
}

func removeCgroupIn(mount, name string) error {
	tops, err := filepath.Glob(filepath.Join(mount, "*", name))
	if err != nil {
		return err
	}
	var failed error
	for _, top := range append(tops, filepath.Join(mount, name)) {
		failed = errors.Join(failed, removeFolders(top))
	}
	return failed
}

// removeFolders removes the folders from the bottom up. The kernel removes the files of a cgroup.
func removeFolders(top string) error {
	var folders []string
	err := filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, path)
		}
		return nil // already removed
	})
	if err != nil {
		return err
	}
	var failed error
	for _, folder := range slices.Backward(folders) {
		if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}
