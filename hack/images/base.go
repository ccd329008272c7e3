package main

import (
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// platforms are the platforms of the image.
var platforms = []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}}

// programPlatforms are the platforms for which a release has only the program.
var programPlatforms = []v1.Platform{
	{OS: "darwin", Architecture: "amd64"}, {OS: "darwin", Architecture: "arm64"},
	{OS: "windows", Architecture: "amd64"}, {OS: "windows", Architecture: "arm64"},
}

// writeBase puts an empty base image into ko's cache and returns its name. ko has no `FROM scratch`: it pulls its base
// from a registry, unless its cache has the image with that digest.
func writeBase(cache string, platforms []v1.Platform) (string, error) {
	folder := filepath.Join(cache, "img")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	images, err := layout.Write(folder, empty.Index)
	if err != nil {
		return "", err
	}
	base := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		image, err := emptyImage(platform)
		if err != nil {
			return "", err
		}
		// ko also looks for each platform's image in the index of the cache.
		if err := images.AppendImage(image); err != nil {
			return "", fmt.Errorf("writing the empty base image: %w", err)
		}
		base = mutate.AppendManifests(base, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	if err := images.AppendIndex(base); err != nil {
		return "", fmt.Errorf("writing the empty base image: %w", err)
	}
	digest, err := base.Digest()
	if err != nil {
		return "", err
	}
	return "cauri.local/empty@" + digest.String(), nil
}

func emptyImage(platform v1.Platform) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = platform.OS, platform.Architecture
	return mutate.ConfigFile(image, config)
}
