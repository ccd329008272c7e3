// Package host knows this machine: its system and space, free ports and who listens on them, file locks, the cache folder, polling.
package host

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

const Mebibyte = 1 << 20

// CheckSystem refuses systems for which nothing here was made.
func CheckSystem(otherwise string) error {
	return checkSystemNamed(runtime.GOOS, otherwise)
}

func checkSystemNamed(system, otherwise string) error {
	if system == "linux" {
		return nil
	}
	return fmt.Errorf(
		"the embedded parts (Postgres and the Kubernetes control plane) need Linux, this is %s: use a Linux VM (on Windows: WSL2), or %s",
		system,
		otherwise,
	)
}

// CheckSpace compares the free space of the file system that a path is or will be on with what is needed.
func CheckSpace(path string, needed uint64, purpose, advice string) error {
	existing := path
	for {
		if _, err := os.Stat(existing); err == nil {
			break
		}
		parent := filepath.Dir(existing)
		if parent == existing {
			break
		}
		existing = parent
	}
	var stat unix.Statfs_t
	if err := unix.Statfs(existing, &stat); err != nil {
		return fmt.Errorf("asking for the free space of %s: %w", existing, err)
	}
	return enoughSpace(uint64(stat.Bavail)*uint64(stat.Bsize), needed, path, purpose, advice)
}

func enoughSpace(free, needed uint64, path, purpose, advice string) error {
	if free >= needed {
		return nil
	}
	return fmt.Errorf(
		"too little space for %s: %d MB are free in %s, %d MB are needed: %s",
		purpose,
		free/Mebibyte,
		path,
		needed/Mebibyte,
		advice,
	)
}

// SystemHome holds what a root user's set keeps outside its state folder. That folder is closed to everyone but root, and
// Postgres refuses to run as root.
const SystemHome = "/var/lib/cauri"
