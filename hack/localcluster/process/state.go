// Package process starts, finds again and stops the processes of a running set, and remembers them in its state folder. They
// outlive localcluster.
package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
)

// StateDir is the folder of one running set: certificates, data, logs and what was started. It is private to its owner
// (0700), since it holds every secret of the set.
type StateDir struct {
	Path string // absolute
}

// marker tells a folder that localcluster made from one that was named by mistake, so that a purge never removes the
// latter.
const marker = ".localcluster"

func NewStateDir(path string) (StateDir, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return StateDir{}, fmt.Errorf("finding the state folder %s: %w", path, err)
	}
	return StateDir{Path: absolute}, nil
}

func (d StateDir) File(elements ...string) string {
	return filepath.Join(append([]string{d.Path}, elements...)...)
}

func (d StateDir) LogFile(name string) string { return d.File("logs", name+".log") }
func (d StateDir) Kubeconfig() string         { return d.File("kubeconfig") }
func (d StateDir) EncryptionKey() string      { return d.File("encryption.key") }

// IsOurs tells whether the folder was made by create.
func (d StateDir) IsOurs() bool {
	_, err := os.Stat(d.File(marker))
	return err == nil
}

// Create makes the folder and its fixed sub-folders. A folder that holds something else is refused: it would lose its
// permissions now and its content at a purge.
func (d StateDir) Create() error {
	entries, err := os.ReadDir(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the state folder: %w", err)
	}
	if len(entries) > 0 && !d.IsOurs() {
		return fmt.Errorf("%s exists and was not made by localcluster: name another folder by --dir, or empty this one", d.Path)
	}
	for _, dir := range []string{d.Path, d.File("logs"), d.File("run"), d.File("pki")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making the state folder: %w", err)
		}
	}
	if err := os.Chmod(d.Path, 0o700); err != nil { // MkdirAll leaves a folder that exists as it is
		return fmt.Errorf("protecting the state folder: %w", err)
	}
	text := "Made by hack/localcluster. `localcluster down --purge` removes this folder.\n"
	return host.WriteFile(d.File(marker), []byte(text))
}

// Lock waits until no other localcluster works on this folder. The returned function gives the lock back; so does the
// end of the process, however it ends.
func (d StateDir) Lock() (unlock func(), err error) {
	return host.LockFile(d.File("lock"), func() {
		fmt.Fprintf(os.Stderr, "another localcluster works on %s: waiting for it\n", d.Path)
	})
}
