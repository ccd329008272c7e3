package main

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// testImage is an image with a configuration and files, each file in its own layer.
func testImage(t *testing.T, config v1.Config, files ...tar.Header) v1.Image {
	t.Helper()
	image, err := emptyImage(platforms[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range files {
		var layer bytes.Buffer
		archive := tar.NewWriter(&layer)
		content := strings.Repeat("x", int(h.Size))
		if err := archive.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, content); err != nil {
			t.Fatal(err)
		}
		if err := archive.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer.Bytes())), nil })
		if err != nil {
			t.Fatal(err)
		}
		if image, err = mutate.AppendLayers(image, l); err != nil {
			t.Fatal(err)
		}
	}
	if image, err = mutate.Config(image, config); err != nil {
		t.Fatal(err)
	}
	return image
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	config := v1.Config{
		User:       "65532:65532",
		Entrypoint: []string{"/ko-app/cauri"},
		Env:        []string{"A=1", "B=2"},
		Labels:     map[string]string{"title": "Cauri"},
	}
	folder := tar.Header{Name: "ko-app/", Typeflag: tar.TypeDir, Mode: 0o555}
	program := tar.Header{Name: "ko-app/cauri", Typeflag: tar.TypeReg, Mode: 0o555, Size: 4}
	with := func(change func(*v1.Config)) v1.Config {
		c := *config.DeepCopy()
		change(&c)
		return c
	}
	changed := func(change func(*tar.Header)) tar.Header {
		h := program
		change(&h)
		return h
	}
	same := testImage(t, config, folder, program)
	for name, c := range map[string]struct {
		other v1.Image
		want  string // in the only difference; empty if there is none
	}{
		"the same, in another order, with the root": {testImage(t, with(func(c *v1.Config) { c.Env = []string{"B=2", "A=1"} }),
			tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}, tar.Header{Name: "./ko-app/cauri", Typeflag: tar.TypeReg, Mode: 0o555, Size: 4},
			tar.Header{Name: "/ko-app", Typeflag: tar.TypeDir, Mode: 0o555}), ""},
		"another user":        {testImage(t, with(func(c *v1.Config) { c.User = "0" }), folder, program), "user: 65532:65532; 0"},
		"another entrypoint":  {testImage(t, with(func(c *v1.Config) { c.Entrypoint = []string{"/cauri"} }), folder, program), "entrypoint: "},
		"another environment": {testImage(t, with(func(c *v1.Config) { c.Env = []string{"A=1"} }), folder, program), "environment: "},
		"another label":       {testImage(t, with(func(c *v1.Config) { c.Labels = map[string]string{"title": "X"} }), folder, program), "label title: Cauri; X"},
		"a missing label":     {testImage(t, with(func(c *v1.Config) { c.Labels = nil }), folder, program), "label title: only in the first: Cauri"},
		"another mode":        {testImage(t, config, folder, changed(func(h *tar.Header) { h.Mode = 0o755 })), "-rwxr-xr-x"},
		"another owner":       {testImage(t, config, folder, changed(func(h *tar.Header) { h.Uid = 7 })), "owner 7:0"},
		"another content":     {testImage(t, config, folder, changed(func(h *tar.Header) { h.Size = 5 })), "5 bytes"},
		"one more file":       {testImage(t, config, folder, program, tar.Header{Name: "sh", Typeflag: tar.TypeReg}), "file /sh: only in the second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := contentOf(same)
			if err != nil {
				t.Fatal(err)
			}
			b, err := contentOf(c.other)
			if err != nil {
				t.Fatal(err)
			}
			found := differences(a, b)
			if c.want == "" {
				if len(found) > 0 {
					t.Errorf("differences where there are none: %q", found)
				}
				return
			}
			if len(found) != 1 || !strings.Contains(found[0], c.want) {
				t.Errorf("%q, want one with %q", found, c.want)
			}
		})
	}
}
