package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/spf13/cobra"
)

const spdxType types.MediaType = "application/spdx+json"

func newPublishCommand() *cobra.Command {
	var dist, repository string
	var trial bool
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Push a release's image for all platforms, with its SBOMs, to a registry",
		Long: `publish pushes the image that ` + "`release`" + ` made, without changes, and attaches the SBOMs to it as OCI
referrers. It uses the credentials of ` + "`docker login`" + ` (~/.docker/config.json, or the folder that DOCKER_CONFIG names).`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			pushed, err := publish(cmd.Context(), dist, repository, trial)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), pushed)
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dist, "dist", "dist", "the folder with the release")
	flags.StringVar(&repository, "image-repository", "", "the repository to push to, with its registry")
	flags.BoolVar(&trial, "trial", false, "also push an image that was built from changed files")
	_ = cmd.MarkFlagRequired("image-repository")
	return cmd
}

// publish pushes the image of a release and returns its name with the digest.
func publish(ctx context.Context, dist, repository string, trial bool) (string, error) {
	repo, err := name.NewRepository(repository, name.StrictValidation)
	if err != nil {
		return "", fmt.Errorf("the image's repository: %w", err)
	}
	if err := verifyChecksums(dist); err != nil {
		return "", err
	}
	unpacked, err := os.MkdirTemp("", "cauri-publish-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(unpacked) }()
	index, version, err := readRelease(dist, unpacked)
	if err != nil {
		return "", err
	}
	if err := mayPublish(index, trial); err != nil {
		return "", err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	tag := repo.Tag(strings.TrimPrefix(version, "v"))
	if err := remote.WriteIndex(tag, index, options...); err != nil {
		return "", fmt.Errorf("pushing %s: %w", tag, err)
	}
	if err := attachSBOMs(dist, version, repo, index, options); err != nil {
		return "", err
	}
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s@%s", tag, digest), nil
}

// readRelease extracts the image of a release into a folder. It returns the image and the version.
func readRelease(dist, unpacked string) (v1.ImageIndex, string, error) {
	const prefix, suffix = "cauri-", "-image.tar"
	found, err := filepath.Glob(filepath.Join(dist, prefix+"*"+suffix))
	if err != nil || len(found) != 1 {
		return nil, "", fmt.Errorf("%s holds %d files %s*%s, want one: run `make release`", dist, len(found), prefix, suffix)
	}
	packed, err := os.Open(found[0])
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = packed.Close() }()
	if err := unpackFolder(unpacked, packed); err != nil {
		return nil, "", fmt.Errorf("reading %s: %w", found[0], err)
	}
	index, err := onlyIndex(unpacked)
	return index, strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), prefix), suffix), err
}

// mayPublish refuses images that were not built from a commit.
func mayPublish(index v1.ImageIndex, trial bool) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, entry := range manifest.Manifests {
		image, err := index.Image(entry.Digest)
		if err != nil {
			return err
		}
		config, err := image.ConfigFile()
		if err != nil {
			return err
		}
		if revision := config.Config.Labels["org.opencontainers.image.revision"]; strings.HasSuffix(revision, "-modified") && !trial {
			return fmt.Errorf("the image was built from changed files (%s): run `make release` in a clean checkout of the tag", revision)
		}
	}
	return nil
}

// attachSBOMs pushes the SBOMs. Each refers to the image that it describes.
func attachSBOMs(dist, version string, repo name.Repository, index v1.ImageIndex, options []remote.Option) error {
	described, err := partial.Descriptor(index)
	if err != nil {
		return err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	subjects := map[string]v1.Descriptor{"index": *described}
	for _, entry := range manifest.Manifests {
		subjects[entry.Platform.OS+"-"+entry.Platform.Architecture] = entry
	}
	for of, subject := range subjects {
		path := filepath.Join(dist, fmt.Sprintf("cauri-%s-%s.spdx.json", version, of))
		document, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		sbom, err := referrer(document, subject)
		if err != nil {
			return err
		}
		digest, err := sbom.Digest()
		if err != nil {
			return err
		}
		if err := remote.Write(repo.Digest(digest.String()), sbom, options...); err != nil {
			return fmt.Errorf("pushing %s: %w", path, err)
		}
	}
	return nil
}

// referrer returns an image that contains a document about another image.
func referrer(document []byte, subject v1.Descriptor) (v1.Image, error) {
	sbom, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), static.NewLayer(document, spdxType))
	if err != nil {
		return nil, err
	}
	sbom = mutate.ConfigMediaType(sbom, spdxType) // registries list it as the artifact type
	subject = v1.Descriptor{MediaType: subject.MediaType, Digest: subject.Digest, Size: subject.Size}
	return mutate.Subject(sbom, subject).(v1.Image), nil
}
