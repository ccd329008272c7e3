package download

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// unpack extracts some programs of an archive to a folder. It ignores the paths in the archive, so that no file is
// outside the folder.
func unpack(archive, folder string, programs []string, most int64) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("unpacking %s: %w", filepath.Base(archive), err)
	}
	missing := slices.Clone(programs)
	entries := tar.NewReader(plain)
	for len(missing) > 0 {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("unpacking %s: %s is not in it", filepath.Base(archive), missing[0])
		}
		if err != nil {
			return fmt.Errorf("unpacking %s: %w", filepath.Base(archive), err)
		}
		at := slices.Index(missing, path.Base(entry.Name))
		if entry.Typeflag != tar.TypeReg || at < 0 {
			continue
		}
		if entry.Size > most {
			return fmt.Errorf("unpacking %s: %s has %d bytes", filepath.Base(archive), entry.Name, entry.Size)
		}
		if err := writeProgram(filepath.Join(folder, missing[at]), entries); err != nil {
			return fmt.Errorf("unpacking %s: %w", filepath.Base(archive), err)
		}
		missing = slices.Delete(missing, at, at+1)
	}
	return nil
}

// writeProgram writes a file and calls fsync. Otherwise, after the later rename of the folder, a crash could leave an
// empty file.
func writeProgram(program string, from io.Reader) (err error) {
	file, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.Copy(file, from); err != nil {
		return err
	}
	return file.Sync()
}
