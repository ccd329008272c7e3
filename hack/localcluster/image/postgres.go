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

// postgresImageMajor is the version that the image's name promises.
const postgresImageMajor = "15"

//go:embed postgres-entrypoint.sh
var postgresEntrypoint []byte

// What of the packages goes into the image; {} is the version. The libraries follow from it.
var (
	postgresPackages = []string{"postgresql-{}", "dash", "coreutils", "sed", "libc-bin", "libgcc-s1", "tzdata"}
	postgresContent  = []string{
		"usr/lib/postgresql/{}/bin/*",
		"usr/lib/postgresql/{}/lib/*.so",
		"usr/share/postgresql/{}/**",
		"usr/share/zoneinfo/**", // Debian's Postgres has none of its own
		"usr/lib/locale/C.utf8/**",
		"usr/bin/dash", "usr/bin/sed", "usr/bin/cat", "usr/bin/chmod", "usr/bin/date", "usr/bin/env", "usr/bin/head", "usr/bin/id", "usr/bin/ls",
		"usr/bin/mkdir", "usr/bin/mv", "usr/bin/rm", "usr/bin/rmdir", "usr/bin/sleep", "usr/bin/sort", "usr/bin/tail", "usr/bin/wc",
		"usr/lib/*/libgcc_s.so.1", // opened by the C library when a thread ends
	}
	// The compiler of queries is 120 MB, and Postgres does without it.
	postgresLeftOut = []string{"usr/lib/postgresql/{}/lib/llvmjit.so", "usr/share/zoneinfo/right/**", "usr/share/zoneinfo/posix/**"}
)

// postgresImageFiles is what an image of Postgres has beside the files of packages.
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

// debianPostgresImage is a Postgres image that takes what the official one takes, as far as the chart needs it.
func debianPostgresImage() (keptImage, error) {
	if _, err := os.Stat("/etc/debian_version"); err != nil {
		return keptImage{}, errors.New(
			"the image of Postgres is made from the packages of Debian, and this is no Debian: run `make kind`, which needs Docker",
		)
	}
	release, err := os.ReadFile("/etc/debian_version")
	if err != nil {
		return keptImage{}, fmt.Errorf("reading the version of Debian: %w", err)
	}
	described := image{
		name: postgresImage, architecture: runtime.GOARCH, entrypoint: []string{"/entrypoint.sh"}, command: []string{"postgres"},
		user: "999:999", workdir: "/", stopSignal: "SIGINT", // the fast shutdown; SIGTERM would wait for clients to go
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
		return fmt.Errorf("making a folder for the image of Postgres: %w", err)
	}
	defer os.RemoveAll(scratch)
	packages, err := downloadPackages(ctx, out, filepath.Join(scratch, "packages"), ofMajor(postgresPackages))
	if err != nil {
		return fmt.Errorf("fetching the packages of Postgres: %w", err)
	}
	files, err := unpack(ctx, packages, filepath.Join(scratch, "files"))
	if err != nil {
		return err
	}
	chosen, err := files.choose(ofMajor(postgresContent), ofMajor(postgresLeftOut))
	if err != nil {
		return fmt.Errorf("choosing the files of the image of Postgres: %w", err)
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
