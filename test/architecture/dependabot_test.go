package architecture

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// notUpdated are the folders whose dependencies Dependabot leaves alone, and why.
var notUpdated = map[string]string{
	"/hack/localcluster/source/kube": "it has the versions that Kubernetes was released with",
	"/hack/tools/kubescore":          "kube-score does not compile with newer versions of Kubernetes' libraries",
}

// Every module of Go and every package of npm in the repository is kept up to date.
func TestDependabotKnowsAllModules(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	known := map[string][]string{}
	for _, update := range config.Updates {
		known[update.Ecosystem] = append(known[update.Ecosystem], update.Directories...)
	}
	found := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{"bin", "dist", "node_modules", "testdata", ".git", ".cauri"}, entry.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		folder := path.Join("/", filepath.ToSlash(strings.TrimPrefix(path.Dir(file)+"/", root)))
		ecosystem := map[string]string{"go.mod": "gomod", "package.json": "npm"}[entry.Name()]
		if ecosystem == "" || notUpdated[folder] != "" {
			return nil
		}
		found[ecosystem+folder] = true
		if !slices.Contains(known[ecosystem], folder) {
			t.Errorf("add %s to the directories of %s in .github/dependabot.yml", folder, ecosystem)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for ecosystem, folders := range known {
		for _, folder := range folders {
			if ecosystem != "github-actions" && !found[ecosystem+folder] {
				t.Errorf(".github/dependabot.yml names %s for %s, which is not there", folder, ecosystem)
			}
		}
	}
}
