package system

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Variable names the environment variable with the path of a cauri program of the current work tree. `make test` sets
// it, so that not every test package links its own.
const Variable = "CAURI_TEST_PROGRAM"

// Build builds the cauri program from the current work tree into a folder and returns its path. It uses an existing
// program if there is one.
func Build(ctx context.Context, folder string) (string, error) {
	if program := os.Getenv(Variable); program != "" {
		_, err := os.Stat(program)
		return program, err
	}
	return BuildProgram(ctx, folder, "./cmd/cauri")
}

// BuildProgram builds a program of the current work tree, from a folder such as ./cmd/cauri, into another folder, and
// returns its path.
func BuildProgram(ctx context.Context, folder, source string) (string, error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cauri-dev/cauri").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the work tree: %w", err)
	}
	program := filepath.Join(folder, filepath.Base(source))
	build := exec.CommandContext(ctx, "go", "build", "-tags=grpcnotrace", "-o", program, source) // as in the images
	build.Dir = strings.TrimSpace(string(module))
	build.Env = append(build.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", source, err, output)
	}
	return program, nil
}
