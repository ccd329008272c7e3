package up

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// checkFiles checks the files and folders in the user's settings.
func checkFiles(cauri, crds, rbac, samples string) error {
	info, err := os.Stat(cauri)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: run `make build` first, or set --cauri to the program", cauri)
	case err != nil:
		return fmt.Errorf("looking for the cauri program: %w", err)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not a program: run `make build` first, or set --cauri to the program", cauri)
	}
	if _, err := os.Stat(crds); err != nil {
		return fmt.Errorf(
			"the custom resource definitions are not in %s: run `make generate` first, or set --crds to their folder (%w)",
			crds,
			err,
		)
	}
	if _, err := os.Stat(rbac); err != nil {
		return fmt.Errorf("the roles for people are not in %s: set --rbac to their folder (%w)", rbac, err)
	}
	if samples == "" {
		return nil
	}
	if _, err := os.Stat(samples); err != nil {
		return fmt.Errorf("there are no samples in %s: set --samples to their file or folder, or to nothing to apply none (%w)", samples, err)
	}
	return nil
}

// checkAPIPort returns an error unless the port is free or the running api uses it.
func checkAPIPort(port int, running process.Process) error {
	if running.Running() && running.Address == apiAddress(port) {
		return nil
	}
	if host.IsFree(port) {
		return nil
	}
	other := 8090
	if port == other {
		other++
	}
	return fmt.Errorf(
		"port %d is in use%s: stop that program, or choose another port: %s=%d make up",
		port,
		listener(port),
		apiPortVariable,
		other,
	)
}

// listener returns the name of the program that listens on a port, if this user may see it.
func listener(port int) string {
	pid, program, ok := host.FindListener(port)
	if !ok {
		return " by another program"
	}
	return fmt.Sprintf(" by %s (pid %d)", program, pid)
}
