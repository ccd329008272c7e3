package postgres

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/hack/localcluster/process"
)

// Account is the user that Postgres runs as.
type Account struct {
	credential *syscall.Credential // nil: the present user
}

// FindAccount is the present user, and for root one without rights: Debian's postgres if there is one.
func FindAccount() (Account, error) {
	if os.Geteuid() != 0 {
		return Account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.ParseUint(found.Uid, 10, 32)
		if err != nil {
			return Account{}, fmt.Errorf("reading the user id of %s: %w", name, err)
		}
		gid, err := strconv.ParseUint(found.Gid, 10, 32)
		if err != nil {
			return Account{}, fmt.Errorf("reading the group id of %s: %w", name, err)
		}
		return Account{credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
	}
	return Account{}, fmt.Errorf(
		"there is neither a user `postgres` nor `nobody`, and Postgres does not run as root: make one (`useradd --system postgres`), or run this as another user",
	)
}

// makeFolder makes a folder that belongs to the account alone.
func (a Account) makeFolder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("making a folder for Postgres: %w", err)
	}
	return a.own(path)
}

// own gives a file or folder to the account.
func (a Account) own(path string) error {
	if a.credential == nil {
		return nil
	}
	if err := os.Chown(path, int(a.credential.Uid), int(a.credential.Gid)); err != nil {
		return fmt.Errorf("giving %s to the user of Postgres: %w", path, err)
	}
	return nil
}

// Home is where the data of a set are: in its state folder, or, where another user has to get there, under a name
// made from its path.
func Home(d process.StateDir) string {
	if os.Geteuid() != 0 {
		return d.File("postgres")
	}
	hash := sha256.Sum256([]byte(d.Path))
	return filepath.Join(host.SystemHome, hex.EncodeToString(hash[:8]))
}

// MakeHome makes that folder, which must be passable for the user of Postgres, and the one for the data in it.
func MakeHome(d process.StateDir, as Account) error {
	home := Home(d)
	folders := map[string]os.FileMode{home: 0o700}
	if as.credential != nil {
		folders = map[string]os.FileMode{host.SystemHome: 0o755, home: 0o711}
	}
	for _, folder := range slices.Sorted(maps.Keys(folders)) { // the outer one is the shorter and comes first
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("making a folder for Postgres: %w", err)
		}
		if err := os.Chmod(folder, folders[folder]); err != nil { // whatever the umask is
			return fmt.Errorf("opening the way to the data of Postgres: %w", err)
		}
	}
	// For the one who finds the folder and wonders.
	return os.WriteFile(filepath.Join(home, "belongs-to"), []byte(d.Path+"\n"), 0o644)
}

// temporaryFolder is where throw-away data go: the usual folder, if the account gets there.
func (a Account) temporaryFolder() string {
	usual := os.TempDir()
	if a.credential == nil || passableForAll(usual) {
		return usual
	}
	return "/tmp"
}

// memoryFolder is a file system in memory, on Linux, and memoryNeeded what the databases of tests take there at most.
const (
	memoryFolder = "/dev/shm"
	memoryNeeded = 4096 * host.Mebibyte
)

// fastFolder is where throw-away data go that need no disk. Hundreds of files for each database that is created and dropped cost
// a disk's file system more time than the tests cost Postgres.
func (a Account) fastFolder() string {
	_, err := os.Stat(memoryFolder)
	if err != nil || host.CheckSpace(memoryFolder, memoryNeeded, "tests", "") != nil || !passableForAll(memoryFolder) {
		return a.temporaryFolder()
	}
	return memoryFolder
}

// passableForAll tells whether every user may pass through a folder and all those above it.
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
