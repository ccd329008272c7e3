// Package source builds programs from the modules in its folders and keeps them in the user's cache. It builds each
// state of the source once.
package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// spaceForPrograms is twice the size of the programs, in bytes, because a new build exists next to the old one for a
// while.
const spaceForPrograms = 300 * host.Mebibyte

// Build is a program of one state of a module. The cache keeps it under its version and content hash, so that all
// checkouts with the same source share it.
type Build struct {
	Name        string   // name of the program
	source      string   // folder of its module
	Version     string   // version of the main dependency: v1.2.3
	Folder      string   // folder of the built program and its links
	Links       []string // links to the program
	LinkerFlags string

	What      string // description for users
	Cost      string // cost of the first build, for users
	Meanwhile string // a line for users about what is usable during the build; may be empty
	Space     uint64 // space that Go's caches need, in bytes
}

// Find returns the build with the folder of its source and the folder of its result.
func (b Build) Find(folder, versionOf string) (Build, error) {
	var err error
	if b.source, err = moduleFolder(folder); err != nil {
		return b, err
	}
	if b.Version, err = RequiredVersion(filepath.Join(b.source, "go.mod"), versionOf); err != nil {
		return b, err
	}
	hash, err := hashSource(b.source)
	if err != nil {
		return b, err
	}
	cache, err := host.CacheFolder()
	if err != nil {
		return b, err
	}
	b.Folder = filepath.Join(cache, b.Name+"-"+b.Version+"-"+hash)
	return b, nil
}

// moduleFolder finds hack/localcluster/source/<name> in a parent of the working directory, otherwise in a parent of
// this program (bin/localcluster of a checkout).
func moduleFolder(name string) (string, error) {
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
			source := filepath.Join(dir, "hack", "localcluster", "source", name)
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
	return "", fmt.Errorf("hack/localcluster/source/%s is not in any parent of this folder: run this inside a checkout of Cauri", name)
}

// hashSource returns a hash of the source, the versions of its modules and the platform, which determine the result.
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
		if errors.Is(err, fs.ErrNotExist) && filepath.Base(file) == "go.sum" { // a module without dependencies
			continue
		}
		if err != nil {
			return "", fmt.Errorf("reading the source of the build: %w", err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(content), content)
	}
	return hex.EncodeToString(hash.Sum(nil))[:12], nil
}

// RequiredVersion returns the version of a dependency in go.mod; "" without that dependency.
func RequiredVersion(goMod, module string) (string, error) {
	if module == "" {
		return "v1", nil
	}
	content, err := os.ReadFile(goMod)
	if err != nil {
		return "", fmt.Errorf("reading the version of %s: %w", module, err)
	}
	required := regexp.MustCompile(`(?m)^\s*(?:require )?` + regexp.QuoteMeta(module) + ` (v\d+\.\d+\.\d+\S*)`)
	match := required.FindSubmatch(content)
	if match == nil {
		return "", fmt.Errorf("%s does not require %s", goMod, module)
	}
	return string(match[1]), nil
}

func (b Build) Program() string { return filepath.Join(b.Folder, b.Name) }

// Built reports whether the build exists.
func (b Build) Built() bool {
	_, err := os.Stat(b.Program())
	return err == nil
}

// Ensure builds the program if necessary and prints the progress. It removes builds that were not used for long.
func (b Build) Ensure(ctx context.Context, out io.Writer) error {
	if b.Built() {
		return host.MarkUsed(b.Folder)
	}
	cache := filepath.Dir(b.Folder)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("creating the folder of builds: %w", err)
	}
	unlock, err := host.LockFile(filepath.Join(cache, b.Name+".lock"), func() {
		fmt.Fprintf(out, "waiting for another localcluster that builds %s\n", b.What)
	})
	if err != nil {
		return err
	}
	defer unlock()
	if b.Built() { // another process built it
		return nil
	}
	if err := checkBuild(ctx, b); err != nil {
		return err
	}
	if err := b.build(ctx, out); err != nil {
		return err
	}
	return host.RemoveUnused(cache, b.Name+"-v*", time.Now())
}

// build builds the program in a temporary folder and moves it to its place when it is complete. The caller holds the
// lock.
func (b Build) build(ctx context.Context, out io.Writer) error {
	begun := time.Now()
	partial := b.Folder + ".partial"
	if err := os.RemoveAll(partial); err != nil { // left by a killed build
		return fmt.Errorf("removing an unfinished build: %w", err)
	}
	defer os.RemoveAll(partial)
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return fmt.Errorf("creating the folder of the build: %w", err)
	}
	fmt.Fprintf(out, `building %s from source
  This is needed only once and takes %s.
  It needs no container runtime and downloads only Go modules. The result is kept in
  %s
`, b.What, b.Cost, b.Folder)
	if b.Meanwhile != "" {
		fmt.Fprintf(out, "  %s\n", b.Meanwhile)
	}

	total, err := b.packages(ctx, out)
	if err != nil {
		return err
	}
	if err := b.compile(ctx, out, begun, partial, total); err != nil {
		return err
	}
	for _, name := range b.Links {
		if err := os.Symlink(b.Name, filepath.Join(partial, name)); err != nil {
			return fmt.Errorf("creating the links of %s: %w", b.Name, err)
		}
	}
	if err := os.Rename(partial, b.Folder); err != nil {
		return fmt.Errorf("saving the build: %w", err)
	}
	fmt.Fprintf(out, "  built %d packages in %.0f s\n", total, time.Since(begun).Seconds())
	return nil
}

