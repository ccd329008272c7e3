package textfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cauri-dev/cauri/server/textfile"
)

func TestEncodingsOfFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ written, want string }{
		"UTF-8":                     {"é\r\n", "é\r\n"},
		"UTF-8 with a mark":         {"\xef\xbb\xbfé\r\n", "é\r\n"},
		"UTF-16, little end first":  {"\xff\xfe\xe9\x00\r\x00\n\x00", "é\r\n"},
		"UTF-16, big end first":     {"\xfe\xff\x00\xe9\x00\r\x00\n", "é\r\n"},
		"a character beyond 16 bit": {"\xff\xfe\x3d\xd8\x00\xde", "😀"},
		"nothing":                   {"", ""},
		"only a mark":               {"\xef\xbb\xbf", ""},
		"bytes that are no text":    {"\x00\xff\xfe\x80", "\x00\xff\xfe\x80"},
		"a mark in the middle":      {"a\xef\xbb\xbfb", "a\xef\xbb\xbfb"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.written), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := textfile.Read(path); err != nil || string(got) != c.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := textfile.Read("/none"); !os.IsNotExist(err) {
		t.Errorf("no file: %v", err)
	}
}
