package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

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
	if err := markUsed(filepath.Join(cache, "localkube-v1-old")); err != nil {
		t.Fatal(err)
	}
	if err := removeUnused(cache, "localkube-v*", now); err != nil || len(left()) != 3 {
		t.Errorf("something that is in use was removed: %v, %v", left(), err)
	}
	if err := removeUnused(cache, "localkube-v*", now.Add(keptUnused-time.Minute)); err != nil || left()["localkube-v1-new"] || !left()["localkube-v1-old"] || !left()["other-v1-old"] {
		t.Errorf("left: %v, %v", left(), err)
	}
}

func TestAnImageIsMadeOnceForEachKey(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	made := 0
	kept := func(key string) keptImage {
		return keptImage{file: "x.tar", key: key, make: func(_ context.Context, _ io.Writer, archive string) error {
			made++
			return os.WriteFile(archive, []byte(key), 0o600)
		}}
	}
	ensure := func(key string) string {
		archive, err := kept(key).ensure(t.Context(), &bytes.Buffer{})
		if err != nil {
			t.Fatal(err)
		}
		return archive
	}
	first := ensure("1")
	if again := ensure("1"); again != first || made != 1 {
		t.Errorf("asked twice: made %d times, %s and %s", made, first, again)
	}
	if other := ensure("2"); other == first || made != 2 {
		t.Errorf("another key: made %d times, %s", made, other)
	}
	folder := filepath.Join(t.TempDir(), "images")
	for _, key := range []string{"1", "1", "2"} {
		if err := placeImage(ensure(key), folder); err != nil {
			t.Fatal(err)
		}
		if content, err := os.ReadFile(filepath.Join(folder, "x.tar")); err != nil || string(content) != key {
			t.Errorf("placed %q, want %q (%v)", content, key, err)
		}
	}
}
