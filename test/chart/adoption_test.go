package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/test/snippets"
	"github.com/cauri-dev/cauri/test/system"
)

// CRDs of an earlier release that somebody applied by kubectl, with a sandbox in use, become the release's by what docs/upgrade.md
// shows. Without it Helm refuses them.
func TestAppliedCRDsAreAdopted(t *testing.T) {
	t.Parallel()
	cluster, err := system.StartCluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Close() })
	run := func(input string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), kubectl(t), args...)
		command.Env, command.Stdin = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig), strings.NewReader(input)
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("kubectl %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for i, file := range []string{"sandboxenvironments", "testclients", "expectations"} {
		const schema = "openAPIV3Schema:\n        description: |-\n          "
		crd := read(t, root+"/config/crd/cauri.dev_"+file+".yaml")
		older := strings.Replace(crd, schema, schema+"Older: ", 1)
		if older == crd {
			t.Fatalf("%s has another form", file)
		}
		run(older, "apply", "--server-side="+[]string{"true", "false"}[i%2], "-f", "-") // as people do, either way
	}
	run("", "wait", "--for=condition=Established", "--timeout=60s", "crd", "--all")
	run("", "apply", "-f", root+"/config/samples/sandbox.yaml")
	uid := run("", "get", "sandboxenvironments", "-o=jsonpath={.items[*].metadata.uid}")

	_, err = helm(t, "install", release, chart, "--kubeconfig="+cluster.Kubeconfig, "--namespace="+namespace, "--create-namespace")
	if err == nil || !strings.Contains(err.Error(), "cannot be imported into the current release") {
		t.Fatalf("Helm takes the CRDs as they are: %v", err)
	}
	reader := snippets.NewShell(t, strings.NewReplacer(`oci://ghcr.io/cauri-dev/charts/cauri --version "$VERSION"`, "charts/cauri"),
		"KUBECONFIG="+cluster.Kubeconfig, "HELM_CACHE_HOME="+t.TempDir(), "HELM_CONFIG_HOME="+t.TempDir(), "HELM_DATA_HOME="+t.TempDir())
	reader.Link(reader.State, root+"/bin/helm", kubectl(t))
	reader.Link(reader.Folder, filepath.Join(root, "charts"))
	var followed int
	for _, one := range snippets.Of(t, root, "docs/upgrade.md") {
		if one.RunBy() == "test/chart" {
			followed++
			reader.Run(one)
		}
	}
	if followed == 0 {
		t.Fatal("docs/upgrade.md shows nothing")
	}
	const described = "-o=jsonpath={.items[*].spec.versions[*].schema.openAPIV3Schema.description}"
	if crds := run("", "get", "crds", described); strings.Contains(crds, "Older: ") || !strings.Contains(crds, "TestClient is") {
		t.Error("the CRDs are still those of the earlier release")
	}
	if still := run("", "get", "sandboxenvironments", "-o=jsonpath={.items[*].metadata.uid}"); still != uid || uid == "" {
		t.Errorf("the sandboxes were %q and are %q", uid, still)
	}
	// The release removes them no more than others.
	if _, err := helm(t, "uninstall", release, "--kubeconfig="+cluster.Kubeconfig, "--namespace="+namespace); err != nil {
		t.Fatal(err)
	}
	if still := run("", "get", "sandboxenvironments", "-o=jsonpath={.items[*].metadata.uid}"); still != uid {
		t.Errorf("after the release is gone, the sandboxes were %q and are %q", uid, still)
	}
}
