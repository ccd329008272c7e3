package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cauri-dev/cauri/server/localpostgres"
)

// keptUnused is how long an unused cache entry is kept.
const keptUnused = 30 * 24 * time.Hour

// CacheFolder creates the cache folder that all checkouts of a user share, and returns its path. It returns an error if
// another user can change the folder, because programs in it are executed.
func CacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the cache folder: %w; set HOME or XDG_CACHE_HOME", err)
	}
	folder := filepath.Join(cache, "cauri")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", fmt.Errorf("creating the cache folder: %w", err)
	}
	if err := localpostgres.CheckFolder(folder, os.Geteuid()); err != nil {
		return "", fmt.Errorf("the cache folder is not safe: %w: set XDG_CACHE_HOME to a folder of your own", err)
	}
	return folder, nil
}

// MarkUsed updates the time of a cache entry. A read-only cache is no error.
func MarkUsed(path string) error {
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("marking %s as used: %w", path, err)
	}
	return nil
}

// RemoveUnused removes the cache entries that match a pattern and were not used for a long time.
func RemoveUnused(cache, pattern string, now time.Time) error {
	entries, err := filepath.Glob(filepath.Join(cache, pattern))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := os.Stat(entry)
		if err != nil || now.Sub(info.ModTime()) < keptUnused {
			continue
		}
		if err := os.RemoveAll(entry); err != nil {
			return fmt.Errorf("removing unused cache entries: %w", err)
		}
	}
	return nil
}
