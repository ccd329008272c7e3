//go:build unix

package localpostgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endOrphan ends the server that works on the data of a home, and removes its lock file. The next server refuses to
// start while any process has the pid in this file, even a zombie. If a part of the old server still runs, the next
// server finds the shared memory of that part and refuses to start.
//
// It reads only files that another user cannot have created, and ends only a process of this user that works on the
// data.
func (a account) endOrphan(ctx context.Context, home string) error {
	data := dataIn(home)
	lock := filepath.Join(data, "postmaster.pid")
	err := cmp.Or(CheckFolder(folderIn(home), os.Geteuid()), CheckFolder(data, a.uid()))
	var text []byte
	if err == nil {
		text, err = readOwn(lock, a.uid())
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the lock file of Postgres: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(strings.TrimSpace(first)); err == nil {
		process, err := os.FindProcess(pid) // before the check, so that it stays the process that was checked
		if err != nil {
			return fmt.Errorf("finding the process %d: %w", pid, err)
		}
		for begun := time.Now(); runsIn(pid, data, a.uid()); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > 10*time.Second || ctx.Err() != nil {
				return fmt.Errorf("another Postgres, with the pid %d, works on %s and does not end", pid, data)
			}
			_ = process.Signal(syscall.SIGQUIT)
		}
	}
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the lock file of Postgres: %w", err)
	}
	return nil
}

// readOwn reads a file that belongs to a user and is no link.
func readOwn(path string, uid int) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) // opening a pipe would wait for its writer
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || ownerOf(info) != uid {
		return nil, fmt.Errorf("%s is no file of the user %d", path, uid)
	}
	return io.ReadAll(file)
}
