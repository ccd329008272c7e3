package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/spf13/cobra"
	"golang.org/x/mod/semver"
)

// release describes the files of one version in a folder.
type release struct {
	source
	trial bool // whether HEAD has no tag of this version
	notes string
	// image is the repository in the manifests and the chart, to which publish pushes images.
	image name.Repository
	tools tools
	dist  string
	work  string // absolute path of a folder for intermediate files
	out   io.Writer
}

// programLimit is the maximum size in bytes of the program, and of the unpacked image, which contains nothing else. The
// program would be a quarter larger if it executed templates (see hack/apipage).
const programLimit = 64 << 20

// tools are the programs that a release needs.
type tools struct{ ko, helm, kubectl string }

func newReleaseCommand() *cobra.Command {
	var version, repository string
	r := release{}
	cmd := &cobra.Command{
		Use:   "release",
		Short: "Make all files of a release: programs, images, chart, manifests, SBOMs, checksums, notes",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r.out = cmd.OutOrStdout()
			if err := r.prepare(cmd.Context(), version, repository); err != nil {
				return err
			}
			return r.make(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&version, "version", "", "v1.2.3; by default the tag of HEAD. v1.2.3-anything makes a trial release without a tag")
	flags.StringVar(&repository, "image-repository", publishedRepository, "the repository of the image in the chart and install.yaml")
	flags.StringVar(&r.tools.ko, "ko", "bin/ko", "the program ko")
	flags.StringVar(&r.tools.helm, "helm", "bin/helm", "the program helm")
	flags.StringVar(&r.tools.kubectl, "kubectl", "kubectl", "the program kubectl")
	flags.StringVar(&r.dist, "dist", "dist", "the folder for the files; its old content is removed")
	return cmd
}

// prepare sets the version and the source of the release. It returns an error for an invalid state.
func (r *release) prepare(ctx context.Context, version, repository string) error {
	var err error
	if r.source, err = readSource(ctx, ".", version); err != nil {
		return err
	}
	tags, err := git(ctx, ".", "tag", "--points-at", "HEAD", "--list", "v*")
	if err != nil {
		return err
	}
	if r.Version, r.trial, err = chooseVersion(version, strings.Fields(tags)); err != nil {
		return err
	}
	if r.Modified && !r.trial {
		return errors.New("there are changes that are not committed (`git status` lists them): a release must match its tag, " +
			"so commit or remove them")
	}
	if r.image, err = name.NewRepository(repository); err != nil {
		return fmt.Errorf("the image's repository: %w", err)
	}
	text, err := os.ReadFile(changelogPath)
	if err != nil {
		return err
	}
	versions, err := readChangelog(string(text))
	if err != nil {
		return err
	}
	if r.notes, err = notesOf(versions, r.number()); err != nil && r.trial {
		r.notes, err = versions[0].Text, nil
	}
	return err
}

// chooseVersion returns the version to release and whether it is a trial. tags are the tags of HEAD.
func chooseVersion(asked string, tags []string) (version string, trial bool, err error) {
	tagged := ""
	for _, tag := range tags {
		if isVersion(tag) && (tagged == "" || semver.Compare(tag, tagged) > 0) {
			tagged = tag
		}
		if tag == asked && isVersion(tag) {
			return tag, false, nil
		}
	}
	switch {
	case asked == "" && tagged != "":
		return tagged, false, nil
	case asked == "":
		return "", false, errors.New("HEAD has no tag with a version: tag it (`git tag -a v1.2.3 -m v1.2.3`), " +
			"or try with `make release VERSION=v1.2.3-test`")
	case !isVersion(asked):
		return "", false, fmt.Errorf("VERSION=%s: write v1.2.3 or v1.2.3-test", asked)
	case semver.Prerelease(asked) == "":
		return "", false, fmt.Errorf("HEAD does not have the tag %s: tag it (`git tag -a %s -m %s`), or try with `make release VERSION=%s-test`",
			asked, asked, asked, asked)
	}
	return asked, true, nil
}

// isVersion reports whether a text is a version. It refuses build metadata (v1.2.3+x), which an image tag cannot have.
func isVersion(text string) bool { return semver.IsValid(text) && semver.Canonical(text) == text }

// number returns the version as in charts and image tags.
func (r *release) number() string { return strings.TrimPrefix(r.Version, "v") }

func (r *release) make(ctx context.Context) error {
	if r.trial {
		fmt.Fprintf(r.out, "THIS IS NOT A RELEASE: HEAD has no tag %s. The files are for testing, from %s.\n", r.Version, r.Revision())
	}
	if err := os.RemoveAll(r.dist); err != nil {
		return err
	}
	if err := os.MkdirAll(r.dist, 0o755); err != nil {
		return err
	}
	// The folder is in the checkout, because kustomize reads only relative paths below the folder of a kustomization.
	work, err := os.MkdirTemp(r.dist, ".work-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if r.work, err = filepath.Abs(work); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"images and their programs", r.makeImages}, {"programs for other systems", r.makePrograms},
		{"chart", r.makeChart}, {"manifests", r.makeManifests}, {"plugin of kubectl", func(context.Context) error { return r.makePlugin() }},
		{"notes", r.makeNotes},
	} {
		fmt.Fprintf(r.out, "== %s\n", step.name)
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	if err := os.RemoveAll(work); err != nil {
		return err
	}
	return r.makeChecksums()
}

// file returns the path of a file of the release.
func (r *release) file(format string, args ...any) string {
	return filepath.Join(r.dist, fmt.Sprintf(format, args...))
}

// makeImages writes the image for all platforms and its products: an archive for each platform, the programs, the
// SBOMs.
func (r *release) makeImages(ctx context.Context) error {
	images, sboms := filepath.Join(r.work, "layout"), filepath.Join(r.work, "sboms")
	build := koBuild{
		source: r.source, program: r.tools.ko, platforms: platforms,
		cache: filepath.Join(r.work, "cache"), layout: images, sboms: sboms,
	}
	if err := build.run(ctx); err != nil {
		return err
	}
	index, err := onlyIndex(images)
	if err != nil {
		return err
	}
	if err := eachImage(index, r.makePlatform); err != nil {
		return err
	}
	for _, of := range []string{"index", "linux-amd64", "linux-arm64"} {
		if err := copyFile(r.file("cauri-%s-%s.spdx.json", r.Version, of), filepath.Join(sboms, "cauri-"+of+".spdx.json")); err != nil {
			return err
		}
	}
	if err := nameIndex(images, r.number()); err != nil {
		return err
	}
	_, err = writeFile(r.layoutFile(), func(out io.Writer) error { return packFolder(out, images, r.Time) })
	return err
}

// layoutFile returns the path of the image for all platforms.
func (r *release) layoutFile() string { return r.file("cauri-%s-image.tar", r.Version) }

// onlyIndex reads the only index of a layout.
func onlyIndex(folder string) (v1.ImageIndex, error) {
	all, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, err
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 || !manifest.Manifests[0].MediaType.IsIndex() {
		return nil, fmt.Errorf("%s holds %d entries, want one index", folder, len(manifest.Manifests))
	}
	return all.ImageIndex(manifest.Manifests[0].Digest)
}

// nameIndex adds the tag to the only index of a layout, for programs that need it.
func nameIndex(folder, tag string) error {
	index, err := onlyIndex(folder)
	if err != nil {
		return err
	}
	path, err := layout.FromPath(folder)
	if err != nil {
		return err
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	named := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag})
	return path.ReplaceIndex(index, func(d v1.Descriptor) bool { return d.Digest == digest }, named)
}

// makePlatform writes the archive of one platform's image, and the archive of its program.
func (r *release) makePlatform(image v1.Image, platform v1.Platform) error {
	name := platform.OS + "-" + platform.Architecture
	size, err := writeArchive(r.file("cauri-%s-image-%s.tar", r.Version, name), imageRepository+":"+r.number(), image)
	if err != nil {
		return err
	}
	program, err := smallProgramIn(image, programLimit)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	fmt.Fprintf(r.out, "   %s: image %.1f MiB compressed, program %.1f MiB\n", name, float64(size)/(1<<20), float64(len(program))/(1<<20))
	return r.archiveProgram(program, platform)
}

// smallProgramIn returns the program in an image. It returns an error if the program has more bytes than the limit.
func smallProgramIn(image v1.Image, limit int) ([]byte, error) {
	program, err := programIn(image)
	if err == nil && len(program) > limit {
		err = fmt.Errorf("the program has %d bytes, the limit is %d: find large symbols with `go tool nm -size`", len(program), limit)
	}
	return program, err
}

// makeNotes writes the changes of the version and how to install it.
func (r *release) makeNotes(context.Context) error {
	title := "# Cauri " + r.Version + "\n\n"
	if r.trial {
		title += "**This is not a release.** It was built for testing, from " + r.Revision() + ".\n\n"
	}
	_, err := writeFile(r.file("release-notes.md"), func(out io.Writer) error {
		_, err := io.WriteString(out, title+cmp.Or(r.notes, "The changelog has no entry.")+"\n")
		return err
	})
	return err
}
