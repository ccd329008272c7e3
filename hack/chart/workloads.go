package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

const (
	workloads = "config/default/workloads.yaml"
	heading   = `# What charts/cauri renders with its default values, without what ../crd and ../rbac have. Written by ` + "`make generate`" + `: change the chart.
`
)

// besides are the folders whose objects config/default already includes.
var besides = []string{"config/crd", "config/rbac"}

// helmsOwn matches the lines that mark an object as managed by Helm.
var helmsOwn = regexp.MustCompile(`(?m)^(# Source: .*|\s+helm\.sh/chart: .*|\s+app\.kubernetes\.io/managed-by: Helm)\n`)

// writeWorkloads writes the rendered chart to config/default, for installations without Helm.
func writeWorkloads() error {
	there := map[string]bool{}
	for _, folder := range besides {
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		if err != nil {
			return err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			for _, document := range documents(string(content)) {
				there[identity(document)] = true
			}
		}
	}
	var stderr bytes.Buffer
	helm := exec.Command("bin/helm", "template", "cauri", chart, "--namespace=cauri-system", "--skip-tests")
	helm.Stderr = &stderr
	rendered, err := helm.Output()
	if err != nil {
		return fmt.Errorf("rendering the chart (`make bin/helm` builds Helm): %w\n%s", err, stderr.String())
	}
	out := heading
	for _, document := range documents(string(rendered)) {
		if !there[identity(document)] {
			out += "---\n" + helmsOwn.ReplaceAllString(document, "")
		}
	}
	return os.WriteFile(workloads, []byte(out), 0o644)
}

// documents returns the YAML documents of a file.
func documents(file string) []string {
	var all []string
	for _, document := range regexp.MustCompile(`(?m)^---\n`).Split(file, -1) {
		if identity(document) != "" {
			all = append(all, strings.Trim(document, "\n")+"\n")
		}
	}
	return all
}

// identity returns the identity of the object in a document; "" for no object.
func identity(document string) string {
	var object struct {
		Kind     string `json:"kind"`
		Metadata struct{ Name, Namespace string }
	}
	if err := yaml.Unmarshal([]byte(document), &object); err != nil || object.Metadata.Name == "" {
		return ""
	}
	return object.Kind + " " + object.Metadata.Namespace + "/" + object.Metadata.Name
}
