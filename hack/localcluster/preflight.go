package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	mebibyte = 1 << 20

	// Measured for a first build: compiled packages, source, and what the linker needs in passing.
	spaceForBuild = 8000 * mebibyte
	// Measured likewise for the other programs that are built here.
	spaceForCoreDNS = 2000 * mebibyte
	spaceForProgram = 200 * mebibyte
	// The programs, twice while a new build replaces an old one.
	spaceForPrograms = 300 * mebibyte
	// A fresh set takes 150 MB; Postgres and etcd grow from there.
	spaceForState = 500 * mebibyte
)

// checkSystem refuses systems for which nothing here was made.
func checkSystem(otherwise string) error {
	return checkSystemNamed(runtime.GOOS, otherwise)
}

func checkSystemNamed(system, otherwise string) error {
	if system == "linux" {
		return nil
	}
	return fmt.Errorf("the embedded parts (Postgres and the Kubernetes control plane) need Linux, this is %s: use a Linux VM (on Windows: WSL2), or %s", system, otherwise)
}

// checkBuild tells beforehand what would make a build of minutes fail.
func checkBuild(ctx context.Context, build sourceBuild) error {
	const advice = "install Go 1.26 or newer (https://go.dev/dl/)"
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("building %s needs Go, and there is no `go` in PATH: %s", build.name, advice)
	}
	// Asked where the module is: go itself then fetches a newer one or says why it does not.
	cmd := build.command(ctx, "env", "GOCACHE")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the `go` in PATH cannot build %s: %s\n%s", build.name, strings.TrimSpace(failed.String()), advice)
	}
	cache := strings.TrimSpace(string(output))
	if err := checkSpace(cache, build.space, "building "+build.name, "free some, or name a folder with more by GOCACHE"); err != nil {
		return err
	}
	kept, err := cacheFolder()
	if err != nil {
		return err
	}
	return checkSpace(kept, spaceForPrograms, "the programs of "+build.name, "free some, or name a folder with more by XDG_CACHE_HOME")
}

// checkSpace compares the free space of the file system that a path is or will be on with what is needed.
func checkSpace(path string, needed uint64, purpose, advice string) error {
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
	return fmt.Errorf("too little space for %s: %d MB are free in %s, %d MB are needed: %s", purpose, free/mebibyte, path, needed/mebibyte, advice)
}

// checkFiles looks for what up is given.
func checkFiles(cauri, crds, samples string) error {
	info, err := os.Stat(cauri)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s: run `make build` first, or name the program by --cauri", cauri)
	case err != nil:
		return fmt.Errorf("looking for the cauri program: %w", err)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not a program: run `make build` first, or name the program by --cauri", cauri)
	}
	if _, err := os.Stat(crds); err != nil {
		return fmt.Errorf("the custom resource definitions are not in %s: run `make generate` first, or name their folder by --crds (%w)", crds, err)
	}
	if samples == "" {
		return nil
	}
	if _, err := os.Stat(samples); err != nil {
		return fmt.Errorf("there are no samples in %s: name their file or folder by --samples, or apply none by --samples= (%w)", samples, err)
	}
	return nil
}

// checkAPIPort makes sure that the port is free, or in use by the api that is to be replaced.
func checkAPIPort(port int, running process) error {
	if running.running() && running.Address == apiAddress(port) {
		return nil
	}
	if isFree(port) {
		return nil
	}
	other := 8090
	if port == other {
		other++
	}
	return fmt.Errorf("port %d is in use%s: end that program, or choose another port: %s=%d make up", port, listener(port), apiPortVariable, other)
}

// listener names the program that listens on a port, as far as can be seen.
func listener(port int) string {
	pid, program, ok := findListener(port)
	if !ok {
		return " by another program"
	}
	return fmt.Sprintf(" by %s (pid %d)", program, pid)
}
