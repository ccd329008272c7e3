// Package image writes container images without a container runtime: from files, from Go source, and from Debian
// packages.
package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// image is the configuration of a container image, without its layers.
type image struct {
	name         string // full name with a tag: cauri.local/merchant:e2e
	architecture string // a GOARCH value
	entrypoint   []string
	command      []string
	env          []string // NAME=value
	user         string   // uid:gid
	workdir      string
	stopSignal   string
}

// imagePath is the default PATH of the programs in an image.
const imagePath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// The parts of an image's configuration and the manifest of an archive, in the format of `docker save`.
type (
	imageConfig struct {
		Architecture string         `json:"architecture"`
		OS           string         `json:"os"`
		Created      time.Time      `json:"created"`
		Config       imageExecution `json:"config"`
		RootFS       imageRootFS    `json:"rootfs"`
	}
	imageExecution struct {
		User       string   `json:",omitempty"`
		Env        []string `json:",omitempty"`
		Entrypoint []string `json:",omitempty"`
		Cmd        []string `json:",omitempty"`
		WorkingDir string   `json:",omitempty"`
		StopSignal string   `json:",omitempty"`
	}
	imageRootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	archiveEntry struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
)

// epoch is the time of all files in an image, so that the same content always gives the same image.
var epoch = time.Unix(0, 0).UTC()

// write writes the image as an archive for `docker load`, `ctr images import` and `kind load image-archive`. Layers are
// tarballs, the lowest first. The file appears only when it is complete.
func (i image) write(path string, layers []string) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("writing the image %s: %w", i.name, err)
	}
	defer os.Remove(file.Name())
	if err := errors.Join(i.writeTo(file, layers), file.Chmod(0o644), file.Close()); err != nil {
		return fmt.Errorf("writing the image %s: %w", i.name, err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return fmt.Errorf("writing the image %s: %w", i.name, err)
	}
	return nil
}

func (i image) writeTo(w io.Writer, layers []string) error {
	archive := tar.NewWriter(w)
	entry := archiveEntry{RepoTags: []string{i.name}}
	config := i.config()
	for _, layer := range layers {
		digest, err := digestOf(layer)
		if err != nil {
			return err
		}
		name := digest + "/layer.tar"
		if err := copyInto(archive, name, layer); err != nil {
			return err
		}
		entry.Layers = append(entry.Layers, name)
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, "sha256:"+digest)
	}
	described, err := json.Marshal(config)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(described)
	entry.Config = hex.EncodeToString(digest[:]) + ".json"
	contents, err := json.Marshal([]archiveEntry{entry})
	if err != nil {
		return err
	}
	return errors.Join(
		putInto(archive, entry.Config, int64(len(described)), bytes.NewReader(described)),
		putInto(archive, "manifest.json", int64(len(contents)), bytes.NewReader(contents)),
		archive.Close(),
	)
}

func (i image) config() imageConfig {
	return imageConfig{
		Architecture: i.architecture,
		OS:           "linux",
		Created:      epoch,
		Config: imageExecution{
			User: i.user, Env: append([]string{imagePath}, i.env...), Entrypoint: i.entrypoint, Cmd: i.command,
			WorkingDir: i.workdir, StopSignal: i.stopSignal,
		},
		RootFS: imageRootFS{Type: "layers"},
	}
}

func digestOf(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

func copyInto(archive *tar.Writer, name, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return putInto(archive, name, info.Size(), file)
}

func putInto(archive *tar.Writer, name string, size int64, content io.Reader) error {
	if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, ModTime: epoch}); err != nil {
		return err
	}
	_, err := io.Copy(archive, content)
	return err
}
