package system

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Build builds the program cauri from the present work tree into a folder and returns its path.
func Build(ctx context.Context, folder string) (string, error) {
	return BuildProgram(ctx, folder, "./cmd/cauri")
}

// BuildProgram builds a program of the present work tree, which stands in a folder such as ./cmd/cauri, into another folder, and returns
// its path.
func BuildProgram(ctx context.Context, folder, source string) (string, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cauri-dev/cauri").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the work tree: %w", err)
	}
	program := filepath.Join(folder, filepath.Base(source))
	build := exec.CommandContext(ctx, "go", "build", "-o", program, source)
	build.Dir = strings.TrimSpace(string(module))
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", source, err, output)
	}
	return program, nil
}
