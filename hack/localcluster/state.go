package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// stateDir is the folder of one running set: certificates, data, logs and what was started. It is private to its owner
// (0700), since it holds every secret of the set.
type stateDir struct {
	path string // absolute
}

// marker tells a folder that localcluster made from one that was named by mistake, so that a purge never removes the
// latter.
const marker = ".localcluster"

func newStateDir(path string) (stateDir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return stateDir{}, fmt.Errorf("finding the state folder %s: %w", path, err)
	}
	return stateDir{path: absolute}, nil
}

func (d stateDir) file(elements ...string) string {
	return filepath.Join(append([]string{d.path}, elements...)...)
}

func (d stateDir) logFile(name string) string { return d.file("logs", name+".log") }
func (d stateDir) kubeconfig() string         { return d.file("kubeconfig") }
func (d stateDir) encryptionKey() string      { return d.file("encryption.key") }

// isOurs tells whether the folder was made by create.
func (d stateDir) isOurs() bool {
	_, err := os.Stat(d.file(marker))
	return err == nil
}

// create makes the folder and its fixed sub-folders. A folder that holds something else is refused: it would lose its
// permissions now and its content at a purge.
func (d stateDir) create() error {
	entries, err := os.ReadDir(d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the state folder: %w", err)
	}
	if len(entries) > 0 && !d.isOurs() {
		return fmt.Errorf("%s exists and was not made by localcluster: name another folder by --dir, or empty this one", d.path)
	}
	for _, dir := range []string{d.path, d.file("logs"), d.file("run"), d.file("pki")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making the state folder: %w", err)
		}
	}
	if err := os.Chmod(d.path, 0o700); err != nil { // MkdirAll leaves a folder that exists as it is
		return fmt.Errorf("protecting the state folder: %w", err)
	}
	text := "Made by hack/localcluster. `localcluster down --purge` removes this folder.\n"
	return writeFile(d.file(marker), []byte(text))
}

// lock waits until no other localcluster works on this folder. The returned function gives the lock back; so does the
// end of the process, however it ends.
func (d stateDir) lock() (unlock func(), err error) {
	return lockFile(d.file("lock"), func() {
		fmt.Fprintf(os.Stderr, "another localcluster works on %s: waiting for it\n", d.path)
	})
}

// lockFile takes an exclusive lock on a file, which it makes if need be, and calls waiting if that takes time.
func lockFile(path string, waiting func()) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the lock file: %w", err)
	}
	err = flock(file, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		waiting()
		err = flock(file, unix.LOCK_EX)
	}
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { file.Close() }, nil
}

// writeFile writes a file that only its owner may read, all of it or nothing: a crash half-way leaves the old content.
func writeFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-") // 0600
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Close()); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}
