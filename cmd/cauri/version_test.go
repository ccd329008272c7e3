package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

const testCommit = "76e9aa8f771283946d18237e898d584250414136"

func TestFactsOf(t *testing.T) {
	t.Parallel()
	checkout := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: testCommit}, {Key: "vcs.modified", Value: modified}}
	}
	for name, c := range map[string]struct {
		version, revision string
		settings          []debug.BuildSetting
		want              buildFacts
	}{
		"a release":                 {"v1.2.3", testCommit, nil, buildFacts{Version: "v1.2.3", Revision: testCommit}},
		"an image of changed files": {"e2e", testCommit + "-modified", nil, buildFacts{Version: "e2e", Revision: testCommit, Modified: true}},
		"a checkout":                {"", "", checkout("false"), buildFacts{Version: "dev-76e9aa8f7712", Revision: testCommit}},
		"a changed checkout": {"", "", checkout("true"), buildFacts{Version: "dev-76e9aa8f7712-modified", Revision: testCommit,
			Modified: true}},
		"no version, but a commit": {"", testCommit, nil, buildFacts{Version: "dev-76e9aa8f7712", Revision: testCommit}},
		"nothing is known":         {"", "", nil, buildFacts{Version: "dev"}},
		"the linker knows better": {"v1.2.3", testCommit, []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}},
			buildFacts{Version: "v1.2.3", Revision: testCommit}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.want.Go, c.want.Platform = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
			if diff := cmp.Diff(c.want, factsOf(c.version, c.revision, c.settings)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestVersionPrints(t *testing.T) {
	t.Parallel()
	facts := buildFacts{Version: "v1.2.3", Revision: testCommit, Go: "go1.26.8", Platform: "linux/arm64"}
	printed := func(format string) (string, error) {
		var out bytes.Buffer
		var o cli.Output
		cmd := &cobra.Command{}
		o.Add(cmd)
		err := errors.Join(cmd.Flags().Set("output", format), printVersion(&out, facts, &o))
		return out.String(), err
	}

	if got, err := printed(""); err != nil || got != "v1.2.3\n" {
		t.Errorf("printed %q, %v; want one line, scripts read it", got, err)
	}
	got, err := printed("json")
	if err != nil {
		t.Fatal(err)
	}
	var read map[string]any
	if err := json.Unmarshal([]byte(got), &read); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"version": "v1.2.3", "revision": testCommit, "modified": false, "go": "go1.26.8", "platform": "linux/arm64"}
	if diff := cmp.Diff(want, read); diff != "" {
		t.Error(diff)
	}
	if _, err := printed("xml"); cli.ExitCode(err) != cli.ExitUsage || !strings.Contains(err.Error(), "write json") {
		t.Errorf("--output=xml: %v", err)
	}
}

func TestTheFlagVersion(t *testing.T) {
	t.Parallel()
	root := newRootCommand(false)
	var out strings.Builder
	root.SetOut(&out)
	root.SetArgs([]string{"--version"})
	if err := root.ExecuteContext(t.Context()); err != nil || !strings.Contains(out.String(), programVersion()) {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestUnknownCommandsGetAHint(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"statsu":                             "there is no command statsu: is it status?",
		"zzzz":                               "there is no command zzzz: `cauri --help` lists them",
		"serve":                              "say which process: `cauri serve api`, `cauri serve worker` or `cauri serve controller`",
		"api --listen-address=:8080":         "there is no flag --listen-address: `cauri api --help` lists those of this command. `cauri api` sends a request; `cauri serve api` runs the server",
		"worker --encryption-key-file=x":     "there is no command worker: write `cauri serve worker`",
		"controller --kubeconfig=x --help=1": "there is no command controller: write `cauri serve controller`",
		"serve apo":                          "say which process: `cauri serve api`, `cauri serve worker` or `cauri serve controller`",
		"get payments":                       "there is no command get: write `cauri payments`",
		"get -n team payment TX_1":           "there is no command get: write `cauri payments`",
		"describe transaction TX_1":          "there is no command describe: write `cauri payments`",
		"get sandboxes -o json":              "there is no command get: write `cauri list`",
		"ls testclients":                     "there is no command ls: write `cauri clients`",
		"show clock":                         "there is no command show: write `cauri clock`",
		"get":                                "there is no command get: `cauri --help` lists them",
		"get zzzz":                           "there is no command get: `cauri --help` lists them",
		"transactions":                       "there is no command transactions: is it payments?",
		"list payments":                      "\"payments\" is one argument too many: write `cauri payments`",
	} {
		root := newRootCommand(false)
		root.SetArgs(strings.Fields(name))
		err := explained(root, strings.Fields(name), root.Execute())
		if cli.Message(err) != want || cli.ExitCode(err) != cli.ExitUsage {
			t.Errorf("%s: %v, exit code %d", name, err, cli.ExitCode(err))
		}
	}
}
