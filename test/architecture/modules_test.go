package architecture

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/modfile"
)

// The modules of this repository have to agree on the versions of what they share: a package that one of them needs in another version,
// or with a dependency in another version, is compiled once more, and on an empty cache compiling is most of what CI does. That of
// Kubernetes' own programs is left out: it has the versions that Kubernetes was released with.
func TestModulesShareVersions(t *testing.T) {
	const root = "../.."
	type use struct{ version, module string }
	uses := map[string]use{}
	for _, module := range []string{".", "hack/localcluster", "hack/localcluster/source/coredns", "hack/images", "hack/tools"} {
		path := filepath.Join(root, module, "go.mod")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := modfile.Parse(path, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, required := range parsed.Require {
			first, known := uses[required.Mod.Path]
			if !known {
				uses[required.Mod.Path] = use{required.Mod.Version, module}
				continue
			}
			if first.version != required.Mod.Version {
				t.Errorf("%s: %s in %s, %s in %s: run `go get` there with the newer one, and `go mod tidy`",
					required.Mod.Path, first.version, first.module, required.Mod.Version, module)
			}
		}
	}
	if len(uses) < 100 {
		t.Errorf("only %d requirements were found: the files are not read as they are", len(uses))
	}
}
