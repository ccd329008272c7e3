package system

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/cauri-dev/cauri/test/ports"
)

// StartReplica creates a streaming replica of the server, with its own folder and port, and starts it. It can be
// stopped and started like any other server. [Postgres.Close] removes it.
func (p *Postgres) StartReplica(ctx context.Context) (*Postgres, error) {
	replica := &Postgres{programs: p.programs, credential: p.credential, password: p.password, settings: p.settings}
	var err error
	if replica.port, err = ports.Free(); err != nil {
		return nil, err
	}
	if replica.folder, err = p.newFolder("cauri-replica-"); err != nil {
		return nil, err
	}
	if err := replica.makeData(); err != nil {
		return nil, errors.Join(err, replica.Close())
	}
	backup := exec.CommandContext(ctx, filepath.Join(p.programs, "pg_basebackup"), "--pgdata="+replica.data(), "--host=127.0.0.1",
		"--port="+strconv.Itoa(p.port), "--username="+superuser, "--write-recovery-conf", "--checkpoint=fast", "--no-sync")
	backup.Dir = replica.folder
	backup.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "PGPASSWORD=" + p.password}
	backup.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	if output, err := backup.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("copying the database for a replica: %w\n%s", err, output), replica.Close())
	}
	if err := replica.Start(ctx); err != nil {
		return nil, errors.Join(err, replica.Close())
	}
	return replica, nil
}

// newFolder creates a folder that the user that runs Postgres can pass through. Only the data in it are that user's.
func (p *Postgres) newFolder(name string) (folder string, err error) {
	parent := os.TempDir()
	if p.credential != nil {
		parent = "/tmp" // a path that the other user can reach
	}
	if folder, err = os.MkdirTemp(parent, name); err != nil {
		return "", fmt.Errorf("creating a folder: %w", err)
	}
	if p.credential != nil {
		err = os.Chmod(folder, 0o711)
	}
	return folder, err
}

// makeData creates the empty folder of the data.
func (p *Postgres) makeData() error {
	if err := os.Mkdir(p.data(), 0o700); err != nil {
		return fmt.Errorf("creating the folder of the data: %w", err)
	}
	return p.own(p.data())
}

// own makes the user that runs Postgres the owner of a file or folder.
func (p *Postgres) own(path string) error {
	if p.credential == nil {
		return nil
	}
	if err := os.Chown(path, int(p.credential.Uid), int(p.credential.Gid)); err != nil {
		return fmt.Errorf("changing the owner of %s to the user of Postgres: %w", path, err)
	}
	return nil
}
