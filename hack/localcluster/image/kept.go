package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/source"
)

// Disk space in bytes, measured for a first build: compiled packages, source, and temporary files of the linker.
const (
	spaceForCoreDNS = 2000 * host.Mebibyte
	spaceForProgram = 200 * host.Mebibyte
)

// Names of the images that localcluster builds. The host does not exist, so nothing is ever pulled.
const (
	Pause         = "cauri.local/pause:1"
	CoreDNS       = "cauri.local/coredns:1"
	postgresImage = "cauri.local/postgres:15"
)

// keptImage is an image in the user's cache. It is built once for each state of its sources.
type keptImage struct {
	file string // name of the archive
	key  string // identifies the content of the image
	make func(ctx context.Context, out io.Writer, archive string) error
}

// ensure returns the path of the archive. It builds the archive if necessary.
func (i keptImage) ensure(ctx context.Context, out io.Writer) (archive string, err error) {
	cache, err := host.CacheFolder()
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256([]byte(i.key))
	folder := filepath.Join(cache, "image-"+hex.EncodeToString(hash[:6]))
	archive = filepath.Join(folder, i.file)
	if _, err := os.Stat(archive); err == nil {
		return archive, host.MarkUsed(folder)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("creating the image folder: %w", err)
	}
	unlock, err := host.LockFile(filepath.Join(cache, "image.lock"), func() {
		fmt.Fprintln(out, "waiting for another localcluster that builds images")
	})
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(archive); err == nil { // another process built it
		return archive, nil
	}
	begun := time.Now()
	if err := i.make(ctx, out, archive); err != nil {
		return "", err
	}
	fmt.Fprintf(out, "built the image %s (%.1f s)\n", i.file, time.Since(begun).Seconds())
	return archive, host.RemoveUnused(cache, "image-*", time.Now())
}

// programImage returns the image of one program, built from source.
func programImage(build source.Build, described image) keptImage {
	path := "/" + build.Name
	described.architecture, described.entrypoint = runtime.GOARCH, []string{path}
	return keptImage{
		file: build.Name + ".tar",
		key:  fmt.Sprintf("%s %+v", filepath.Base(build.Folder), described),
		make: func(ctx context.Context, out io.Writer, archive string) error {
			if err := build.Ensure(ctx, out); err != nil {
				return err
			}
			files := layer{}
			if err := files.add(build.Program(), path); err != nil {
				return fmt.Errorf("adding %s to an image: %w", build.Name, err)
			}
			return described.buildFrom(archive, nil, files)
		},
	}
}

// nodeImages returns the images that every node needs: the first process of every pod, and the DNS server.
func nodeImages() ([]keptImage, error) {
	pause, err := source.Build{
		Name:  "pause",
		What:  "the first process of every pod",
		Cost:  "seconds",
		Space: spaceForProgram,
	}.Find(
		"pause",
		"",
	)
	if err != nil {
		return nil, err
	}
	coredns, err := source.Build{
		Name:  "coredns",
		Cost:  "2 to 4 minutes on two cores and 2 GB of disk, most of it in Go's caches",
		Space: spaceForCoreDNS,
	}.
		Find(
			"coredns",
			"github.com/coredns/coredns",
		)
	if err != nil {
		return nil, err
	}
	coredns.What = "CoreDNS " + coredns.Version
	return []keptImage{
		programImage(pause, image{name: Pause, user: "65535:65535"}),
		programImage(coredns, image{name: CoreDNS, user: "65532:65532"}),
	}, nil
}

// EnsureNodeImages returns the archives of the images that every node needs.
func EnsureNodeImages(ctx context.Context, out io.Writer) ([]string, error) {
	images, err := nodeImages()
	if err != nil {
		return nil, err
	}
	var archives []string
	for _, image := range images {
		archive, err := image.ensure(ctx, out)
		if err != nil {
			return nil, err
		}
		archives = append(archives, archive)
	}
	return archives, nil
}

// placeImage puts an archive of the cache into a folder, as a hard link if possible.
func placeImage(archive, folder string) error {
	place := filepath.Join(folder, filepath.Base(archive))
	if sameFile(archive, place) {
		return nil
	}
	partial := place + ".partial"
	if err := errors.Join(os.MkdirAll(folder, 0o755), os.RemoveAll(partial)); err != nil {
		return fmt.Errorf("copying an image from the cache: %w", err)
	}
	if os.Link(archive, partial) != nil { // a different file system
		if err := copyFile(archive, partial); err != nil {
			return fmt.Errorf("copying an image from the cache: %w", err)
		}
	}
	if err := os.Rename(partial, place); err != nil {
		return fmt.Errorf("copying an image from the cache: %w", err)
	}
	return nil
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

func copyFile(source, destination string) error {
	from, err := os.Open(source)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create(destination)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
