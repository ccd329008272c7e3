package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// kubePrograms are the names by which localkube is called, each a link to it.
var kubePrograms = []string{etcdName, apiServerName, controllerManagerName, "kubectl"}

// kubeBuild is the program localkube made from one state of its source.
type kubeBuild struct {
	source  string // folder
	version string // of Kubernetes: v1.2.3
	folder  string // where the program and its links are, once built
}

// cacheFolder is what all checkouts of one user share.
func cacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for what is built once: %w; set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(cache, "cauri"), nil
}

// findKubeBuild names the build of the present source. The folder's name says the version and the content, so that each
// state of the source is built once, whatever checkouts and branches there are.
func findKubeBuild() (kubeBuild, error) {
	source, err := kubeSource()
	if err != nil {
		return kubeBuild{}, err
	}
	hash, err := hashSource(source)
	if err != nil {
		return kubeBuild{}, err
	}
	version, err := kubernetesVersion(filepath.Join(source, "go.mod"))
	if err != nil {
		return kubeBuild{}, err
	}
	cache, err := cacheFolder()
	if err != nil {
		return kubeBuild{}, err
	}
	return kubeBuild{source: source, version: version, folder: filepath.Join(cache, "localkube-"+version+"-"+hash)}, nil
}

// kubeSource finds hack/localcluster/kube above the working directory, else above this program (which is bin/localcluster
// of a checkout).
func kubeSource() (string, error) {
	working, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the working directory: %w", err)
	}
	starts := []string{working}
	if program, err := os.Executable(); err == nil {
		starts = append(starts, filepath.Dir(program))
	}
	for _, dir := range starts {
		for {
			source := filepath.Join(dir, "hack", "localcluster", "kube")
			if _, err := os.Stat(filepath.Join(source, "go.mod")); err == nil {
				return source, nil
			}
			parent := filepath.Dir(dir)
			if parent == dir {
				break
			}
			dir = parent
		}
	}
	return "", errors.New("hack/localcluster/kube is not above this folder: run this within a checkout of Cauri")
}

// hashSource is a hash over all that decides what is built: the source, the versions of its modules, the machine.
func hashSource(source string) (string, error) {
	files, err := filepath.Glob(filepath.Join(source, "*.go"))
	if err != nil {
		return "", err
	}
	files = append(files, filepath.Join(source, "go.mod"), filepath.Join(source, "go.sum"))
	slices.Sort(files)
	hash := sha256.New()
	fmt.Fprintln(hash, runtime.GOOS, runtime.GOARCH)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return "", fmt.Errorf("reading the source of localkube: %w", err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(content), content)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}

var requiredKubernetes = regexp.MustCompile(`(?m)^\s*(?:require )?k8s\.io/kubernetes (v\d+\.\d+\.\d+\S*)`)

// kubernetesVersion reads the version where it is decided.
func kubernetesVersion(goMod string) (string, error) {
	content, err := os.ReadFile(goMod)
	if err != nil {
		return "", fmt.Errorf("reading the version of Kubernetes: %w", err)
	}
	match := requiredKubernetes.FindSubmatch(content)
	if match == nil {
		return "", fmt.Errorf("%s does not require k8s.io/kubernetes", goMod)
	}
	return string(match[1]), nil
}

// built tells whether there is nothing to do.
func (b kubeBuild) built() bool {
	_, err := os.Stat(filepath.Join(b.folder, "localkube"))
	return err == nil
}

// ensure builds what is not built, and says so.
func (b kubeBuild) ensure(ctx context.Context, out io.Writer) error {
	if b.built() {
		return nil
	}
	cache := filepath.Dir(b.folder)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("making the folder for what is built once: %w", err)
	}
	unlock, err := lockFile(filepath.Join(cache, "localkube.lock"), func() {
		fmt.Fprintln(out, "another localcluster is building the Kubernetes control plane: waiting for it")
	})
	if err != nil {
		return err
	}
	defer unlock()
	if b.built() { // by the one that was waited for
		return nil
	}
	if err := checkBuild(ctx, b.source); err != nil {
		return err
	}
	return b.build(ctx, out)
}

