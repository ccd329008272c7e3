// Package chart holds charts/cauri and config/default to what Cauri's own program, the Kubernetes API and a careful reader of the
// rendered objects expect.
package chart

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

const (
	root      = "../.."
	chart     = root + "/charts/cauri"
	release   = "cauri"
	namespace = "cauri-system"
)

var update = flag.Bool("update", false, "write testdata/rendered again")

// helm runs bin/helm and returns what it printed.
func helm(t *testing.T, args ...string) (stdout string, err error) {
	t.Helper()
	program := root + "/bin/helm"
	if _, err := os.Stat(program); err != nil {
		t.Fatal("there is no bin/helm: run `make bin/helm`, or `make test`")
	}
	home := t.TempDir()
	var out, problems bytes.Buffer
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home, "KUBECONFIG=/dev/null")
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("helm %s: %w\n%s", strings.Join(args, " "), err, problems.String())
	}
	return out.String(), nil
}

var rendered sync.Map // what template returns, by its arguments

// template renders the chart, once for the same arguments.
func template(t *testing.T, args ...string) (string, error) {
	t.Helper()
	once, _ := rendered.LoadOrStore(strings.Join(args, "\n"), sync.OnceValues(func() (string, error) {
		return helm(t, append([]string{"template", release, chart, "--namespace=" + namespace}, args...)...)
	}))
	return once.(func() (string, error))()
}

// objects are what the chart renders. The CRDs are left out unless an argument says otherwise.
func objects(t *testing.T, args ...string) []*unstructured.Unstructured {
	t.Helper()
	rendered, err := template(t, append([]string{"--set=crds.enabled=false"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, rendered)
}

func parse(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if len(object.Object) > 0 {
			all = append(all, object)
		}
	}
}

// scenarios are the files in testdata/values and the chart's own values-ci.yaml, by their names.
func scenarios(t *testing.T) map[string]string {
	t.Helper()
	all := valuesIn(t, "testdata/values/*.yaml")
	all["values-ci"] = "--values=" + chart + "/values-ci.yaml"
	return all
}

// valuesIn are the files of a pattern, by their names.
func valuesIn(t *testing.T, pattern string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no values %s: %v", pattern, err)
	}
	all := map[string]string{}
	for _, file := range files {
		all[strings.TrimSuffix(filepath.Base(file), ".yaml")] = "--values=" + file
	}
	return all
}

// everywhere runs a check on what each of the scenarios, and each of examples/values, renders.
func everywhere(t *testing.T, check func(t *testing.T, all []*unstructured.Unstructured)) {
	t.Helper()
	for _, files := range []map[string]string{scenarios(t), valuesIn(t, root+"/examples/values/*.yaml")} {
		for name, values := range files {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				check(t, objects(t, values))
			})
		}
	}
}

func TestRenderedAsBefore(t *testing.T) {
	t.Parallel()
	for name, values := range scenarios(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := template(t, "--set=crds.enabled=false", values)
			if err != nil {
				t.Fatal(err)
			}
			file := "testdata/rendered/" + name + ".yaml"
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("the chart renders something else now. If that is meant: go test ./test/chart -update, and read the difference\n%s", diff)
			}
		})
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	for name, values := range scenarios(t) {
		if out, err := helm(t, "lint", "--strict", chart, values); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// as decodes an object into a type of Kubernetes.
func as[T any](t *testing.T, object *unstructured.Unstructured) *T {
	t.Helper()
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, typed); err != nil {
		t.Fatalf("%s: %v", nameOf(object), err)
	}
	return typed
}

// all are the objects of a kind, in its type.
func all[T any](t *testing.T, objects []*unstructured.Unstructured, kind string) []*T {
	t.Helper()
	var found []*T
	for _, object := range objects {
		if object.GetKind() == kind {
			found = append(found, as[T](t, object))
		}
	}
	return found
}

func nameOf(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}

// podTemplate is a pod that something rendered leads to.
type podTemplate struct {
	of string // the object that has it
	metav1.ObjectMeta
	corev1.PodSpec
}

func pods(t *testing.T, objects []*unstructured.Unstructured) []podTemplate {
	t.Helper()
	var found []podTemplate
	add := func(object *unstructured.Unstructured, template corev1.PodTemplateSpec) {
		template.Namespace = object.GetNamespace()
		found = append(found, podTemplate{nameOf(object), template.ObjectMeta, template.Spec})
	}
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment":
			add(object, as[appsv1.Deployment](t, object).Spec.Template)
		case "StatefulSet":
			add(object, as[appsv1.StatefulSet](t, object).Spec.Template)
		case "Job":
			add(object, as[batchv1.Job](t, object).Spec.Template)
		case "Pod":
			pod := as[corev1.Pod](t, object)
			add(object, corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec})
		}
	}
	if len(found) < 5 {
		t.Fatalf("only %d pods were found", len(found))
	}
	return found
}

func (p podTemplate) component() string { return p.Labels["app.kubernetes.io/component"] }

// ports of the containers, by their names.
func (p podTemplate) ports() map[string]int32 {
	named := map[string]int32{}
	for _, container := range p.Containers {
		for _, port := range container.Ports {
			named[port.Name] = port.ContainerPort
		}
	}
	return named
}
