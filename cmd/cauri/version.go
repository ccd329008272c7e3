package main

import (
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/cmd/cauri/cli"
)

// The linker sets these variables in builds of images and releases (.ko.yaml, Dockerfile). In a build from a checkout
// they are empty, and the program uses Go's build information.
var (
	version  = ""
	revision = "" // commit, with modifiedSuffix if files were changed
)

const modifiedSuffix = "-modified"

// buildFacts is the output of `cauri version --output json`.
type buildFacts struct {
	Version string `json:"version"`
	// Revision is the commit; empty if it is not known.
	Revision string `json:"revision,omitempty"`
	// Modified is whether files differ from the commit.
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func programFacts() buildFacts {
	var settings []debug.BuildSetting
	if info, ok := debug.ReadBuildInfo(); ok {
		settings = info.Settings
	}
	return factsOf(version, revision, settings)
}

func factsOf(version, revision string, settings []debug.BuildSetting) buildFacts {
	facts := buildFacts{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	facts.Revision, facts.Modified = strings.CutSuffix(revision, modifiedSuffix)
	for _, setting := range settings {
		switch {
		case revision != "": // set by the linker
		case setting.Key == "vcs.revision":
			facts.Revision = setting.Value
		case setting.Key == "vcs.modified":
			facts.Modified = setting.Value == "true"
		}
	}
	if facts.Version == "" {
		facts.Version = developmentVersion(facts)
	}
	return facts
}

func developmentVersion(facts buildFacts) string {
	const short = 12 // number of digits, as in Go's pseudo-versions
	if len(facts.Revision) < short {
		return "dev"
	}
	name := "dev-" + facts.Revision[:short]
	if facts.Modified {
		name += modifiedSuffix
	}
	return name
}

// programVersion returns one word: the version of a release, or `dev` with the commit.
func programVersion() string { return programFacts().Version }

func newVersionCommand() *cobra.Command {
	var o cli.Output
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printVersion(cmd.OutOrStdout(), programFacts(), &o)
		},
	}
	o.Add(cmd)
	cmd.Flag("output").Usage = "json or yaml: also the commit, whether it was modified, and the version of Go; name: the version alone"
	return cmd
}

func printVersion(out io.Writer, facts buildFacts, o *cli.Output) error {
	if err := o.Check(); err != nil {
		return err
	}
	return o.Print(out, facts, []string{facts.Version}, func(out io.Writer) { cli.Fprintf(out, "%s\n", facts.Version) })
}
