package localapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readIn reads files of these names and texts, as paths of their folder.
func readIn(t *testing.T, files map[string]string, paths ...string) (Manifests, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Read(paths...)
}

func TestRead(t *testing.T) {
	read, err := readIn(t, map[string]string{
		"shop/a.yaml":       "# a comment\n---\n" + checkout + alice + "---\n",
		"shop/b.yml":        "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Secret, metadata: {name: airtel, namespace: team}}\n",
		"shop/c.json":       `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}`,
		"shop/notes.txt":    "nothing",
		"shop/below/d.yaml": "nothing",
		"bob.yaml":          strings.ReplaceAll(alice, "alice", "bob"),
	}, "shop", "bob.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range read.resources {
		got = append(got, r.String()+" of "+r.source)
	}
	if diff := cmp.Diff([]string{
		"SandboxEnvironment default/checkout of shop/a.yaml, document 2",
		"TestClient default/alice of shop/a.yaml, document 3",
		"Secret team/airtel of shop/b.yml, document 1, item 1",
		"TestClient default/bob of bob.yaml, document 1",
	}, got); diff != "" {
		t.Error(diff)
	}
	ignored := `shop/c.json, document 1: the Namespace "team" is ignored: only SandboxEnvironment, TestClient, Expectation and Secret are used here`
	if diff := cmp.Diff([]string{ignored}, read.Ignored); diff != "" {
		t.Error(diff)
	}
}

func TestReadErrors(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no file": {nil, "stat shop: no such file or directory"},
		"twice": {
			map[string]string{"shop/a.yaml": checkout, "shop/b.yaml": alice + "---" + checkout},
			"SandboxEnvironment default/checkout is in shop/a.yaml, document 1, and again in shop/b.yaml, document 2: remove one of the two",
		},
		"nothing": {
			map[string]string{"shop/a.yaml": "# a comment"},
			`no SandboxEnvironment is in ["shop"]: write one, or leave the files out for a sample`,
		},
		"another kind of Cauri": {
			map[string]string{"shop/a.yaml": strings.Replace(checkout, "SandboxEnvironment", "Sandbox", 1)},
			"shop/a.yaml, document 1: there is no kind Sandbox in cauri.dev/v1alpha1: write SandboxEnvironment, TestClient or Expectation, " +
				"and apiVersion: cauri.dev/v1alpha1",
		},
		"no kind": {
			map[string]string{"shop/a.yaml": "spec: {}"},
			"shop/a.yaml, document 1: has no kind or no apiVersion: write, for example, apiVersion: cauri.dev/v1alpha1 and " +
				"kind: SandboxEnvironment",
		},
		"text": {
			map[string]string{"shop/a.yaml": "hello"},
			"shop/a.yaml, document 1: is not a resource: write apiVersion, kind, metadata and spec",
		},
		"a field twice": {
			map[string]string{"shop/a.yaml": checkout + "  openingFloat: []\n"},
			`shop/a.yaml, document 1: is not valid YAML: line 8: key "openingFloat" already set in map: write each field once`,
		},
		"a tab": {
			map[string]string{"shop/a.yaml": checkout + "\topeningFloat: []\n"},
			"shop/a.yaml, document 1: is not valid YAML: line 8: found character that cannot start any token: indent by spaces in place of tabs, " +
				"and put a string that begins with @, %, ` or | in quotation marks",
		},
		"all errors at once": {
			map[string]string{"shop/a.yaml": "a: [\n---\nhello\n---\n" + checkout, "shop/b.yaml": "kind: List\napiVersion: v1\nitems: [1]"},
			"shop/a.yaml, document 1: is not valid YAML: line 1: did not find expected node content: check the indentation there and above, " +
				"and put a string with a colon or # in quotation marks\n" +
				"shop/a.yaml, document 2: is not a resource: write apiVersion, kind, metadata and spec\n" +
				"shop/b.yaml, document 1: item 1 is not a resource",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readIn(t, test.files, "shop")
			if err == nil {
				t.Fatal("it is accepted")
			}
			if diff := cmp.Diff(test.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
