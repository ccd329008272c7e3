package localapi

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	v1alpha1 "github.com/cauri-dev/cauri/api/v1alpha1"
	"github.com/cauri-dev/cauri/server/textfile"
)

// Manifests are the resources in a set of files, in the order of the files.
type Manifests struct {
	// Ignored has a line for each ignored resource of another kind, such as a Namespace.
	Ignored []string

	resources []manifest
	paths     []string
	digest    [sha256.Size]byte // digest of the files
}

// manifest is a resource with its source.
type manifest struct {
	object *unstructured.Unstructured
	source string // for example "shop.yaml, document 2"
}

func (m manifest) String() string {
	return fmt.Sprintf("%s %s/%s", m.object.GetKind(), m.object.GetNamespace(), m.object.GetName())
}

// Sandboxes returns the names of the sandboxes, in the order of the files.
func (m Manifests) Sandboxes() (all []types.NamespacedName) {
	for _, r := range m.resources {
		if r.object.GetKind() == "SandboxEnvironment" {
			all = append(all, types.NamespacedName{Namespace: r.object.GetNamespace(), Name: r.object.GetName()})
		}
	}
	return all
}

// extensions are the extensions of the files that Read reads in a folder.
var extensions = []string{".json", ".yaml", ".yml"}

// Read reads manifests as `kubectl apply -f` does: YAML or JSON, files with several documents, and Lists. In a folder,
// it reads the files with the extensions .yaml, .yml and .json, but no subfolders. The default namespace is "default".
// Read returns all errors joined, each with its file and document. It returns an error if the files have no manifest.
func Read(paths ...string) (Manifests, error) {
	all := Manifests{paths: paths, digest: digestOf(paths)}
	files, err := filesOf(paths)
	if err != nil {
		return all, err
	}
	var problems []error
	for _, file := range files {
		text, err := textfile.Read(file)
		if err != nil {
			return all, err
		}
		problems = append(problems, all.add(file, text))
	}
	problems = append(problems, all.checkTwice())
	if err := errors.Join(problems...); err != nil {
		return Manifests{}, err
	}
	if len(all.resources) == 0 {
		return all, fmt.Errorf("no SandboxEnvironment is in %q: write one, or leave the files out for a sample", paths)
	}
	return all, nil
}

// Parse returns the manifests in the text of a file, like [Read].
func Parse(file string, text []byte) (Manifests, error) {
	var all Manifests
	err := errors.Join(all.add(file, text), all.checkTwice())
	return all, err
}

// SetDefaults sets these fields in the specs of sandboxes that do not have them.
func (m Manifests) SetDefaults(fields map[string]any) {
	for _, r := range m.resources {
		spec, isMap := r.object.Object["spec"].(map[string]any)
		if r.object.GetKind() != sandboxKind || !isMap {
			continue
		}
		for name, value := range fields {
			if _, set := spec[name]; !set {
				spec[name] = runtime.DeepCopyJSONValue(value)
			}
		}
	}
}

// filesOf returns the files in the order of paths. The files of a folder are sorted by name.
func filesOf(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if !entry.IsDir() && slices.Contains(extensions, filepath.Ext(entry.Name())) {
				files = append(files, filepath.Join(path, entry.Name()))
			}
		}
	}
	return files, nil
}

// add reads the documents of a file.
func (m *Manifests) add(file string, text []byte) error {
	var problems []error
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return errors.Join(problems...)
		}
		source := fmt.Sprintf("%s, document %d", file, n)
		if err == nil {
			err = m.addDocument(source, document)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", source, err))
		}
	}
}

func (m *Manifests) addDocument(source string, document []byte) error {
	text, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return noYAML(err)
	}
	var content any
	if err := json.Unmarshal(text, &content); err != nil {
		return err
	}
	switch content := content.(type) {
	case nil: // comments only
		return nil
	case map[string]any:
		return m.addObject(source, &unstructured.Unstructured{Object: content})
	default:
		return errors.New("is not a resource: write apiVersion, kind, metadata and spec")
	}
}

// noYAML returns the error for a document that is not valid YAML, with the line and a hint. The line number is that of
// the document, not of the file.
func noYAML(err error) error {
	said := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  ")
	advice := "check the indentation there and above, and put a string with a colon or # in quotation marks"
	switch {
	case strings.Contains(said, "cannot start any token"):
		advice = "indent by spaces in place of tabs, and put a string that begins with @, %, ` or | in quotation marks"
	case strings.Contains(said, "already set in map"):
		advice = "write each field once"
	}
	return fmt.Errorf("is not valid YAML: %s: %s", said, advice)
}

func (m *Manifests) addObject(source string, obj *unstructured.Unstructured) error {
	if obj.GetKind() == "" || obj.GetAPIVersion() == "" {
		return errors.New("has no kind or no apiVersion: write, for example, apiVersion: cauri.dev/v1alpha1 and kind: SandboxEnvironment")
	}
	if obj.IsList() {
		items, _ := obj.Object["items"].([]any)
		var problems []error
		for i, item := range items {
			content, ok := item.(map[string]any)
			if !ok {
				problems = append(problems, fmt.Errorf("item %d is not a resource", i+1))
				continue
			}
			if err := m.addObject(fmt.Sprintf("%s, item %d", source, i+1), &unstructured.Unstructured{Object: content}); err != nil {
				problems = append(problems, fmt.Errorf("item %d: %w", i+1, err))
			}
		}
		return errors.Join(problems...)
	}
	switch kind := obj.GroupVersionKind(); {
	case kind == corev1.SchemeGroupVersion.WithKind(secretKind):
	case kind.GroupVersion() == v1alpha1.GroupVersion && slices.Contains(ourKinds, kind.Kind):
	case kind.Group == v1alpha1.GroupVersion.Group:
		return fmt.Errorf("there is no kind %s in %s: write SandboxEnvironment, TestClient or Expectation, and apiVersion: %s",
			kind.Kind, kind.GroupVersion(), v1alpha1.GroupVersion)
	default:
		m.Ignored = append(m.Ignored, fmt.Sprintf("%s: the %s %q is ignored: only SandboxEnvironment, TestClient, Expectation and Secret are used here",
			source, kind.Kind, obj.GetName()))
		return nil
	}
	obj.SetNamespace(cmp.Or(obj.GetNamespace(), metav1.NamespaceDefault))
	m.resources = append(m.resources, manifest{obj, source})
	return nil
}

// ourKinds are the kinds of Cauri.
var ourKinds = []string{sandboxKind, testClientKind, expectationKind}

// checkTwice returns an error for each resource that occurs twice.
func (m *Manifests) checkTwice() error {
	var problems []error
	first := map[string]string{}
	for _, r := range m.resources {
		if source, twice := first[r.String()]; twice {
			problems = append(problems, fmt.Errorf("%s is in %s, and again in %s: remove one of the two", r, source, r.source))
			continue
		}
		first[r.String()] = r.source
	}
	return errors.Join(problems...)
}

// digestOf returns a digest of the names and the content of all files. For a file that cannot be read, the digest
// includes its name and the error.
func digestOf(paths []string) [sha256.Size]byte {
	files, err := filesOf(paths)
	all := sha256.New()
	fmt.Fprintln(all, files, err)
	for _, file := range files {
		text, err := textfile.Read(file)
		fmt.Fprintf(all, "%q %v\n", text, err)
	}
	return [sha256.Size]byte(all.Sum(nil))
}
