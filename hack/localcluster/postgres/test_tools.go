package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// testTool is a program of the system that some tests need.
type testTool struct {
	name    string // name of its Debian package
	title   string
	program string
	why     string
}

// sbin is Debian's folder of programs for administrators. It is not in every user's PATH.
const sbin = "/usr/sbin"

var testTools = []testTool{
	{name: "pgbouncer", title: "PgBouncer", program: "pgbouncer", why: "a test of Cauri behind a pooler needs it"},
	{name: "nodejs", title: "Node.js", program: "node", why: "the tests of the shop in JavaScript need it"},
	{name: "chromium", title: "Chromium", program: "chromium", why: "the tests of the console need it"},
	{name: "jq", title: "jq", program: "jq", why: "the tests of the actions for GitHub need it, whose runners have it"},
}

// NewTestToolCommands returns a command for each program of the system that some tests need.
func NewTestToolCommands() (commands []*cobra.Command) {
	for _, tool := range testTools {
		commands = append(commands, &cobra.Command{
			Use:   tool.name,
			Short: fmt.Sprintf("Print the path of %s, and install it if necessary", tool.program),
			Long: fmt.Sprintf(`%s prints the path of %s, which some tests need. If it is missing, root installs it on Debian.
For other users it prints nothing, and standard error explains what to do.`, tool.name, tool.title),
			Args: cobra.NoArgs,
			RunE: func(cmd *cobra.Command, _ []string) error {
				return tool.print(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
			},
		})
	}
	return commands
}

func (t testTool) print(ctx context.Context, out, messages io.Writer) error {
	path, found := t.find()
	if !found && os.Geteuid() == 0 {
		if err := t.install(ctx, messages); err != nil {
			return err
		}
		if path, found = t.find(); !found {
			return fmt.Errorf("%s is still missing after its installation", t.program)
		}
	}
	if !found {
		fmt.Fprintf(messages, "%s is not installed, skipping its tests: run `sudo apt-get install %s`, or put one into PATH\n", t.program, t.name)
		return nil
	}
	fmt.Fprintln(out, path)
	return nil
}

func (t testTool) find() (path string, found bool) {
	for _, name := range []string{t.program, filepath.Join(sbin, t.program)} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

func (t testTool) install(ctx context.Context, messages io.Writer) error {
	packages := packageManager{
		program: "apt-get",
		commands: [][]string{
			{"apt-get", "update", "-q"},
			{"apt-get", "install", "-q", "-y", "--no-install-recommends", t.name},
		},
		noServices: true,
	}
	if _, err := exec.LookPath(packages.program); err != nil {
		return fmt.Errorf("%s is not installed, and there is no apt-get: install it yourself and add it to PATH", t.program)
	}
	if err := host.AnnounceInstall(messages, t.title, t.why, packages.commands); err != nil {
		return err
	}
	return packages.install(ctx, messages)
}

// servicePolicy is the program that Debian's packages call before they start a service.
const servicePolicy = "/usr/sbin/policy-rc.d"

// forbidServices prevents that a package starts its service during the installation. It does not replace an existing
// policy.
func forbidServices(policy string) (remove func(), err error) {
	file, err := os.OpenFile(policy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("disabling the service of the package: %w", err)
	}
	_, err = file.WriteString("#!/bin/sh\nexit 101\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("disabling the service of the package: %w", err), os.Remove(policy))
	}
	return func() { os.Remove(policy) }, nil
}
