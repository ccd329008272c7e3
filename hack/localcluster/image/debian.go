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

// downloadPackages fetches packages of the machine's Debian, and all that they need, into a folder. Nothing is installed.
func downloadPackages(ctx context.Context, out io.Writer, folder string, names []string) ([]string, error) {
	if err := os.MkdirAll(filepath.Join(folder, "partial"), 0o755); err != nil {
		return nil, err
	}
	// To apt this looks like a machine on which nothing is installed yet.
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

// AptGet runs apt-get, and once more after an update where it does not find what it is asked for: the lists may be old.
func AptGet(ctx context.Context, out io.Writer, args []string) error {
	if err := runApt(ctx, args); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Fprintln(out, "updating the lists of Debian's packages")
	if err := runApt(ctx, []string{"update", "-q"}); err != nil {
		return err
	}
	return runApt(ctx, args)
}

func runApt(ctx context.Context, args []string) error {
	// Others may be at it on this machine: they are waited for.
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-o", "DPkg::Lock::Timeout=300"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("running %q: %w\n%s", strings.Join(cmd.Args, " "), err, host.EndOf(output.String(), 15))
	}
	return nil
}

// unpack takes the files out of packages, into a folder. No script of a package runs, and only files that are asked for by
// choose are of any consequence, so that their owners do not matter.
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
		io.Copy(io.Discard, content) // what follows the end of the archive
		if err := errors.Join(err, cmd.Wait()); err != nil {
			return nil, fmt.Errorf("unpacking %s: %w %s", filepath.Base(name), err, &failed)
		}
	}
	return files, nil
}

// packagedFiles are the files and links of packages, with their content in a folder.
type packagedFiles layer

// documentation is of no use in an image and half of what many packages are.
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

// mergedPath is where a file is on a system whose /bin, /sbin and /lib are links into /usr. It cannot lead out of the folder.
func mergedPath(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	first, _, _ := strings.Cut(name, "/")
	switch first {
	case "bin", "sbin", "lib", "lib64":
		return "usr/" + name
	}
	return name
}

// choose takes the files that match patterns, and whatever these need to run: what they link to and the libraries that they
// are linked with. In a pattern /** stands for all that is below a folder. One that matches nothing is an error.
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

// needs returns what a file is of no use without.
func (f packagedFiles) needs(name string) ([]string, error) {
	entry := f[name]
	if entry.mode&fs.ModeSymlink != 0 {
		target := entry.target
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(name), target)
		}
		target = mergedPath(target)
		if _, ok := f[target]; !ok {
			return nil, nil // to something that only exists on a system that runs
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

// library finds a library by the name that programs know it by.
func (f packagedFiles) library(name string) (string, error) {
	var found []string
	for candidate := range f {
		if path.Base(candidate) == name && (matches("usr/lib/*/*", candidate) || matches("usr/lib*/*", candidate)) {
			found = append(found, candidate)
		}
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%s, which no package has", name)
	}
	return slices.Min(found), nil
}

// linkedWith reads what a program or library says of itself; a file that is neither says nothing.
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
