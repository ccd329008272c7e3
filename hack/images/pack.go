package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// Archives are reproducible: they have a fixed order, time and owner.

// packed is a file in an archive.
type packed struct {
	name    string
	mode    int64
	content []byte
}

// packFiles writes a tar.gz of files in a folder.
func packFiles(out io.Writer, folder string, files []packed, at time.Time) error {
	compressed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		if err := addFile(archive, path.Join(folder, f.name), f.mode, f.content, at); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func addFile(archive *tar.Writer, name string, mode int64, content []byte, at time.Time) error {
	h := &tar.Header{Name: name, Mode: mode, Size: int64(len(content)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
	if err := archive.WriteHeader(h); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}

// packFolder writes a tar of all files of a folder.
func packFolder(out io.Writer, folder string, at time.Time) error {
	archive := tar.NewWriter(out)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return addFile(archive, filepath.ToSlash(name), 0o644, content, at)
	})
	return errors.Join(err, archive.Close())
}

// zipFiles writes a zip of files in a folder.
func zipFiles(out io.Writer, folder string, files []packed, at time.Time) error {
	archive := zip.NewWriter(out)
	for _, f := range files {
		h := &zip.FileHeader{Name: path.Join(folder, f.name), Method: zip.Deflate, Modified: at}
		h.SetMode(fs.FileMode(f.mode))
		file, err := archive.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := file.Write(f.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// unpackFolder extracts an archive of packFolder.
func unpackFolder(folder string, in io.Reader) error {
	for archive := tar.NewReader(in); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !filepath.IsLocal(h.Name) || h.Typeflag != tar.TypeReg {
			return fmt.Errorf("%s does not belong in an image layout", h.Name)
		}
		if _, err := writeFile(
			filepath.Join(folder, h.Name),
			func(out io.Writer) error { _, err := io.Copy(out, archive); return err },
		); err != nil {
			return err
		}
	}
}

// repackChart rewrites helm's package of a chart without the packaging time.
func repackChart(out io.Writer, in io.Reader, at time.Time) error {
	compressed, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	var files []packed
	for archive := tar.NewReader(compressed); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			return err
		}
		files = append(files, packed{h.Name, 0o644, content})
	}
	// Helm expects Chart.yaml first.
	slices.SortStableFunc(files, func(a, b packed) int {
		if first := strings.Count(a.name, "/") - strings.Count(b.name, "/"); first != 0 {
			return first
		}
		return strings.Compare(a.name, b.name)
	})
	return packFiles(out, "", files, at)
}

// programIn returns the program in an image.
func programIn(image v1.Image) ([]byte, error) {
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	for files := tar.NewReader(content); ; {
		h, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("looking for /ko-app/cauri in the image: %w", err)
		}
		if name := path.Join("/", h.Name); name == "/ko-app/cauri" || name == "/Files/ko-app/cauri" { // the latter in images for Windows
			return io.ReadAll(files)
		}
	}
}

func copyFile(to, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	_, err = writeFile(to, func(out io.Writer) error { _, err := out.Write(content); return err })
	return err
}
