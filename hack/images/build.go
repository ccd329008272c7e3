package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/cobra"
)

func newBuildCommand() *cobra.Command {
	var ko, version, out, cache string
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the image for this machine's architecture, as an archive for `docker load`, `ctr images import` and kind",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := readSource(cmd.Context(), ".", version)
			if err != nil {
				return err
			}
			image, err := buildImage(cmd.Context(), s, ko, cache)
			if err != nil {
				return err
			}
			if _, err := smallProgramIn(image, programLimit); err != nil {
				return err
			}
			size, err := writeArchive(out, imageRepository+":"+version, image)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s:%s, %.1f MiB\n", out, imageRepository, version, float64(size)/(1<<20))
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&ko, "ko", "bin/ko", "the program ko")
	flags.StringVar(&version, "version", "", "version of the program and tag of the image")
	flags.StringVar(&out, "out", "bin/images/cauri.tar", "the archive to write")
	flags.StringVar(&cache, "cache", "bin/ko-cache", "cache folder for later builds")
	_ = cmd.MarkFlagRequired("version")
	return cmd
}

// buildImage builds the image for this machine's architecture.
func buildImage(ctx context.Context, s source, ko, cache string) (v1.Image, error) {
	folder, err := cacheFolder(cache, ko, s.Version)
	if err != nil {
		return nil, err
	}
	images := filepath.Join(folder, "layout")
	// A layout keeps everything that was ever written to it. Start with an empty one: the cache makes up for the time.
	if err := os.RemoveAll(images); err != nil {
		return nil, err
	}
	build := koBuild{
		source: s, program: ko, cache: folder, layout: images,
		platforms: []v1.Platform{{OS: "linux", Architecture: runtime.GOARCH}},
	}
	if err := build.run(ctx); err != nil {
		return nil, err
	}
	return onlyImage(images)
}

// cacheFolder is the absolute path of the build cache of one version. Another version of ko gets a new cache, because
// ko stores digests of compressed layers.
func cacheFolder(cache, ko, version string) (string, error) {
	info, err := buildinfo.ReadFile(ko)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w; `make bin/ko` builds it", ko, err)
	}
	builtBy := sha256.Sum256([]byte(info.String()))
	return filepath.Abs(filepath.Join(cache, fmt.Sprintf("%x", builtBy[:6]), version))
}

// onlyImage reads and verifies the only image of a layout.
func onlyImage(folder string) (v1.Image, error) {
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 || !manifest.Manifests[0].MediaType.IsImage() {
		return nil, fmt.Errorf("%s holds %d entries, want one image", folder, len(manifest.Manifests))
	}
	image, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		return nil, err
	}
	return image, verify(image)
}

// verify compares the layers of an image with their digests.
func verify(image v1.Image) error {
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	for _, l := range layers {
		want, err := l.Digest()
		if err != nil {
			return err
		}
		if err := verifyLayer(l, want); err != nil {
			return err
		}
	}
	return nil
}

func verifyLayer(l v1.Layer, want v1.Hash) error {
	content, err := l.Compressed()
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	got, _, err := v1.SHA256(content)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("a layer has the digest %s, not %s: remove bin/ko-cache and build again", got, want)
	}
	return nil
}

// writeArchive writes an image with its name as a docker archive. The write is atomic. It returns the size in bytes.
func writeArchive(path, imageName string, image v1.Image) (int64, error) {
	tag, err := name.NewTag(imageName)
	if err != nil {
		return 0, fmt.Errorf("%w; a version may have letters, digits, `.`, `_` and `-`", err)
	}
	return writeFile(path, func(out io.Writer) error { return tarball.Write(tag, image, out) })
}

// writeFile writes a file that appears only when it is complete. It returns the size in bytes.
func writeFile(path string, write func(io.Writer) error) (int64, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, err
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".writing-")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(file.Name()) }() // already renamed on success
	err = write(file)
	size, _ := file.Seek(0, io.SeekEnd)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Chmod(file.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", path, err)
	}
	return size, nil
}
