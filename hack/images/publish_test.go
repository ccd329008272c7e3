package main

import (
	"archive/tar"
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// testRelease writes the files of a release that publish needs.
func testRelease(t *testing.T, revision string) *release {
	t.Helper()
	r := &release{source: source{Version: "v1.2.3"}, dist: t.TempDir(), out: io.Discard}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, platform := range platforms {
		config := v1.Config{Labels: map[string]string{"org.opencontainers.image.revision": revision, "arch": platform.Architecture}}
		image := testImage(t, config, tar.Header{Name: "ko-app/cauri", Typeflag: tar.TypeReg, Mode: 0o555, Size: 4})
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	images := t.TempDir()
	path, err := layout.Write(images, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	if err := path.AppendIndex(index); err != nil {
		t.Fatal(err)
	}
	if err := nameIndex(images, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	if _, err := writeFile(r.layoutFile(), func(out io.Writer) error { return packFolder(out, images, r.Time) }); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"index", "linux-amd64", "linux-arm64"} {
		if _, err := writeFile(r.file("cauri-v1.2.3-%s.spdx.json", of), func(out io.Writer) error {
			_, err := io.WriteString(out, `{"name":"`+of+`"}`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.makeChecksums(); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPublish(t *testing.T) {
	t.Parallel()
	r := testRelease(t, strings.Repeat("a", 40))
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true), registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository := strings.TrimPrefix(server.URL, "http://") + "/team/cauri"

	pushed, err := publish(t.Context(), r.dist, repository, false)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(pushed, repository+":1.2.3@sha256:") {
		t.Errorf("pushed %s", pushed)
	}
	reference, err := name.ParseReference(repository + ":1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	index, err := remote.Index(reference)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := index.Digest()
	if err != nil || !strings.HasSuffix(pushed, digest.String()) || len(manifest.Manifests) != 2 {
		t.Fatalf("%s, %v, %d platforms", digest, err, len(manifest.Manifests))
	}
	wantSBOM(t, reference.Context(), digest, "index")
	for _, entry := range manifest.Manifests {
		wantSBOM(t, reference.Context(), entry.Digest, "linux-"+entry.Platform.Architecture)
	}
}

// wantSBOM fails unless exactly one document is attached to an image, the right one.
func wantSBOM(t *testing.T, repository name.Repository, of v1.Hash, document string) {
	t.Helper()
	attached, err := remote.Referrers(repository.Digest(of.String()))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := attached.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].ArtifactType != string(spdxType) {
		t.Fatalf("%s has the referrers %+v", document, manifest.Manifests)
	}
	sbom, err := remote.Image(repository.Digest(manifest.Manifests[0].Digest.String()))
	if err != nil {
		t.Fatal(err)
	}
	layers, err := sbom.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	content, err := layers[0].Compressed()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = content.Close() }()
	if text, err := io.ReadAll(content); err != nil || string(text) != `{"name":"`+document+`"}` {
		t.Errorf("attached to %s is %s, %v", document, text, err)
	}
}

func TestPublishRefuses(t *testing.T) {
	t.Parallel()
	changed := testRelease(t, strings.Repeat("a", 40))
	if _, err := writeFile(changed.file("cauri-v1.2.3-index.spdx.json"), func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for title, c := range map[string]struct{ dist, repository, want string }{
		"changed files of a release": {changed.dist, "127.0.0.1:1/cauri", filepath.Base(changed.file("cauri-v1.2.3-index.spdx.json")) + " is not what"},
		"an image of changed files":  {testRelease(t, "aaaa-modified").dist, "127.0.0.1:1/cauri", "was built from changed files"},
		"no release":                 {t.TempDir(), "127.0.0.1:1/cauri", "`make release` makes the files"},
		"a name without a registry":  {changed.dist, "cauri", "the image's repository"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			if _, err := publish(t.Context(), c.dist, c.repository, false); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
