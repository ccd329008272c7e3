package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// makePrograms writes the programs for platforms without an image, and their SBOMs. ko also builds these, so that they
// differ from the program in the image only by their platform. Their images are not published.
func (r *release) makePrograms(ctx context.Context) error {
	images := filepath.Join(r.work, "programs")
	build := koBuild{
		source: r.source, program: r.tools.ko, platforms: programPlatforms, cache: filepath.Join(r.work, "programs-cache"), layout: images,
	}
	if err := build.run(ctx); err != nil {
		return err
	}
	index, err := onlyIndex(images)
	if err != nil {
		return err
	}
	return eachImage(index, func(image v1.Image, platform v1.Platform) error {
		program, err := programIn(image)
		if err != nil {
			return err
		}
		name := r.programName(platform)
		sbom, err := programSBOM(name, r.Version, program, r.Time)
		if err != nil {
			return err
		}
		if _, err := writeFile(r.file("%s.spdx.json", name), func(out io.Writer) error { _, err := out.Write(sbom); return err }); err != nil {
			return err
		}
		fmt.Fprintf(r.out, "   %s: program %.1f MiB\n", name, float64(len(program))/(1<<20))
		return r.archiveProgram(program, platform)
	})
}

// eachImage calls a function for each image of an index.
func eachImage(index v1.ImageIndex, do func(v1.Image, v1.Platform) error) error {
	manifest, err := index.IndexManifest()
	if err != nil {
		return err
	}
	for _, entry := range manifest.Manifests {
		image, err := index.Image(entry.Digest)
		if err != nil {
			return err
		}
		if err := do(image, *entry.Platform); err != nil {
			return err
		}
	}
	return nil
}

func (r *release) programName(platform v1.Platform) string {
	return fmt.Sprintf("cauri-%s-%s-%s", r.Version, platform.OS, platform.Architecture)
}

// archiveProgram writes the program of a platform with LICENSE and README: as zip for Windows, as tar.gz for the others.
func (r *release) archiveProgram(program []byte, platform v1.Platform) error {
	name, extension, pack := "cauri", "tar.gz", packFiles
	if platform.OS == "windows" {
		name, extension, pack = "cauri.exe", "zip", zipFiles
	}
	files := []packed{{name, 0o755, program}}
	for _, path := range []string{"LICENSE", "README.md"} {
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files = append(files, packed{path, 0o644, content})
	}
	folder := r.programName(platform)
	_, err := writeFile(r.file("%s.%s", folder, extension), func(out io.Writer) error { return pack(out, folder, files, r.Time) })
	return err
}
