//go:build unix

package localpostgres

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// prefix of the names of temporary homes.
const prefix = "cauri-dev-"

// lockName is the name of the lock file in a home. The file is locked while the program of the home runs. It
// distinguishes homes from other folders.
const lockName = "cauri.lock"

// Home is a locked folder of a server.
type Home struct {
	Path      string
	temporary bool
	unlock    func()
}

// KeptHome locks a folder for lasting data. It creates a missing folder. It returns [ErrLocked] if another process uses
// the folder, and another error if another user can change the folder.
func KeptHome(path string) (*Home, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if err := CheckFolder(path, os.Geteuid()); err != nil {
		return nil, fmt.Errorf("%w: name a folder of your own", err)
	}
	unlock, err := Lock(filepath.Join(path, lockName))
	if err != nil {
		return nil, err
	}
	return &Home{Path: path, unlock: unlock}, nil
}

// TemporaryHome creates a folder that [Home.Close] removes. It first removes the temporary homes of processes that were
// killed.
func TemporaryHome(ctx context.Context) (*Home, error) {
	a, err := findAccount()
	if err != nil {
		return nil, err
	}
	parent := os.TempDir()
	if a.checkReach(parent) != nil {
		parent = "/tmp"
	}
	a.removeLeft(ctx, parent)
	path, err := os.MkdirTemp(parent, prefix)
	if err != nil {
		return nil, fmt.Errorf("making a folder for Postgres: %w", err)
	}
	unlock, err := Lock(filepath.Join(path, lockName))
	if err != nil {
		return nil, err
	}
	return &Home{Path: path, temporary: true, unlock: unlock}, nil
}

// Close unlocks the folder, and removes a temporary one.
func (h *Home) Close() error {
	defer h.unlock()
	if !h.temporary {
		return nil
	}
	return os.RemoveAll(h.Path)
}

// removeLeft ends the servers of this user's killed processes, and removes their temporary homes. It checks each
// folder, because every user can create a folder with such a name.
func (a account) removeLeft(ctx context.Context, parent string) {
	homes, _ := filepath.Glob(filepath.Join(parent, prefix+"*")) // a constant pattern
	for _, home := range homes {
		if CheckFolder(home, os.Geteuid()) != nil {
			continue
		}
		lock := filepath.Join(home, lockName)
		if _, err := os.Stat(lock); err != nil { // not a home, or a home that is being created
			continue
		}
		unlock, err := Lock(lock)
		if err != nil {
			continue
		}
		if a.endOrphan(ctx, home) == nil {
			_ = os.RemoveAll(home)
		}
		unlock()
	}
}
