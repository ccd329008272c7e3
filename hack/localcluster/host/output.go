package host

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// EndOf returns the last lines of a program's output.
func EndOf(text string, count int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

// LastLines returns the end of a file, or nothing if the file cannot be read.
func LastLines(path string, count int) []string {
	const longest = 300 // maximum length, because a log line may contain a whole object
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size() > 64<<10 {
		file.Seek(-64<<10, io.SeekEnd)
	}
	content, _ := io.ReadAll(file)
	text := strings.TrimRight(string(content), "\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-count):]
	for i, line := range lines {
		if len(line) > longest {
			lines[i] = line[:longest] + "..."
		}
	}
	return lines
}
