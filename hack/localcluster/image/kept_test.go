package image

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

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
