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
)

// pgbouncerPackages install PgBouncer. Other systems' packages have other names and are left to their users.
var pgbouncerPackages = packageManager{
	program: "apt-get",
	commands: [][]string{
		{"apt-get", "update", "-q"},
		{"apt-get", "install", "-q", "-y", "--no-install-recommends", "pgbouncer"},
	},
}

// pgbouncerFolder is where Debian puts it; not every user has that in PATH.
const pgbouncerFolder = "/usr/sbin"

func NewPgBouncerCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "pgbouncer",
		Short: "Print the path of pgbouncer, installing it if need be",
		Long: `pgbouncer prints the path of the program that some tests run Cauri through. For root it is installed where it is missing and
the system is Debian's; for others nothing is printed then, and standard error says what to do.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return printPgBouncer(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
}

func printPgBouncer(ctx context.Context, out, messages io.Writer) error {
	path, found := findPgBouncer()
	if !found && os.Geteuid() == 0 {
		fmt.Fprintln(messages, "pgbouncer is not installed: installing it by apt-get")
		if err := installPgBouncer(ctx); err != nil {
			return err
		}
		if path, found = findPgBouncer(); !found {
			return errors.New("pgbouncer was installed and is not there")
		}
	}
	if !found {
		fmt.Fprintln(messages, "pgbouncer is not installed, its tests are left out: run `sudo apt-get install pgbouncer`, or put one into PATH")
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

func installPgBouncer(ctx context.Context) error {
	if _, err := exec.LookPath(pgbouncerPackages.program); err != nil {
		return errors.New("pgbouncer is not installed, and without apt-get it is yours to install: put one into PATH")
	}
	remove, err := forbidServices(servicePolicy)
	if err != nil {
		return err
	}
	defer remove()
	return pgbouncerPackages.install(ctx)
}

// servicePolicy is the program that Debian's packages ask whether they may start their service.
const servicePolicy = "/usr/sbin/policy-rc.d"

// forbidServices keeps a package from starting its service while it is installed, where nobody has decided on that.
func forbidServices(policy string) (remove func(), err error) {
	file, err := os.OpenFile(policy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("forbidding a service of the system's own: %w", err)
	}
	_, err = file.WriteString("#!/bin/sh\nexit 101\n")
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("forbidding a service of the system's own: %w", err), os.Remove(policy))
	}
	return func() { os.Remove(policy) }, nil
}
