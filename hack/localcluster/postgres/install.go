package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// packageManager installs Postgres with a package manager of the system.
type packageManager struct {
	program  string
	commands [][]string
	// noCluster is a setting that must precede the last command. Without it, Debian's package creates a database and
	// starts it at every boot.
	noCluster string
	// noServices prevents that packages start their services.
	noServices bool
}

const debianNoCluster = "/etc/postgresql-common/createcluster.d/no-main-cluster.conf"

var packageManagers = []packageManager{
	{
		program: "apt-get",
		commands: [][]string{
			{"apt-get", "update", "-q"},
			{"apt-get", "install", "-q", "-y", "--no-install-recommends", "postgresql-common"},
			{"apt-get", "install", "-q", "-y", "--no-install-recommends", "postgresql"},
		},
		noCluster: debianNoCluster,
	},
	{program: "dnf", commands: [][]string{{"dnf", "install", "-q", "-y", "postgresql-server"}}},
	{program: "apk", commands: [][]string{{"apk", "add", "postgresql"}}},
}

// Require returns server programs for data of a major version; 0 means new data. If the machine has none and the user
// is root, Require installs them with the package manager. Otherwise, or if that fails, it downloads them once, like
// `cauri dev`.
func Require(ctx context.Context, out io.Writer, dataMajor int) (localpostgres.Programs, error) {
	if os.Geteuid() == 0 && os.Getenv(localpostgres.Variable) == "" {
		if _, err := localpostgres.Find(ctx, 0); errors.Is(err, localpostgres.ErrNoPrograms) {
			if err := installPostgres(ctx, out); err != nil {
				return localpostgres.Programs{}, err
			}
		}
	}
	return findOrDownload(ctx, sourceOf(out), dataMajor)
}

// installPostgres installs Postgres with the package manager. It returns an error if the user has refused. It only
// prints the error of a failed installation, because a download may still work.
func installPostgres(ctx context.Context, out io.Writer) error {
	manager, ok := presentManager()
	if !ok {
		return nil
	}
	if err := host.AnnounceInstall(out, "Postgres", "the database of this command needs its server programs", manager.commands); err != nil {
		return fmt.Errorf("%w\nor set your own database: %s=postgres://USER:PASSWORD@HOST/DATABASE", err, DatabaseVariable)
	}
	if err := manager.install(ctx, out); err != nil {
		fmt.Fprintln(out, err)
	}
	return nil
}

// sourceOf returns the source of the download, as the user's settings say.
func sourceOf(out io.Writer) localpostgres.Source {
	return localpostgres.Source{
		URL: os.Getenv(localpostgres.URLVariable),
		Say: func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) },
	}
}

func findOrDownload(ctx context.Context, source localpostgres.Source, dataMajor int) (localpostgres.Programs, error) {
	programs, err := source.Programs(ctx, dataMajor)
	switch {
	case err != nil && dataMajor != 0:
		return programs, fmt.Errorf("the data need Postgres %d: install it again, or delete the data (`localcluster down --purge`): %w", dataMajor, err)
	case err != nil:
		return programs, fmt.Errorf("%w\n%s", err, postgresAdvice())
	}
	return programs, nil
}

func presentManager() (packageManager, bool) {
	for _, manager := range packageManagers {
		if _, err := exec.LookPath(manager.program); err == nil {
			return manager, true
		}
	}
	return packageManager{}, false
}

// postgresAdvice returns advice for the user, with a command if possible.
func postgresAdvice() string {
	const otherwise = "set your own database in " + DatabaseVariable + "=postgres://..."
	manager, ok := presentManager()
	if !ok {
		return fmt.Sprintf("install Postgres %d or newer (its server programs), or %s", localpostgres.Oldest, otherwise)
	}
	last := manager.commands[len(manager.commands)-1]
	command := strings.Join(last, " ")
	if os.Geteuid() != 0 {
		command = "sudo " + command
	}
	return fmt.Sprintf("run `%s`, or %s", command, otherwise)
}

// install runs the commands. Of several processes that install something, one does so at a time.
func (m packageManager) install(ctx context.Context, out io.Writer) (err error) {
	unlock, err := host.LockPackages(out)
	if err != nil {
		return err
	}
	defer unlock()
	if m.noServices {
		remove, err := forbidServices(servicePolicy)
		if err != nil {
			return err
		}
		defer remove()
	}
	for i, command := range m.commands {
		if m.noCluster != "" && i == len(m.commands)-1 {
			remove, err := m.forbidCluster()
			if err != nil {
				return err
			}
			defer remove()
		}
		args := command[1:]
		if m.program == "apt-get" {
			args = slices.Concat(host.AptOptions, args)
		}
		cmd := exec.CommandContext(ctx, command[0], args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("running %q: %w\n%s", strings.Join(command, " "), err, host.EndOf(output.String(), 15))
		}
	}
	return nil
}

// forbidCluster sets the option noCluster. remove removes it after the installation, so that the machine's
// configuration stays unchanged.
func (m packageManager) forbidCluster() (remove func(), err error) {
	if err := os.MkdirAll(filepath.Dir(m.noCluster), 0o755); err != nil {
		return nil, fmt.Errorf("disabling the default database of the package: %w", err)
	}
	if err := os.WriteFile(m.noCluster, []byte("create_main_cluster = false\n"), 0o644); err != nil {
		return nil, fmt.Errorf("disabling the default database of the package: %w", err)
	}
	return func() { os.Remove(m.noCluster) }, nil
}
