package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// layerEntry is a file, a folder or a symbolic link of a layer. Its owner is root.
type layerEntry struct {
	mode    fs.FileMode // type and permissions
	target  string      // target of a symbolic link
	source  string      // the file of this machine with the content, or
	content []byte
}

// layer maps each path, without the leading slash, to its entry.
type layer map[string]layerEntry

// add adds a file of this machine, or a folder with everything below it, to the layer. It keeps only the right to
// execute, because the other permissions differ between machines.
func (l layer) add(source, destination string) error {
	return filepath.WalkDir(source, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(source, file)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path.Join("/", destination, filepath.ToSlash(relative)), "/")
		switch {
		case entry.Type() == fs.ModeSymlink:
			target, err := os.Readlink(file)
			if err != nil {
				return err
			}
			l[name] = layerEntry{mode: fs.ModeSymlink | 0o777, target: target}
		case entry.IsDir():
			l[name] = layerEntry{mode: fs.ModeDir | 0o755}
		case entry.Type().IsRegular():
			mode := fs.FileMode(0o644)
			if info.Mode()&0o111 != 0 {
				mode = 0o755
			}
			l[name] = layerEntry{mode: mode, source: file}
		default:
			return fmt.Errorf("%s is not a file, folder or symbolic link: an image can hold nothing else", file)
		}
		return nil
	})
}

// withParents adds the missing parent folders.
func (l layer) withParents() layer {
	whole := maps.Clone(l)
	delete(whole, "")
	for name := range l {
		for parent := path.Dir(name); parent != "." && parent != "/"; parent = path.Dir(parent) {
			if _, ok := whole[parent]; !ok {
				whole[parent] = layerEntry{mode: fs.ModeDir | 0o755}
			}
		}
	}
	return whole
}

// write writes the layer as a tarball. Entries are sorted and have no times, so that the same content gives the same
// bytes.
func (l layer) write(w io.Writer) error {
	whole := l.withParents()
	archive := tar.NewWriter(w)
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		if err := whole[name].write(archive, name); err != nil {
			return fmt.Errorf("writing %s of a layer: %w", name, err)
		}
	}
	return archive.Close()
}

func (e layerEntry) write(archive *tar.Writer, name string) error {
	header := &tar.Header{Name: name, Mode: int64(e.mode.Perm()), ModTime: epoch, Format: tar.FormatPAX}
	if e.mode&fs.ModeSticky != 0 {
		header.Mode |= 0o1000
	}
	switch {
	case e.mode.IsDir():
		header.Typeflag, header.Name = tar.TypeDir, name+"/"
		return archive.WriteHeader(header)
	case e.mode&fs.ModeSymlink != 0:
		header.Typeflag, header.Linkname = tar.TypeSymlink, e.target
		return archive.WriteHeader(header)
	}
	header.Typeflag = tar.TypeReg
	content, size, err := e.open()
	if err != nil {
		return err
	}
	defer content.Close()
	header.Size = size
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, content)
	return err
}

func (e layerEntry) open() (io.ReadCloser, int64, error) {
	if e.source == "" {
		return io.NopCloser(bytes.NewReader(e.content)), int64(len(e.content)), nil
	}
	file, err := os.Open(e.source)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// writeFile writes the layer to a file of this machine.
func (l layer) writeFile(name string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(l.write(file), file.Close())
}
