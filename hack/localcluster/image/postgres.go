package image

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// postgresImageMajor is the version in the image's name.
const postgresImageMajor = "15"

//go:embed postgres-entrypoint.sh
var postgresEntrypoint []byte

// The files of the packages that the image needs. {} is the version. Shared libraries are added automatically.
var (
	postgresPackages = []string{"postgresql-{}", "dash", "coreutils", "sed", "libc-bin", "libgcc-s1", "tzdata"}
	postgresContent  = []string{
		"usr/lib/postgresql/{}/bin/*",
		"usr/lib/postgresql/{}/lib/*.so",
		"usr/share/postgresql/{}/**",
		"usr/share/zoneinfo/**", // Debian's Postgres uses the time zones of the system
		"usr/lib/locale/C.utf8/**",
		"usr/bin/dash", "usr/bin/sed", "usr/bin/cat", "usr/bin/chmod", "usr/bin/date", "usr/bin/env", "usr/bin/head", "usr/bin/id", "usr/bin/ls",
		"usr/bin/mkdir", "usr/bin/mv", "usr/bin/rm", "usr/bin/rmdir", "usr/bin/sleep", "usr/bin/sort", "usr/bin/tail", "usr/bin/wc",
		"usr/lib/*/libgcc_s.so.1", // the C library loads it when a thread ends
	}
	// The image leaves out the JIT compiler of queries. It takes 120 MB, and Postgres works without it.
	postgresLeftOut = []string{"usr/lib/postgresql/{}/lib/llvmjit.so", "usr/share/zoneinfo/right/**", "usr/share/zoneinfo/posix/**"}
)

// postgresImageFiles returns the files of the Postgres image that do not come from packages.
func postgresImageFiles() layer {
	link := func(target string) layerEntry { return layerEntry{mode: fs.ModeSymlink | 0o777, target: target} }
	open := layerEntry{mode: fs.ModeDir | fs.ModeSticky | 0o777}
	return layer{
		"bin": link("usr/bin"), "sbin": link("usr/sbin"), "lib": link("usr/lib"), "lib64": link("usr/lib64"), "usr/bin/sh": link("dash"),
		"usr/sbin":            {mode: fs.ModeDir | 0o755},
		"usr/lib64":           {mode: fs.ModeDir | 0o755},
		"tmp":                 open,
		"run/postgresql":      open,
		"var/run":             link("/run"),
		"var/lib/postgresql":  open,
		"etc/passwd":          {mode: 0o644, content: []byte("root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n")},
		"etc/group":           {mode: 0o644, content: []byte("root:x:0:\npostgres:x:999:\n")},
		"entrypoint.sh":       {mode: 0o755, content: postgresEntrypoint},
		"docker-entrypoint.d": {mode: fs.ModeDir | 0o755},
	}
}

// debianPostgresImage returns a Postgres image. It accepts the settings of the official image that the chart needs.
func debianPostgresImage() (keptImage, error) {
	if _, err := os.Stat("/etc/debian_version"); err != nil {
		return keptImage{}, errors.New(
			"the Postgres image needs Debian packages, and this machine does not run Debian: run `make kind`, which needs Docker",
		)
	}
	release, err := os.ReadFile("/etc/debian_version")
	if err != nil {
		return keptImage{}, fmt.Errorf("reading the Debian version: %w", err)
	}
	described := image{
		name: postgresImage, architecture: runtime.GOARCH, entrypoint: []string{"/entrypoint.sh"}, command: []string{"postgres"},
		user: "999:999", workdir: "/", stopSignal: "SIGINT", // fast shutdown; SIGTERM would wait for clients
		env: []string{"PATH=/usr/lib/postgresql/" + postgresImageMajor + "/bin:/usr/bin", "PGDATA=/var/lib/postgresql/data"},
	}
	return keptImage{
		file: "postgres.tar",
		key: fmt.Sprintf(
			"%s %s %+v %q %q %q %+v",
			release,
			runtime.GOARCH,
			described,
			postgresPackages,
			postgresContent,
			postgresLeftOut,
			postgresImageFiles(),
		),
		make: func(ctx context.Context, out io.Writer, archive string) error {
			return makePostgresImage(ctx, out, described, archive)
		},
	}, nil
}

func makePostgresImage(ctx context.Context, out io.Writer, described image, archive string) error {
	scratch, err := os.MkdirTemp("", "cauri-postgres-image-")
	if err != nil {
		return fmt.Errorf("creating a folder for the Postgres image: %w", err)
	}
	defer os.RemoveAll(scratch)
	packages, err := downloadPackages(ctx, out, filepath.Join(scratch, "packages"), ofMajor(postgresPackages))
	if err != nil {
		return fmt.Errorf("downloading the Postgres packages: %w", err)
	}
	files, err := unpack(ctx, packages, filepath.Join(scratch, "files"))
	if err != nil {
		return err
	}
	chosen, err := files.choose(ofMajor(postgresContent), ofMajor(postgresLeftOut))
	if err != nil {
		return fmt.Errorf("choosing the files of the Postgres image: %w", err)
	}
	for name, entry := range postgresImageFiles() {
		chosen[name] = entry
	}
	return described.buildFrom(archive, nil, chosen)
}

func ofMajor(patterns []string) []string {
	var filled []string
	for _, pattern := range patterns {
		filled = append(filled, strings.ReplaceAll(pattern, "{}", postgresImageMajor))
	}
	return filled
}
