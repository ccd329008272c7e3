package main

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// exclusions are findings that are ignored. A line of their file has the format
//
//	analyzer | files, a regular expression | message, a regular expression | reason
type exclusions []*exclusion

type exclusion struct {
	analyzer       string
	files, message *regexp.Regexp
	line           int
	used           bool
}

func readExclusions(file string) (exclusions, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list exclusions
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, " | ")
		if len(fields) != 4 {
			return nil, fmt.Errorf("%s:%d: want analyzer | files | message | reason", file, i+1)
		}
		e := &exclusion{analyzer: fields[0], line: i + 1}
		if e.files, err = regexp.Compile(fields[1]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		if e.message, err = regexp.Compile(fields[2]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// elsewhere reports whether a line is about files of a module that is not linted in this run.
func (e *exclusion) elsewhere(modules []string) bool {
	for folder := path.Dir(strings.TrimPrefix(e.files.String(), "^")); folder != "." && folder != "/"; folder = path.Dir(folder) {
		if _, err := os.Stat(folder + "/go.mod"); err == nil {
			return !slices.Contains(modules, folder)
		}
	}
	return false
}

// match reports whether a finding is excluded, and marks the line that excludes it as used.
func (list exclusions) match(f finding) bool {
	for _, e := range list {
		if e.analyzer == f.analyzer && e.files.MatchString(f.file) && e.message.MatchString(f.message) {
			e.used = true
			return true
		}
	}
	return false
}
