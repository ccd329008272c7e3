package up

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cauri-dev/cauri/hack/localcluster/kube"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/hack/localcluster/process/processtest"
	"github.com/cauri-dev/cauri/hack/localcluster/testkit"
)

func TestCheckFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, text := filepath.Join(dir, "cauri"), filepath.Join(dir, "text")
	missing := filepath.Join(dir, "missing")
	for path, mode := range map[string]os.FileMode{program: 0o755, text: 0o644} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, samples := range []string{"", dir} {
		if err := checkFiles(program, dir, dir, samples); err != nil {
			t.Error(err)
		}
	}
	testkit.WantAdvice(t, checkFiles(missing, dir, dir, dir), missing, "make build", "--cauri")
	testkit.WantAdvice(t, checkFiles(text, dir, dir, dir), "not a program", "make build")
	testkit.WantAdvice(t, checkFiles(program, missing, dir, dir), missing, "make generate", "--crds")
	testkit.WantAdvice(t, checkFiles(program, dir, missing, dir), missing, "--rbac")
	testkit.WantAdvice(t, checkFiles(program, dir, dir, missing), missing, "--samples")
}

// The roles for people are applied, and no role of the controller, which runs as the administrator here.
func TestPeoplesRoles(t *testing.T) {
	t.Parallel()
	objects, err := kube.ReadObjects("../../../config/rbac")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range objects {
		if isAggregated(object) {
			names = append(names, object.GetName())
		}
	}
	if slices.Sort(names); !slices.Equal(names, []string{"cauri-edit", "cauri-view"}) {
		t.Errorf("the roles are %q", names)
	}
}

func TestCheckAPIPort(t *testing.T) {
	t.Parallel()
	taken := testkit.TakePort(t)
	testkit.WantAdvice(t, checkAPIPort(taken, process.Process{}), "in use by", "pid", apiPortVariable+"=")

	ours := processtest.Running(t)
	ours.Address = apiAddress(taken)
	if err := checkAPIPort(taken, ours); err != nil {
		t.Errorf("our own api is in the way of its successor: %v", err)
	}
	ours.Address = apiAddress(taken + 1)
	testkit.WantAdvice(t, checkAPIPort(taken, ours), "in use")
}

func TestChooseAPIPort(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		flag, variable string
		want           int
		fails          bool
	}{
		"default":        {"", "", defaultAPIPort, false},
		"variable":       {"", "9090", 9090, false},
		"flag wins":      {"9091", "9090", 9091, false},
		"any":            {"0", "", 0, false},
		"no number":      {"", "http", 0, true},
		"out of range":   {"65536", "", 0, true},
		"negative":       {"-1", "", 0, true},
		"flag is broken": {"x", "9090", 0, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := chooseAPIPort(c.flag, c.variable)
			if got != c.want || (err != nil) != c.fails {
				t.Errorf("chooseAPIPort(%q, %q) = %d, %v", c.flag, c.variable, got, err)
			}
		})
	}
}
