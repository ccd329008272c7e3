//go:build unix

package localpostgres

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked is returned by [Lock] for a file that another process has locked.
var ErrLocked = errors.New("another process works with it")

// Lock locks a file until unlock is called or this process ends. It creates a missing file.
func Lock(path string) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = file.Close() }, nil
}
