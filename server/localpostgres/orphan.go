//go:build unix

package localpostgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endOrphan ends the server that works on the data, and removes its lock file: this would stop the next server as long as any process has
// the pid, even a zombie. If a part of the old server still works, the next one finds its shared memory and refuses to start.
func endOrphan(ctx context.Context, data string) error {
	lock := filepath.Join(data, "postmaster.pid")
	text, err := os.ReadFile(lock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the lock file of Postgres: %w", err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if pid, err := strconv.Atoi(strings.TrimSpace(first)); err == nil {
		for begun := time.Now(); runsIn(pid, data); time.Sleep(10 * time.Millisecond) {
			if time.Since(begun) > 10*time.Second || ctx.Err() != nil {
				return fmt.Errorf("another Postgres, with the pid %d, works on %s and does not end", pid, data)
			}
			_ = syscall.Kill(pid, syscall.SIGQUIT)
		}
	}
	if err := os.Remove(lock); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing the lock file of Postgres: %w", err)
	}
	return nil
}