// build makes the program beside its place and moves it there when it is complete. The caller holds the lock.
func (b kubeBuild) build(ctx context.Context, out io.Writer) error {
	begun := time.Now()
	partial := b.folder + ".partial"
	if err := os.RemoveAll(partial); err != nil { // of a build that was killed
		return fmt.Errorf("removing an unfinished build: %w", err)
	}
	defer os.RemoveAll(partial)
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return fmt.Errorf("making the folder of the build: %w", err)
	}
	fmt.Fprintf(out, `building the Kubernetes %s control plane (etcd, API server, controller manager, kubectl) from source
  This is needed once: it takes 5 to 10 minutes on two cores and 6 GB of disk, most of it in Go's caches. No container
  runtime is involved and nothing is downloaded but Go modules. The result is kept in
  %s
`, b.version, b.folder)

	total, err := b.packages(ctx, out)
	if err != nil {
		return err
	}
	if err := b.compile(ctx, out, begun, partial, total); err != nil {
		return err
	}
	for _, name := range kubePrograms {
		if err := os.Symlink("localkube", filepath.Join(partial, name)); err != nil {
			return fmt.Errorf("naming the control plane's programs: %w", err)
		}
	}
	if err := os.Rename(partial, b.folder); err != nil {
		return fmt.Errorf("keeping the build: %w", err)
	}
	fmt.Fprintf(out, "  built in %.0f s\n", time.Since(begun).Seconds())
	return nil
}

// packages downloads the sources, and counts the packages to be compiled.
func (b kubeBuild) packages(ctx context.Context, out io.Writer) (int, error) {
	stop := reportEvery(10*time.Second, func(elapsed time.Duration) {
		fmt.Fprintf(out, "  %3.0f s: downloading the source\n", elapsed.Seconds())
	})
	defer stop()
	var listed, failed bytes.Buffer
	cmd := b.command(ctx, "list", "-deps", ".")
	cmd.Stdout, cmd.Stderr = &listed, &failed
	if err := cmd.Run(); err != nil {
		return 0, buildError(ctx, "downloading the source of Kubernetes", err, failed.String())
	}
	return bytes.Count(listed.Bytes(), []byte("\n")), nil
}

func (b kubeBuild) compile(ctx context.Context, out io.Writer, begun time.Time, folder string, total int) error {
	var said countedLines
	waited := time.Since(begun)
	stop := reportEvery(10*time.Second, func(elapsed time.Duration) {
		// Go compiles only what it has not compiled before, so that the total is an upper limit.
		fmt.Fprintf(out, "  %3.0f s: compiled %d of at most %d packages\n", (waited + elapsed).Seconds(), said.count.Load(), total)
	})
	defer stop()
	// -v prints the name of every package that is compiled.
	cmd := b.command(ctx, "build", "-v", "-trimpath", "-buildvcs=false", "-ldflags", b.linkerFlags(), "-o", filepath.Join(folder, "localkube"), ".")
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return buildError(ctx, "building the control plane", err, said.text.String())
	}
	return nil
}

// countedLines keeps what a program writes. The count may be read while it is written.
type countedLines struct {
	text  bytes.Buffer
	count atomic.Int64
}

func (c *countedLines) Write(written []byte) (int, error) {
	c.count.Add(int64(bytes.Count(written, []byte("\n"))))
	return c.text.Write(written)
}

// linkerFlags leave the tables for debuggers out, and tell the programs their version: that is otherwise done by
// Kubernetes' own scripts, and clients refuse a server without one.
func (b kubeBuild) linkerFlags() string {
	parts := strings.SplitN(strings.TrimPrefix(b.version, "v"), ".", 3)
	const variable = "-X k8s.io/component-base/version."
	return strings.Join([]string{
		"-s -w",
		variable + "gitVersion=" + b.version,
		variable + "gitMajor=" + parts[0],
		variable + "gitMinor=" + parts[1],
		variable + "gitTreeState=clean",
	}, " ")
}

// command is a run of go that depends on nothing but the source: what the user has set for other work is left out.
func (b kubeBuild) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func buildError(ctx context.Context, doing string, err error, output string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: interrupted; the next attempt goes on where this one stopped", doing)
	}
	return fmt.Errorf("%s: %w; the last lines of go's output:\n%s\nrepeat the command once the cause is gone: what was compiled is kept", doing, err, endOf(output, 15))
}

// reportEvery calls report until it is stopped.
func reportEvery(interval time.Duration, report func(elapsed time.Duration)) (stop func()) {
	begun := time.Now()
	ticker := time.NewTicker(interval)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-ticker.C:
				report(time.Since(begun))
			case <-done:
				return
			}
		}
	}()
	return func() {
		ticker.Stop()
		close(done)
	}
}
