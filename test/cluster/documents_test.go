package cluster

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/cauri-dev/cauri/test/ports"
	"github.com/cauri-dev/cauri/test/snippets"
)

const (
	// here is the mark of the snippets that these tests run.
	here = "test/cluster"
	// published is the chart of a release. The chart of the checkout stands in for it.
	published = `oci://ghcr.io/cauri-dev/charts/cauri --version "$VERSION"`
	// installation and removal are documents whose snippets stand at other places of the story.
	installation, removal = "docs/install.md", "docs/uninstall.md"
)

// documented does what each document shows for a cluster that has Cauri.
func documented(t *testing.T, c *cluster) {
	c.kubectl(t, "delete", "namespace", team, "--timeout=90s")
	for _, document := range snippets.Documents(t, c.root) {
		if document != removal && document != pipelines {
			t.Run(filepath.Base(document), func(t *testing.T) { c.follow(t, document, "", published, "charts/cauri") })
		}
	}
}

// follow runs the snippets of a document that these tests run and that have a text, or all that were not run yet. It replaces texts, old
// and new ones. The reader works in the team's namespace, and has the README's resources in a file.
func (c *cluster) follow(t *testing.T, document, having string, replace ...string) {
	t.Helper()
	port := ports.ForTest(t)
	var s *snippets.Shell
	for _, one := range snippets.Of(t, c.root, document) {
		if one.RunBy() != here || !strings.Contains(one.Body, having) || having == "" && c.followed[one.String()] {
			continue
		}
		if s == nil {
			s = c.reader(t, append(replace, "localhost:8080", "localhost:"+port, " 8080:80", " "+port+":80"))
		}
		s.Prepare(one)
		c.followed[one.String()] = true
		t.Logf("%s\n%s\n%s", one, one.Body, s.Run(one))
	}
	if having != "" && s == nil {
		t.Fatalf("%s has no snippet with %q that is marked \"run by: %s\"", document, having, here)
	}
}

func (c *cluster) reader(t *testing.T, replace []string) *snippets.Shell {
	t.Helper()
	s := snippets.NewShell(t, strings.NewReplacer(replace...))
	for _, name := range []string{"charts", "config", "docs", "examples"} {
		s.Link(s.Folder, filepath.Join(c.root, name))
	}
	config, err := clientcmd.NewDefaultClientConfigLoadingRules().Load()
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = team
	kubeconfig := filepath.Join(s.State, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	s.Variables = append(s.Variables, "KUBECONFIG="+kubeconfig)
	for _, one := range snippets.Of(t, c.root, "README.md") {
		if one.Marks["file"] != "" {
			s.Prepare(one)
		}
	}
	return s
}
