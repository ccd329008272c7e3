package system

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// mountMemory mounts a file system in memory, of a size in bytes, on a folder.
func mountMemory(folder string, bytes int64) error {
	err := syscall.Mount("tmpfs", folder, "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV, fmt.Sprintf("size=%d,mode=0755", bytes))
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		return fmt.Errorf("%w: %w", ErrNoSmallDisk, err)
	}
	return err
}

func unmountMemory(folder string) error { return syscall.Unmount(folder, syscall.MNT_DETACH) }

// FillDisk fills the disk of [StartPostgresOnSmallDisk]. It returns a function that frees the space.
func (p *Postgres) FillDisk() (free func() error, err error) {
	filler := filepath.Join(p.folder, "filler")
	file, err := os.Create(filler)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(file, endless{}); !errors.Is(err, syscall.ENOSPC) {
		return nil, fmt.Errorf("filling the disk of Postgres: %w", err)
	}
	return func() error { return os.Remove(filler) }, nil
}

// endless is a reader without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
