// Package host has functions for this machine: system, free space, free ports, listeners, file locks, cache folder,
// polling.
package host

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sys/unix"
)

const Mebibyte = 1 << 20

// CheckSystem returns an error on systems that a part of localcluster does not support.
func CheckSystem(part, otherwise string) error {
	return checkSystemNamed(runtime.GOOS, part, otherwise)
}

func checkSystemNamed(system, part, otherwise string) error {
	if system == "linux" {
		return nil
	}
	return fmt.Errorf(
		"%s needs Linux, this is %s: use a Linux VM (on Windows: WSL2), or %s",
		part,
		system,
		otherwise,
	)
}

// CheckSpace returns an error if the file system of a path has less free space than needed. The path need not exist
// yet.
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
		return fmt.Errorf("reading the free space of %s: %w", existing, err)
	}
	return enoughSpace(uint64(stat.Bavail)*uint64(stat.Bsize), needed, path, purpose, advice)
}

func enoughSpace(free, needed uint64, path, purpose, advice string) error {
	if free >= needed {
		return nil
	}
	return fmt.Errorf(
		"not enough disk space for %s: %d MB are free in %s, %d MB are needed: %s",
		purpose,
		free/Mebibyte,
		path,
		needed/Mebibyte,
		advice,
	)
}

// SystemHome is the folder for data of Postgres if root runs localcluster. Only root can read the state folder, and
// Postgres refuses to run as root.
const SystemHome = "/var/lib/cauri"
