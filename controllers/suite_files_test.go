package controllers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cauri-dev/cauri/controllers"
)

// readFiles are the objects in YAML files and folders of them, without those that are for kustomize or that it builds.
func readFiles(paths ...string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, path := range paths {
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if entry.IsDir() {
				if _, err := os.Stat(filepath.Join(file, "kustomization.yaml")); err == nil && file != path {
					return fs.SkipDir // kustomize's to build
				}
				return nil
			}
			found, err := readFile(file)
			objects = append(objects, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return objects, nil
}

func readFile(path string) ([]*unstructured.Unstructured, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		obj := &unstructured.Unstructured{}
		switch err := decoder.Decode(&obj.Object); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		case len(obj.Object) > 0 && !strings.HasPrefix(obj.GetAPIVersion(), "kustomize."):
			objects = append(objects, obj)
		}
	}
}

// applyFiles makes the objects in files.
func applyFiles(config *rest.Config, paths ...string) error {
	direct, err := client.New(config, client.Options{Scheme: controllers.Scheme})
	if err != nil {
		return err
	}
	objects, err := readFiles(paths...)
	if err != nil {
		return err
	}
	for _, obj := range objects {
		if err := direct.Create(context.Background(), obj); err != nil {
			return fmt.Errorf("making the %s %s: %w", obj.GetKind(), obj.GetName(), err)
		}
	}
	return nil
}
