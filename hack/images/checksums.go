package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const checksumsFile = "SHA256SUMS"

// makeChecksums writes the checksums of all files, in the format of `sha256sum --check`.
func (r *release) makeChecksums() error {
	entries, err := os.ReadDir(r.dist) // sorted by name
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, entry := range entries {
		sum, err := checksum(r.file("%s", entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%s  %s\n", sum, entry.Name())
	}
	fmt.Fprintf(r.out, "\n%s", lines.String())
	_, err = writeFile(r.file(checksumsFile), func(out io.Writer) error { _, err := io.WriteString(out, lines.String()); return err })
	return err
}

func checksum(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	digest := sha256.New()
	if _, err := io.Copy(digest, file); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return fmt.Sprintf("%x", digest.Sum(nil)), nil
}

// verifyChecksums compares the files of a folder with its checksums.
func verifyChecksums(folder string) error {
	list, err := os.ReadFile(filepath.Join(folder, checksumsFile))
	if err != nil {
		return fmt.Errorf("%w; `make release` makes the files", err)
	}
	for line := range strings.Lines(string(list)) {
		want, file, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		got, err := checksum(filepath.Join(folder, file))
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s is not what `make release` made: make it again", filepath.Join(folder, file))
		}
	}
	return nil
}
