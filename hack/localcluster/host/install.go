package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// InstallVariable forbids the installation of system packages.
const InstallVariable = "CAURI_INSTALL"

// errNoInstall means that the user forbids the installation.
var errNoInstall = errors.New(InstallVariable + "=0")

// AnnounceInstall prints the commands of an installation on the machine, the reason, and how to refuse. It returns an
// error with the commands if the user has refused.
func AnnounceInstall(out io.Writer, what, why string, commands [][]string) error {
	var lines strings.Builder
	for _, command := range commands {
		fmt.Fprintf(&lines, "  %s\n", strings.Join(command, " "))
	}
	switch value := os.Getenv(InstallVariable); value {
	case "", "1":
		fmt.Fprintf(out, "%s is not installed, and %s. Installing it on this machine (%s=0 refuses):\n%s", what, why, InstallVariable, lines.String())
		return nil
	case "0":
		return fmt.Errorf("%s is not installed, and %s. %w, so nothing is installed. The commands are:\n%s", what, why, errNoInstall,
			strings.TrimSuffix(lines.String(), "\n"))
	default:
		return fmt.Errorf("%s=%s: write 0 to install no packages, or unset it", InstallVariable, value)
	}
}

// LockPackages waits until no other localcluster installs packages. Package managers do not wait for each other.
func LockPackages(out io.Writer) (unlock func(), err error) {
	if err := os.MkdirAll(SystemHome, 0o755); err != nil {
		return nil, fmt.Errorf("creating the folder of the lock: %w", err)
	}
	return LockFile(filepath.Join(SystemHome, "packages.lock"), func() {
		fmt.Fprintln(out, "waiting for another localcluster that installs packages")
	})
}

// AptOptions make apt-get wait for other programs of the machine that install packages.
var AptOptions = []string{"-o", "DPkg::Lock::Timeout=300"}
