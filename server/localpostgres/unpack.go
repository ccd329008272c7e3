package localpostgres

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// copyAndSum copies to a file and returns the SHA-256 sum of the copied bytes.
func copyAndSum(to io.Writer, from io.Reader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(io.MultiWriter(to, sum), from)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// programsFolder is the folder of the programs in a package. linksFile lists symbolic links for this folder, because a
// package cannot contain links.
const (
	programsFolder = "package/native/"
	linksFile      = "pg-symlinks.json"
)

// unpack unpacks the programs of a package into a folder.
func unpack(archive, folder string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder) // no entry is written outside of it
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return link(root)
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(entry.Name, programsFolder)
		if !ok || entry.Typeflag != tar.TypeReg {
			continue
		}
		if err := writeFile(root, name, entry.FileInfo().Mode()&0o111 != 0, entries); err != nil {
			return err
		}
	}
}

func writeFile(root *os.Root, name string, executable bool, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	mode := os.FileMode(0o644)
	if executable {
		mode = 0o755
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// link creates the symbolic links that a package lists. Each is in the folder of its target.
func link(root *os.Root) error {
	text, err := root.ReadFile(linksFile)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var links []struct{ Source, Target string }
	if err := json.Unmarshal(text, &links); err != nil {
		return err
	}
	for _, l := range links {
		source, target := strings.TrimPrefix(l.Source, "native/"), strings.TrimPrefix(l.Target, "native/")
		to, err := filepath.Rel(filepath.Dir(target), source)
		if err != nil {
			return err
		}
		if err := root.Symlink(to, target); err != nil {
			return err
		}
	}
	return nil
}
