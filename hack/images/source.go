package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// source is the source of an image.
type source struct {
	Folder string
	// Version is the version that `cauri version` prints: v1.2.3, or another word for an image that is not a release.
	Version  string
	Commit   string
	Modified bool // whether files differ from the commit
	Time     time.Time
}

// readSource reads the state of the checkout in a folder.
func readSource(ctx context.Context, folder, version string) (source, error) {
	commit, err := git(ctx, folder, "rev-parse", "HEAD")
	if err != nil {
		return source{}, fmt.Errorf("an image names its commit, so it needs a checkout with a commit: %w", err)
	}
	seconds, err := git(ctx, folder, "log", "-1", "--format=%ct")
	if err != nil {
		return source{}, err
	}
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return source{}, fmt.Errorf("the time of commit %s: %w", commit, err)
	}
	changes, err := git(ctx, folder, "status", "--porcelain")
	if err != nil {
		return source{}, err
	}
	return source{Folder: folder, Version: version, Commit: commit, Modified: changes != "", Time: time.Unix(at, 0).UTC()}, nil
}

// Revision returns the commit for the program and the labels.
func (s source) Revision() string {
	if s.Modified {
		return s.Commit + "-modified"
	}
	return s.Commit
}

// git runs git and returns its output without the last newline.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = folder
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return "", fmt.Errorf("git %s: %s", strings.Join(args, " "), strings.TrimSpace(string(exit.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
