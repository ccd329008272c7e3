package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// Account is the user that Postgres runs as.
type Account struct {
	credential *syscall.Credential // nil: the current user
}

// FindAccount returns the current user. For root it returns an unprivileged user, if possible Debian's postgres.
func FindAccount() (Account, error) {
	credential, err := localpostgres.Credential()
	return Account{credential}, err
}

// makeFolder creates a folder that only the account can access.
func (a Account) makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("creating a folder for Postgres: %w", err)
	}
	return a.own(path)
}

// own makes the account the owner of a file or folder.
func (a Account) own(path string) error {
	if a.credential == nil {
		return nil
	}
	if err := os.Chown(path, int(a.credential.Uid), int(a.credential.Gid)); err != nil {
		return fmt.Errorf("changing the owner of %s to the user of Postgres: %w", path, err)
	}
	return nil
}

// Home returns the folder of a set's data. It is in the state folder, unless the user is root. For root it is in
// [host.SystemHome], because Postgres runs as another user. Its name is derived from the path of the state folder.
func Home(d process.StateDir) string {
	if os.Geteuid() != 0 {
		return d.File("postgres")
	}
	hash := sha256.Sum256([]byte(d.Path))
	return filepath.Join(host.SystemHome, hex.EncodeToString(hash[:8]))
}

// MakeHome creates the folder of [Home] and the data folder in it. The user of Postgres can access the data folder.
func MakeHome(d process.StateDir, as Account) error {
	home := Home(d)
	folders := map[string]os.FileMode{home: 0o700}
	if as.credential != nil {
		folders = map[string]os.FileMode{host.SystemHome: 0o755, home: 0o711}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) { // the outer folder has the shorter path and comes first
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("creating a folder for Postgres: %w", err)
		}
		if err := os.Chmod(folder, folders[folder]); err != nil { // regardless of the umask
			return fmt.Errorf("setting the permissions of the Postgres folder: %w", err)
		}
	}
	// The file explains the folder to somebody who finds it.
	return os.WriteFile(filepath.Join(home, "belongs-to"), []byte(d.Path+"\n"), 0o644)
}

// temporaryFolder returns the folder for temporary data: the usual one if the account has access.
func (a Account) temporaryFolder() string {
	usual := os.TempDir()
	if a.credential == nil || passableForAll(usual) {
		return usual
	}
	return "/tmp"
}

// memoryFolder is a file system in memory on Linux. memoryNeeded is the maximum space that test databases need there,
// in bytes.
const (
	memoryFolder = "/dev/shm"
	memoryNeeded = 4096 * host.Mebibyte
)

// fastFolder returns the folder for temporary data that may be lost. Tests create and drop many databases, each with
// hundreds of files. On a disk, this takes more time than the tests.
func (a Account) fastFolder() string {
	_, err := os.Stat(memoryFolder)
	if err != nil || host.CheckSpace(memoryFolder, memoryNeeded, "tests", "") != nil || !passableForAll(memoryFolder) {
		return a.temporaryFolder()
	}
	return memoryFolder
}

// passableForAll reports whether every user may pass through a folder and all its parents.
func passableForAll(path string) bool {
	for {
		info, err := os.Stat(path)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		parent := filepath.Dir(path)
		if parent == path {
			return true
		}
		path = parent
	}
}
