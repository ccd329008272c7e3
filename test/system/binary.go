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
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cauri-dev/cauri").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the work tree: %w", err)
	}
	program := filepath.Join(folder, "cauri")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "./cmd/cauri")
	build.Dir = strings.TrimSpace(string(module))
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building cauri: %w\n%s", err, output)
	}
	return program, nil
}
