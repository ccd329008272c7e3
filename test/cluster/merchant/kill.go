package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// kill ends all processes of a pod as a crash does, which no deletion of a pod comes to: the kubelet always asks first. It has to
// run with the processes of the node in sight (hostPID) and as the user of those that it is to end.
func kill(pod string) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	killed := 0
	for _, entry := range entries {
		process, err := strconv.Atoi(entry.Name())
		if err != nil || !isOf(process, pod) {
			continue
		}
		// A process whose parent was killed a moment ago may be gone.
		if err := syscall.Kill(process, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("killing process %d of %s: %w", process, pod, err)
		}
		killed++
	}
	if killed == 0 {
		return fmt.Errorf("no process of a pod %s is in sight of user %d", pod, os.Getuid())
	}
	fmt.Printf("killed %d processes of %s\n", killed, pod)
	return nil
}

// isOf tells whether a process is one of a pod, by the name of the host that the process sees. Those of other users cannot be read.
func isOf(process int, pod string) bool {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(process), "root/etc/hostname"))
	return err == nil && strings.TrimSpace(string(name)) == pod
}
