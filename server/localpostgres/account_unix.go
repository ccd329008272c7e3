//go:build unix

package localpostgres

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user as whom Postgres runs; nil: the current user.
type account struct{ *syscall.Credential }

func findAccount() (account, error) {
	credential, err := Credential()
	return account{credential}, err
}

// Credential returns the user as whom Postgres runs; nil means the current user. Postgres does not run as root: for
// root, Credential returns an unprivileged user, if possible Debian's postgres.
func Credential() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("reading the ids of the user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("as root, Postgres does not run, and this machine has no user postgres or nobody: create one, " +
		"or run this as another user")
}

// uid returns the id of the user as whom Postgres runs.
func (a account) uid() int {
	if a.Credential == nil {
		return os.Geteuid()
	}
	return int(a.Uid)
}

// CheckFolder returns an error unless a path is a folder that is owned by a user or by root, and is not world-writable.
// It returns an error for a link to a folder.
func CheckFolder(path string, uid int) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case info.Mode().Type() == os.ModeSymlink:
		return fmt.Errorf("%s is a link, which another user may have made", path)
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", path)
	case ownerOf(info) != uid && ownerOf(info) != 0:
		return fmt.Errorf("%s belongs to the user %d and not to the user %d", path, ownerOf(info), uid)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("every user can write to %s (its mode is %#o)", path, info.Mode().Perm())
	}
	return nil
}

func ownerOf(info os.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// own makes the account the owner of files.
func (a account) own(paths ...string) error {
	if a.Credential == nil {
		return nil
	}
	for _, path := range paths {
		if err := os.Chown(path, int(a.Uid), int(a.Gid)); err != nil {
			return fmt.Errorf("making the user of Postgres the owner of %s: %w", path, err)
		}
	}
	return nil
}

// checkReach returns an error if the account cannot reach a folder.
func (a account) checkReach(folder string) error {
	if a.Credential == nil {
		return nil
	}
	for path := folder; ; path = filepath.Dir(path) {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Mode()&0o001 == 0 {
			return fmt.Errorf("as root, Postgres runs as another user, who cannot enter %s, which has the mode %#o: use a folder that "+
				"every user may enter, such as one in /var/lib, or run this as another user", path, info.Mode().Perm())
		}
		if path == filepath.Dir(path) {
			return nil
		}
	}
}

// attributes returns the attributes of a process that gets no signal of the terminal. So Ctrl-C reaches only this
// program, which then stops Postgres.
func (a account) attributes() *syscall.SysProcAttr {
	return endWithParent(&syscall.SysProcAttr{Setsid: true, Credential: a.Credential})
}
