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

// pgbouncerPackages install PgBouncer on Debian. Users of other systems install it themselves.
var pgbouncerPackages = packageManager{
	program: "apt-get",
	commands: [][]string{
		{"apt-get", "update", "-q"},
		{"apt-get", "install", "-q", "-y", "--no-install-recommends", "pgbouncer"},
	},
}

// pgbouncerFolder is Debian's folder. It is not in every user's PATH.
const pgbouncerFolder = "/usr/sbin"

func NewPgBouncerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pgbouncer",
		Short: "Print the path of pgbouncer, and install it if necessary",
		Long: `pgbouncer prints the path of PgBouncer, which some tests need. If it is missing, root installs it on Debian.
For other users it prints nothing, and standard error explains what to do.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printPgBouncer(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}

func printPgBouncer(ctx context.Context, out, messages io.Writer) error {
	path, found := findPgBouncer()
	if !found && os.Geteuid() == 0 {
		if err := installPgBouncer(ctx, messages); err != nil {
			return err
		}
		if path, found = findPgBouncer(); !found {
			return errors.New("pgbouncer is still missing after its installation")
		}
	}
	if !found {
		fmt.Fprintln(messages, "pgbouncer is not installed, skipping its tests: run `sudo apt-get install pgbouncer`, or put one into PATH")
		return nil
	}
	fmt.Fprintln(out, path)
	return nil
}

func findPgBouncer() (path string, found bool) {
	for _, name := range []string{"pgbouncer", filepath.Join(pgbouncerFolder, "pgbouncer")} {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

func installPgBouncer(ctx context.Context, messages io.Writer) error {
	if _, err := exec.LookPath(pgbouncerPackages.program); err != nil {
		return errors.New("pgbouncer is not installed, and there is no apt-get: install it yourself and add it to PATH")
	}
	err := host.AnnounceInstall(messages, "PgBouncer", "a test of Cauri behind a pooler needs it", pgbouncerPackages.commands)
	if err != nil {
		return err
	}
	remove, err := forbidServices(servicePolicy)
	if err != nil {
		return err
	}
	defer remove()
	return pgbouncerPackages.install(ctx)
}

// servicePolicy is the program that Debian's packages ask for permission to start a service.
const servicePolicy = "/usr/sbin/policy-rc.d"

// forbidServices stops a package from starting its service during the installation. It leaves an existing policy
// unchanged.
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
