package postgres

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"

	"github.com/cauri-dev/cauri/hack/localcluster/download"
	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// packageManager installs Postgres with a package manager of the system.
type packageManager struct {
	program  string
	commands [][]string
	// noCluster is a setting that must precede the last command. Without it, Debian's package creates a database and
	// starts it at every boot.
	noCluster string
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

// Require returns installed server programs that match the data. It installs Postgres if there is none.
func Require(ctx context.Context, out io.Writer, dataMajor int) (Programs, error) {
	folders := append([]string{filepath.Join(fetchedPostgres(), "bin")}, postgresFolders...)
	found := findPostgres(ctx, folders)
	if len(found) == 0 {
		if err := obtainPostgres(ctx, out); err != nil {
			return Programs{}, err
		}
		found = findPostgres(ctx, folders)
	}
	if len(found) == 0 {
		return Programs{}, fmt.Errorf(
			"the installed Postgres is older than %d, the oldest version that Cauri supports: %s",
			oldestPostgres,
			postgresAdvice(),
		)
	}
	programs, err := choosePostgres(found, dataMajor)
	if errors.Is(err, errNoSuchPostgres) {
		err = fmt.Errorf("%w: install it again, or delete the data (`localcluster down --purge`)", err)
	}
	return programs, err
}

// obtainPostgres tries the package manager, which needs root, and then a download.
func obtainPostgres(ctx context.Context, out io.Writer) error {
	var failed error
	if manager, ok := presentManager(); ok && os.Geteuid() == 0 {
		if err := host.AnnounceInstall(out, "Postgres", "the database of this command needs its server programs", manager.commands); err != nil {
			return fmt.Errorf("%w\nor set your own database: %s=postgres://USER:PASSWORD@HOST/DATABASE", err, DatabaseVariable)
		}
		if failed = manager.install(ctx); failed == nil {
			return nil
		}
		fmt.Fprintln(out, failed)
	}
	fmt.Fprintln(out, "Postgres is not installed: downloading its programs")
	if err := fetchPostgres(); err != nil {
		failed = errors.Join(failed, err)
		return fmt.Errorf("installing Postgres failed: %s\n%w", postgresAdvice(), failed)
	}
	return nil
}

func presentManager() (packageManager, bool) {
	for _, manager := range packageManagers {
		if _, err := exec.LookPath(manager.program); err == nil {
			return manager, true
		}
	}
	return packageManager{}, false
}

// postgresAdvice tells the user what to do, with a command if possible.
func postgresAdvice() string {
	const otherwise = "set your own database in " + DatabaseVariable + "=postgres://..."
	manager, ok := presentManager()
	if !ok {
		return fmt.Sprintf("install Postgres %d or newer (its server programs), or %s", oldestPostgres, otherwise)
	}
	last := manager.commands[len(manager.commands)-1]
	command := strings.Join(last, " ")
	if os.Geteuid() != 0 {
		command = "sudo " + command
	}
	return fmt.Sprintf("run `%s`, or %s", command, otherwise)
}

func (m packageManager) install(ctx context.Context) (err error) {
	for i, command := range m.commands {
		if m.noCluster != "" && i == len(m.commands)-1 {
			remove, err := m.forbidCluster()
			if err != nil {
				return err
			}
			defer remove()
		}
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		var output bytes.Buffer
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("running %q: %w\n%s", strings.Join(command, " "), err, host.EndOf(output.String(), 15))
		}
	}
	return nil
}

// forbidCluster sets the option only during the installation, to leave the machine's configuration unchanged.
func (m packageManager) forbidCluster() (remove func(), err error) {
	if err := os.MkdirAll(filepath.Dir(m.noCluster), 0o755); err != nil {
		return nil, fmt.Errorf("disabling the default database of the package: %w", err)
	}
	if err := os.WriteFile(m.noCluster, []byte("create_main_cluster = false\n"), 0o644); err != nil {
		return nil, fmt.Errorf("disabling the default database of the package: %w", err)
	}
	return func() { os.Remove(m.noCluster) }, nil
}

// fetchedPostgres is the folder of downloaded programs. Root runs them as another user, who needs access to it.
func fetchedPostgres() string {
	if os.Geteuid() == 0 {
		return filepath.Join(host.SystemHome, "postgres-programs")
	}
	cache, err := host.CacheFolder()
	if err != nil {
		return filepath.Join(os.TempDir(), "cauri-postgres-programs")
	}
	return filepath.Join(cache, "postgres-programs")
}

// fetchPostgres downloads the programs. The library can only download and run a database, which it refuses as root. The
// database is a side effect.
func fetchPostgres() error {
	if settings, err := download.SettingsOf(os.Getenv); err != nil || settings.Off {
		return cmp.Or(err, errors.New(download.SwitchVariable+"=off forbids the download of Postgres"))
	}
	partial := fetchedPostgres() + ".partial"
	if err := os.RemoveAll(partial); err != nil { // of an interrupted download
		return fmt.Errorf("downloading Postgres: %w", err)
	}
	defer os.RemoveAll(partial)
	scratch, err := os.MkdirTemp("", "cauri-postgres-")
	if err != nil {
		return fmt.Errorf("downloading Postgres: %w", err)
	}
	defer os.RemoveAll(scratch)
	port, err := host.FreePort(nil)
	if err != nil {
		return fmt.Errorf("downloading Postgres: %w", err)
	}
	database := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(embeddedpostgres.V17).
		Port(uint32(port)).
		BinariesPath(partial).
		CachePath(filepath.Join(scratch, "cache")).
		RuntimePath(filepath.Join(scratch, "run")).
		DataPath(filepath.Join(scratch, "data")).
		Logger(io.Discard))
	startErr := database.Start()
	if startErr == nil {
		if err := database.Stop(); err != nil {
			return fmt.Errorf("stopping the database of the download: %w", err)
		}
	}
	if _, err := os.Stat(filepath.Join(partial, "bin", "postgres")); err != nil {
		return fmt.Errorf("downloading Postgres: %w", startErr)
	}
	if err := os.Rename(partial, fetchedPostgres()); err != nil {
		return fmt.Errorf("saving the downloaded Postgres: %w", err)
	}
	return nil
}
