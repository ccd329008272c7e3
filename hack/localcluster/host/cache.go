package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// keptUnused is how long something stays in the cache that nobody asks for: a branch may rest for a while.
const keptUnused = 30 * 24 * time.Hour

// CacheFolder is what all checkouts of one user share.
func CacheFolder() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding the folder for what is built once: %w; set HOME or XDG_CACHE_HOME", err)
	}
	return filepath.Join(cache, "cauri"), nil
}

// MarkUsed makes the entry of the cache look new. Where it cannot be (a cache that is only read), nothing is lost.
func MarkUsed(path string) error {
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil && !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("marking %s as used: %w", path, err)
	}
	return nil
}

// RemoveUnused removes those entries of the cache that match a pattern and were not used for long.
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
			return fmt.Errorf("removing what was not used for long: %w", err)
		}
	}
	return nil
}
