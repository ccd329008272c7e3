package kube

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/hack/localcluster/source"
)

func TestKubernetesVersionOfTheSource(t *testing.T) {
	t.Parallel()
	version, err := source.RequiredVersion(filepath.Join("..", "source", "kube", "go.mod"), "k8s.io/kubernetes")
	if err != nil || !strings.HasPrefix(version, "v1.") {
		t.Fatalf("RequiredVersion = %q, %v", version, err)
	}
	// The version that the programs report must be the version that is linked in.
	flags := kubeLinkerFlags("v1.36.3")
	for _, part := range []string{"gitVersion=v1.36.3", "gitMajor=1", "gitMinor=36 "} {
		if !strings.Contains(flags, part) {
			t.Errorf("%q is not in %q", part, flags)
		}
	}
}

func TestTheBuildTellsWhatItTakes(t *testing.T) {
	t.Parallel()
	build, err := FindBuild()
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"243 s", "2 idle processors", fmt.Sprint("this machine has ", runtime.NumCPU())} {
		if !strings.Contains(build.Cost, part) {
			t.Errorf("%q is not in %q", part, build.Cost)
		}
	}
	if !strings.Contains(build.Meanwhile, "bin/cauri dev") {
		t.Errorf("nothing is offered meanwhile: %q", build.Meanwhile)
	}
}
