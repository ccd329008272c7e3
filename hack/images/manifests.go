package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// makeChart packages the chart with the version and the image's repository as defaults.
func (r *release) makeChart(ctx context.Context) error {
	chart := filepath.Join(r.work, "chart", "cauri")
	if err := os.CopyFS(chart, os.DirFS("charts/cauri")); err != nil {
		return err
	}
	values := filepath.Join(chart, "values.yaml")
	text, err := os.ReadFile(values)
	if err != nil {
		return err
	}
	changed, err := withRepository(string(text), r.image)
	if err != nil {
		return err
	}
	if err := os.WriteFile(values, []byte(changed), 0o644); err != nil {
		return err
	}
	_, err = r.output(ctx, r.tools.helm, "package", chart, "--version="+r.number(), "--app-version="+r.number(), "--destination="+r.work)
	if err != nil {
		return err
	}
	packaged, err := os.Open(filepath.Join(r.work, "cauri-"+r.number()+".tgz"))
	if err != nil {
		return err
	}
	defer func() { _ = packaged.Close() }()
	_, err = writeFile(r.chartFile(), func(out io.Writer) error { return repackChart(out, packaged, r.Time) })
	return err
}

func (r *release) chartFile() string { return r.file("cauri-%s.tgz", r.number()) }

// withRepository returns a chart's values.yaml with another default repository.
func withRepository(values string, repository name.Repository) (string, error) {
	const registryLine, repositoryLine = "\n  registry: ghcr.io\n", "\n  repository: cauri-dev/cauri\n"
	for _, line := range []string{registryLine, repositoryLine} {
		if strings.Count(values, line) != 1 {
			return "", fmt.Errorf(
				"values.yaml of the chart has the line %q %d times, want once",
				strings.TrimSpace(line),
				strings.Count(values, line),
			)
		}
	}
	values = strings.Replace(values, registryLine, "\n  registry: "+repository.RegistryStr()+"\n", 1)
	return strings.Replace(values, repositoryLine, "\n  repository: "+repository.RepositoryStr()+"\n", 1), nil
}

// makeManifests writes the default manifests of the chart, and the CRDs alone, for kubectl apply, and the chart's values for CI.
func (r *release) makeManifests(ctx context.Context) error {
	if err := copyFile(r.file("values-ci.yaml"), "charts/cauri/values-ci.yaml"); err != nil {
		return err
	}
	for _, m := range []struct{ folder, file string }{{"config/crd", "crds.yaml"}, {"config/default", "install.yaml"}} {
		kustomization := filepath.Join(r.work, m.file)
		folder, err := filepath.Abs(m.folder)
		if err != nil {
			return err
		}
		base, err := filepath.Rel(kustomization, folder)
		if err != nil {
			return err
		}
		if err := os.Mkdir(kustomization, 0o755); err != nil {
			return err
		}
		text := fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%q]\n"+
			"images: [{name: %s, newName: %s, newTag: %q}]\n", base, publishedRepository, r.image.Name(), r.number())
		if err := os.WriteFile(filepath.Join(kustomization, "kustomization.yaml"), []byte(text), 0o644); err != nil {
			return err
		}
		manifests, err := r.output(ctx, r.tools.kubectl, "kustomize", kustomization)
		if err != nil {
			return err
		}
		if _, err := writeFile(r.file("%s", m.file), func(out io.Writer) error { _, err := out.Write(manifests); return err }); err != nil {
			return err
		}
	}
	return nil
}

// output returns the standard output of a program.
func (r *release) output(ctx context.Context, program string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, program, args...)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", command, err, problems.String())
	}
	return out.Bytes(), nil
}
