// Package process starts, finds and stops the processes of a running set, and records them in its state folder. The
// processes continue after the end of localcluster.
package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cauri-dev/cauri/hack/localcluster/host"
	"github.com/cauri-dev/cauri/server/localpostgres"
)

// StateDir is the folder of one running set: certificates, data, logs and process records. Only its owner can read it
// (0700), because it holds every secret of the set.
type StateDir struct {
	Path string // absolute
}

// marker identifies a folder that localcluster created. A purge never removes a folder without it.
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
func (d StateDir) PINKey() string             { return d.File("pin.pem") }
func (d StateDir) CredentialKey() string      { return d.File("credential.pem") }

// IsOurs reports whether Create of the same user made the folder. This must be checked before the records are used,
// because recorded processes get signals and recorded folders are removed.
func (d StateDir) IsOurs() bool {
	if localpostgres.CheckFolder(d.Path, os.Geteuid()) != nil {
		return false
	}
	_, err := os.Stat(d.File(marker))
	return err == nil
}

// Create creates the folder and its subfolders. It returns an error for a folder with other content, because a purge
// would delete that content.
func (d StateDir) Create() error {
	entries, err := os.ReadDir(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the state folder: %w", err)
	}
	if len(entries) > 0 && !d.IsOurs() {
		return fmt.Errorf("%s exists, and localcluster did not create it: set --dir to another folder, or empty this one", d.Path)
	}
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return fmt.Errorf("creating the state folder: %w", err)
	}
	if err := localpostgres.CheckFolder(d.Path, os.Geteuid()); err != nil {
		return fmt.Errorf("%w: set --dir to a folder of your own", err)
	}
	for _, dir := range []string{d.File("logs"), d.File("run"), d.File("pki")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("creating the state folder: %w", err)
		}
	}
	if err := os.Chmod(d.Path, 0o700); err != nil { // MkdirAll does not change the mode of an existing folder
		return fmt.Errorf("setting the permissions of the state folder: %w", err)
	}
	text := "Made by hack/localcluster. `localcluster down --purge` removes this folder.\n"
	return host.WriteFile(d.File(marker), []byte(text))
}

// Lock waits until no other localcluster uses this folder. The returned function releases the lock. The end of the
// process releases it too.
func (d StateDir) Lock() (unlock func(), err error) {
	return host.LockFile(d.File("lock"), func() {
		fmt.Fprintf(os.Stderr, "waiting for another localcluster that uses %s\n", d.Path)
	})
}