// packages downloads the sources and counts the packages to compile: those that Go's cache does not have.
func (b Build) packages(ctx context.Context, out io.Writer) (int, error) {
	stop := reportEvery(10*time.Second, func(elapsed time.Duration) {
		fmt.Fprintf(out, "  %3.0f s: downloading the source\n", elapsed.Seconds())
	})
	defer stop()
	var listed, failed bytes.Buffer
	cmd := b.command(ctx, "list", "-deps", "-trimpath", "-f", "{{if .Stale}}{{.ImportPath}}{{end}}", ".")
	cmd.Stdout, cmd.Stderr = &listed, &failed
	if err := cmd.Run(); err != nil {
		return 0, buildError(ctx, "downloading the source of "+b.Name, err, failed.String())
	}
	return bytes.Count(listed.Bytes(), []byte("\n")), nil
}

func (b Build) compile(ctx context.Context, out io.Writer, begun time.Time, folder string, total int) error {
	var said countedLines
	waited := time.Since(begun)
	stop := reportEvery(10*time.Second, func(elapsed time.Duration) {
		fmt.Fprintf(out, "  %3.0f s: %s\n", (waited + elapsed).Seconds(), progress(int(said.count.Load()), total, elapsed))
	})
	// -v prints the name of every compiled package. -s and -w omit the debug tables.
	cmd := b.command(
		ctx,
		"build",
		"-v",
		"-trimpath",
		"-buildvcs=false",
		"-ldflags",
		"-s -w "+b.LinkerFlags,
		"-o",
		filepath.Join(folder, b.Name),
		".",
	)
	cmd.Stderr = &said
	err := cmd.Run()
	stop()
	if err != nil {
		return buildError(ctx, "building "+b.Name, err, said.text.String())
	}
	return nil
}

// progress returns a line about the progress of a build. After the last package, only linking is left.
func progress(compiled, total int, elapsed time.Duration) string {
	switch {
	case compiled == 0:
		return fmt.Sprintf("compiled none of %d packages yet", total)
	case compiled >= total:
		return fmt.Sprintf("compiled all %d packages, linking them", total)
	}
	left := elapsed / time.Duration(compiled) * time.Duration(total-compiled)
	return fmt.Sprintf("compiled %d of %d packages, about %s left", compiled, total, left.Round(10*time.Second))
}

// countedLines stores the output of a program and counts its lines. It is safe for concurrent use.
type countedLines struct {
	text  bytes.Buffer
	count atomic.Int64
}

func (c *countedLines) Write(written []byte) (int, error) {
	c.count.Add(int64(bytes.Count(written, []byte("\n"))))
	return c.text.Write(written)
}

// command returns a go command that depends only on the source: it omits the user's own Go settings.
func (b Build) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.source
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func buildError(ctx context.Context, doing string, err error, output string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: interrupted. The next attempt continues from here", doing)
	}
	return fmt.Errorf(
		"%s: %w; the last lines of go's output:\n%s\nfix the cause and repeat the command: go keeps the compiled packages",
		doing,
		err,
		host.EndOf(output, 15),
	)
}

// reportEvery calls report regularly until it is stopped.
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

// checkBuild checks the requirements before a build that takes minutes.
func checkBuild(ctx context.Context, build Build) error {
	const advice = "install Go 1.26 or newer (https://go.dev/dl/)"
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("building %s needs Go, and there is no `go` in PATH: %s", build.Name, advice)
	}
	// In the module's folder, go downloads a newer toolchain if necessary, or returns an error.
	cmd := build.command(ctx, "env", "GOCACHE")
	var failed bytes.Buffer
	cmd.Stderr = &failed
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("the `go` in PATH cannot build %s: %s\n%s", build.Name, strings.TrimSpace(failed.String()), advice)
	}
	cache := strings.TrimSpace(string(output))
	if err := host.CheckSpace(cache, build.Space, "building "+build.Name, "free some, or set GOCACHE to a folder with more"); err != nil {
		return err
	}
	kept, err := host.CacheFolder()
	if err != nil {
		return err
	}
	return host.CheckSpace(kept, spaceForPrograms, "the programs of "+build.Name, "free some, or set XDG_CACHE_HOME to a folder with more")
}
