// Package download fetches the published programs of other projects, checks them against pinned sums, and keeps them in
// the user's cache.
package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// File is a published file.
type File struct {
	URL      string   // without its scheme: dl.k8s.io/release/v1.36.1/bin/linux/amd64/kubectl
	Sum      string   // SHA-256 or SHA-512 in hexadecimal
	Programs []string // programs to extract from an archive; empty: the file itself is a program
}

// Set is the programs of some files, in one folder of the cache.
type Set struct {
	Name     string // name of the folder, with a version
	What     string // description for users
	Folder   string
	files    []File
	settings Settings
	fetcher  func(io.Writer) fetcher
}

// spaceForSet is the space of the files and of the programs, in bytes.
const spaceForSet = 700 * host.Mebibyte

// manifest is the name of the file with the sums of a set's programs.
const manifest = "SHA256SUMS"

// NewSet returns a set with the pinned sums of the files. known is false if a file has no sum.
func NewSet(name, what string, files []File, pinned string, settings Settings) (set Set, known bool, err error) {
	sums, err := settings.chooseSums(pinned)
	if err != nil {
		return Set{}, false, err
	}
	key := sha256.New()
	for i := range files {
		if files[i].Sum = sums[files[i].URL]; files[i].Sum == "" {
			return Set{}, false, nil
		}
		fmt.Fprintln(key, files[i])
	}
	cache, err := host.CacheFolder()
	if err != nil {
		return Set{}, false, err
	}
	return Set{
		Name: name, What: what, Folder: filepath.Join(cache, name+"-"+hex.EncodeToString(key.Sum(nil))[:12]),
		files: files, settings: settings, fetcher: func(out io.Writer) fetcher { return newFetcher(settings, out) },
	}, len(files) > 0, nil
}

// Kept reports whether all programs are in the cache and undamaged. It prints the names of damaged programs.
func (s Set) Kept(out io.Writer) bool {
	content, err := os.ReadFile(filepath.Join(s.Folder, manifest))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(content)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		got, err := sumOf(filepath.Join(s.Folder, name), want)
		if err != nil || got != want {
			fmt.Fprintf(out, "%s is damaged: downloading it again\n", filepath.Join(s.Folder, name))
			return false
		}
	}
	return host.MarkUsed(s.Folder) == nil
}

// Ensure downloads the programs if they are not in the cache. The caller must report a [WrongSum]. After any other
// error, it may get the programs from another source.
func (s Set) Ensure(ctx context.Context, out io.Writer) error {
	cache := filepath.Dir(s.Folder)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return fmt.Errorf("creating the folder of downloads: %w", err)
	}
	unlock, err := host.LockFile(filepath.Join(cache, "download.lock"), func() {
		fmt.Fprintf(out, "waiting for another localcluster that downloads %s\n", s.What)
	})
	if err != nil {
		return err
	}
	defer unlock()
	if s.Kept(io.Discard) { // another process downloaded the set
		return nil
	}
	if err := host.CheckSpace(cache, spaceForSet, s.What, "free some, or set XDG_CACHE_HOME to a folder with more"); err != nil {
		return err
	}
	fmt.Fprintf(out, "downloading %s from %s\n%s", s.What, s.from(), s.settings.warning())
	begun := time.Now()
	if err := s.download(ctx, out); err != nil {
		return err
	}
	fmt.Fprintf(out, "  downloaded and checked in %.1f s, kept in %s\n", time.Since(begun).Seconds(), s.Folder)
	return host.RemoveUnused(cache, strings.TrimRight(s.Name, "0123456789.")+"*", time.Now())
}

// from returns the names of the servers.
func (s Set) from() string {
	if s.settings.mirror != "" {
		return shown(s.settings.mirror)
	}
	var hosts []string
	for _, file := range s.files {
		if name, _, _ := strings.Cut(file.URL, "/"); len(hosts) == 0 || hosts[len(hosts)-1] != name {
			hosts = append(hosts, name)
		}
	}
	return strings.Join(hosts, " and ")
}

// download downloads the programs, and creates the folder when all are complete. After an interruption, the next
// attempt resumes.
func (s Set) download(ctx context.Context, out io.Writer) error {
	partial := s.Folder + ".partial"
	if err := os.MkdirAll(partial, 0o755); err != nil {
		return fmt.Errorf("creating the folder of downloads: %w", err)
	}
	fetcher := s.fetcher(out)
	var sums strings.Builder
	for _, file := range s.files {
		if err := s.obtain(ctx, fetcher, file, partial, &sums); err != nil {
			return fmt.Errorf("downloading %s: %w", path.Base(file.URL), err)
		}
	}
	for _, file := range s.files {
		if len(file.Programs) > 0 {
			os.Remove(filepath.Join(partial, path.Base(file.URL)))
		}
	}
	if err := writeProgram(filepath.Join(partial, manifest), strings.NewReader(sums.String())); err != nil {
		return fmt.Errorf("saving the download: %w", err)
	}
	if err := os.RemoveAll(s.Folder); err != nil { // it may exist with damaged programs
		return fmt.Errorf("removing a damaged download: %w", err)
	}
	if err := os.Rename(partial, s.Folder); err != nil {
		return fmt.Errorf("saving the download: %w", err)
	}
	return nil
}

// obtain downloads a file, unless an earlier attempt did, and adds its programs to the manifest.
func (s Set) obtain(ctx context.Context, fetcher fetcher, file File, folder string, sums *strings.Builder) error {
	fetched := filepath.Join(folder, path.Base(file.URL))
	sum, err := sumOf(fetched, file.Sum)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if sum != file.Sum {
		if err := fetcher.fetch(ctx, file, fetched); err != nil {
			return err
		}
	}
	programs := file.Programs
	if len(programs) == 0 {
		programs = []string{path.Base(file.URL)}
		err = os.Chmod(fetched, 0o755)
	} else {
		err = unpack(fetched, folder, programs, fetcher.most)
	}
	if err != nil {
		return err
	}
	for _, program := range programs {
		sum, err := sumOf(filepath.Join(folder, program), strings.Repeat("00", sha256.Size))
		if err != nil {
			return err
		}
		fmt.Fprintf(sums, "%s  %s\n", sum, program)
	}
	return nil
}
