package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCacheThatOthersCanChange(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache) // of macOS
	folder, err := CacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := CacheFolder(); err == nil || !strings.Contains(err.Error(), "every user can write") {
		t.Errorf("everybody's folder: %v", err)
	}
	if err := errors.Join(os.Remove(folder), os.Symlink(t.TempDir(), folder)); err != nil {
		t.Fatal(err)
	}
	if _, err := CacheFolder(); err == nil || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("a link: %v", err)
	}
}

func TestOnlyWhatNobodyUsesLeavesTheCache(t *testing.T) {
	t.Parallel()
	cache := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"localkube-v1-old": keptUnused + time.Hour, "localkube-v1-new": time.Hour, "other-v1-old": keptUnused + time.Hour} {
		path := filepath.Join(cache, name)
		if err := os.MkdirAll(filepath.Join(path, "bin"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	left := func() map[string]bool {
		entries, err := os.ReadDir(cache)
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, entry := range entries {
			names[entry.Name()] = true
		}
		return names
	}
	if err := MarkUsed(filepath.Join(cache, "localkube-v1-old")); err != nil {
		t.Fatal(err)
	}
	if err := RemoveUnused(cache, "localkube-v*", now); err != nil || len(left()) != 3 {
		t.Errorf("an entry in use was removed: %v, %v", left(), err)
	}
	if err := RemoveUnused(
		cache,
		"localkube-v*",
		now.Add(keptUnused-time.Minute),
	); err != nil || left()["localkube-v1-new"] || !left()["localkube-v1-old"] ||
		!left()["other-v1-old"] {
		t.Errorf("left: %v, %v", left(), err)
	}
}
