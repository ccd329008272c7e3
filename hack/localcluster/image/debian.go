package image

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// downloadPackages downloads Debian packages and their dependencies into a folder. It installs nothing.
func downloadPackages(ctx context.Context, out io.Writer, folder string, names []string) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(folder, "partial"), 0o755); err != nil {
		return nil, err
	}
	// An empty status file makes apt treat this machine as one without any installed package.
	nothing := filepath.Join(folder, "status")
	if err := os.WriteFile(nothing, nil, 0o644); err != nil {
		return nil, err
	}
	args := append([]string{
		"install",
		"-q",
		"-y",
		"--no-install-recommends",
		"--download-only",
		"-o",
		"Dir::State::status=" + nothing,
		"-o",
		"Dir::Cache::archives=" + folder + "/",
		"-o",
		"Debug::NoLocking=1",
		"-o",
		"APT::Sandbox::User=root",
	}, names...)
	if err := AptGet(ctx, out, args); err != nil {
		return nil, err
	}
	return filepath.Glob(filepath.Join(folder, "*.deb"))
}

// AptGet runs apt-get. If that fails, it updates the package lists and runs apt-get again, because the lists may be
// old.
func AptGet(ctx context.Context, out io.Writer, args []string) error {
	if err := runApt(ctx, args); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Fprintln(out, "updating Debian's package lists")
	if err := runApt(ctx, []string{"update", "-q"}); err != nil {
		return err
	}
	return runApt(ctx, args)
}

func runApt(ctx context.Context, args []string) error {
	cmd := exec.CommandContext(ctx, "apt-get", slices.Concat(host.AptOptions, args)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %q: %w\n%s", strings.Join(cmd.Args, " "), err, host.EndOf(output.String(), 15))
	}
	return nil
}

// unpack extracts the files of packages into a folder. It runs no package scripts. It ignores owners, because only the
// files that choose selects are used.
func unpack(ctx context.Context, packages []string, folder string) (packagedFiles, error) {
	files := packagedFiles{}
	for _, name := range packages {
		cmd := exec.CommandContext(ctx, "dpkg-deb", "--fsys-tarfile", name)
		var failed bytes.Buffer
		cmd.Stderr = &failed
		content, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, fmt.Errorf("unpacking a package: %w", err)
		}
		err = files.read(content, folder)
		io.Copy(io.Discard, content) // reads data after the end of the archive
		if err := errors.Join(err, cmd.Wait()); err != nil {
			return nil, fmt.Errorf("unpacking %s: %w %s", filepath.Base(name), err, &failed)
		}
	}
	return files, nil
}

// packagedFiles are the files and links of packages. Their content is in a folder.
type packagedFiles layer

// documentation has the folders that images omit. They are half of many packages.
var documentation = []string{"usr/share/doc/", "usr/share/man/", "usr/share/locale/", "usr/share/info/", "usr/share/lintian/"}

func (f packagedFiles) read(content io.Reader, folder string) error {
	archive := tar.NewReader(content)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := mergedPath(header.Name)
		if slices.ContainsFunc(documentation, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		switch header.Typeflag {
		case tar.TypeSymlink:
			f[name] = layerEntry{mode: fs.ModeSymlink | 0o777, target: header.Linkname}
		case tar.TypeLink:
			f[name] = f[mergedPath(header.Linkname)]
		case tar.TypeReg:
			file := filepath.Join(folder, filepath.FromSlash(name))
			if err := writeFrom(file, archive); err != nil {
				return err
			}
			mode := fs.FileMode(0o644)
			if header.Mode&0o111 != 0 {
				mode = 0o755
			}
			f[name] = layerEntry{mode: mode, source: file}
		}
	}
}

func writeFrom(name string, content io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// mergedPath returns the path of a file on a system where /bin, /sbin and /lib are links into /usr. The result is
// always inside the folder.
func mergedPath(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	first, _, _ := strings.Cut(name, "/")
	switch first {
	case "bin", "sbin", "lib", "lib64":
		return "usr/" + name
	}
	return name
}

// choose returns the files that match the patterns, and their dependencies: link targets and shared libraries. /**
// matches everything below a folder. choose returns an error for a pattern without a match.
func (f packagedFiles) choose(patterns, leftOut []string) (layer, error) {
	chosen := layer{}
	var open []string
	names := slices.Sorted(maps.Keys(f))
	for _, pattern := range patterns {
		found := false
		for _, name := range names {
			if matches(pattern, name) {
				found = true
				if !slices.ContainsFunc(leftOut, func(pattern string) bool { return matches(pattern, name) }) {
					open = append(open, name)
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("no package has %s", pattern)
		}
	}
	for len(open) > 0 {
		name := open[0]
		open = open[1:]
		if _, ok := chosen[name]; ok {
			continue
		}
		chosen[name] = f[name]
		needed, err := f.needs(name)
		if err != nil {
			return nil, err
		}
		open = append(open, needed...)
	}
	return chosen, nil
}

func matches(pattern, name string) bool {
	if folder, ok := strings.CutSuffix(pattern, "/**"); ok {
		return strings.HasPrefix(name, folder+"/")
	}
	matched, err := path.Match(pattern, name)
	return err == nil && matched
}

// needs returns the dependencies of a file: its link target or its shared libraries.
func (f packagedFiles) needs(name string) ([]string, error) {
	entry := f[name]
	if entry.mode&fs.ModeSymlink != 0 {
		target := entry.target
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name), target)
		}
		target = mergedPath(target)
		if _, ok := f[target]; !ok {
			return nil, nil // the link's target exists only on a running system
		}
		return []string{target}, nil
	}
	libraries, interpreter, err := linkedWith(entry.source)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	var needed []string
	if interpreter != "" {
		needed = append(needed, mergedPath(interpreter))
	}
	for _, library := range libraries {
		found, err := f.library(library)
		if err != nil {
			return nil, fmt.Errorf("%s needs %w", name, err)
		}
		needed = append(needed, found)
	}
	return needed, nil
}

// library finds a shared library by its file name.
func (f packagedFiles) library(name string) (string, error) {
	var found []string
	for candidate := range f {
		if path.Base(candidate) == name && (matches("usr/lib/*/*", candidate) || matches("usr/lib*/*", candidate)) {
			found = append(found, candidate)
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s, which is in no package", name)
	}
	return slices.Min(found), nil
}

// linkedWith reads the shared libraries that an ELF file needs. It returns nothing for other files.
func linkedWith(file string) (libraries []string, interpreter string, err error) {
	opened, err := elf.Open(file)
	var notELF *elf.FormatError
	if errors.As(err, &notELF) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	defer opened.Close()
	for _, part := range opened.Progs {
		if part.Type != elf.PT_INTERP {
			continue
		}
		text, err := io.ReadAll(part.Open())
		if err != nil {
			return nil, "", err
		}
		interpreter = strings.TrimRight(string(text), "\x00")
	}
	libraries, err = opened.ImportedLibraries()
	return libraries, interpreter, err
}
