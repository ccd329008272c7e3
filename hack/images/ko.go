package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// koBuild is one run of ko.
type koBuild struct {
	source    source
	program   string // ko
	platforms []v1.Platform
	cache     string // folder of ko's cache
	layout    string // folder, for the images
	sboms     string // folder, for SPDX documents; empty for none
}

// run builds the images of all platforms.
func (k koBuild) run(ctx context.Context) error {
	base, err := writeBase(k.cache, k.platforms)
	if err != nil {
		return err
	}
	program, err := filepath.Abs(k.program)
	if err != nil {
		return err
	}
	images, err := layoutArgument(k.source.Folder, k.layout)
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program, k.arguments(images)...)
	command.Dir, command.Env = k.source.Folder, append(buildEnvironment(os.Environ()), k.environment(base)...)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Run(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, out.String())
	}
	return nil
}

// layoutArgument returns the path of the images for ko, relative to the checkout. ko parses it as an image name, which
// must not have capital letters, but the absolute path may have some.
func layoutArgument(checkout, folder string) (string, error) {
	from, err := filepath.Abs(checkout)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(from, to)
	if err != nil {
		return "", err
	}
	if relative != strings.ToLower(relative) {
		return "", fmt.Errorf("ko writes images only to folders without capital letters: choose a folder other than %s, below the checkout, "+
			"and another version", folder)
	}
	return relative, nil
}

func (k koBuild) arguments(images string) []string {
	args := []string{"build", "./cmd/cauri", "--push=false", "--bare", "--image-user=" + imageUser, "--oci-layout-path=" + images,
		"--jobs=1"} // KOCACHE is set, so ko does not need its own records
	for _, platform := range k.platforms {
		args = append(args, "--platform="+platform.String())
	}
	of := labels(k.source)
	for _, name := range slices.Sorted(maps.Keys(of)) {
		args = append(args, "--image-label="+name+"="+of[name])
	}
	if k.sboms == "" {
		return append(args, "--sbom=none")
	}
	return append(args, "--sbom=spdx", "--sbom-dir="+k.sboms)
}

func (k koBuild) environment(base string) []string {
	seconds := strconv.FormatInt(k.source.Time.Unix(), 10)
	return []string{
		"VERSION=" + k.source.Version, "REVISION=" + k.source.Revision(),
		"KO_DOCKER_REPO=" + imageRepository, "KO_DEFAULTBASEIMAGE=" + base, "KOCACHE=" + k.cache,
		"SOURCE_DATE_EPOCH=" + seconds, "KO_DATA_DATE_EPOCH=" + seconds, "TZ=UTC", // ko writes times in the time zone of the machine
		// GOFLAGS must have a value: without one, Go reads the flags of `go env -w`.
		"GOFLAGS=-buildvcs=false",
	}
}

// buildEnvironment removes variables that would change the program.
func buildEnvironment(environment []string) []string {
	changes := []string{"GOOS", "GOARCH", "GOARM", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFLAGS", "GODEBUG", "GOFIPS140", "CGO_ENABLED"}
	return slices.DeleteFunc(slices.Clone(environment), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(changes, name) || strings.HasPrefix(name, "KO_") || name == "KOCACHE"
	})
}
