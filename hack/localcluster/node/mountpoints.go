package node

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// makeMountPoints creates the missing folders that nodes mount on. All nodes of the machine share the folders and a
// record of them. leave removes the folders if no other node uses them, because removing a folder also removes the
// mounts of other namespaces on it.
func makeMountPoints(record string, folders []string) (leave func() error, err error) {
	file, err := os.OpenFile(record, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("writing the record of mount points: %w", err)
	}
	// This waits only while another node removes the folders.
	if err := host.Flock(file, unix.LOCK_SH); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", record, err), file.Close())
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil {
			continue
		}
		_, err := fmt.Fprintln(file, folder)
		if err = errors.Join(err, os.MkdirAll(folder, 0o755)); err != nil {
			return nil, errors.Join(fmt.Errorf("creating a mount point: %w", err), file.Close())
		}
	}
	return func() error {
		defer file.Close()
		if host.Flock(file, unix.LOCK_EX|unix.LOCK_NB) != nil {
			return nil // another node needs them
		}
		return removeRecorded(record)
	}, nil
}

// removeRecorded removes the recorded folders that are empty. A folder with content is used by another program now.
func removeRecorded(record string) error {
	content, err := os.ReadFile(record)
	if err != nil {
		return fmt.Errorf("reading the record of mount points: %w", err)
	}
	for _, folder := range strings.Fields(string(content)) {
		os.Remove(folder)
	}
	return os.Truncate(record, 0)
}
