package node

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// makeMountPoints makes the folders that nodes mount something on, as far as they are missing, and leave removes those again.
// The record lists them. All nodes of the machine share them: the last one that leaves removes them, since a folder that is
// removed takes with it what other namespaces have mounted there.
func makeMountPoints(record string, folders []string) (leave func() error, err error) {
	file, err := os.OpenFile(record, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("recording what is mounted on: %w", err)
	}
	// It only takes time while another removes them.
	if err := host.Flock(file, unix.LOCK_SH); err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", record, err), file.Close())
	}
	for _, folder := range folders {
		if _, err := os.Stat(folder); err == nil {
			continue
		}
		_, err := fmt.Fprintln(file, folder)
		if err = errors.Join(err, os.MkdirAll(folder, 0o755)); err != nil {
			return nil, errors.Join(fmt.Errorf("making a folder to mount on: %w", err), file.Close())
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

// removeRecorded removes the folders of the record as long as they are empty: by now they may be somebody else's.
func removeRecorded(record string) error {
	content, err := os.ReadFile(record)
	if err != nil {
		return fmt.Errorf("reading what was mounted on: %w", err)
	}
	for _, folder := range strings.Fields(string(content)) {
		os.Remove(folder)
	}
	return os.Truncate(record, 0)
}
