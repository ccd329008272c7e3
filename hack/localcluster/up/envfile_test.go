package up

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvFile(t *testing.T) {
	t.Parallel()
	text := envFile([][2]string{
		{"DATABASE_URL", "postgres://cauri:ab12@127.0.0.1:20001/cauri?sslmode=disable"},
		{"KUBECONFIG", "/home/a/.cauri/kubeconfig"},
		{"OUTSIDE", "postgres://h/d?a=1&b=$HOME"},
	})
	want := `DATABASE_URL=postgres://cauri:ab12@127.0.0.1:20001/cauri?sslmode=disable
KUBECONFIG=/home/a/.cauri/kubeconfig
OUTSIDE='postgres://h/d?a=1&b=$HOME'
`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Error(diff)
	}
}

func TestEnvFileIsReadByAShell(t *testing.T) {
	t.Parallel()
	value := `it's & "$HOME" \ *`
	file := filepath.Join(t.TempDir(), "env")
	if err := os.WriteFile(file, envFile([][2]string{{"VALUE", value}}), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("/bin/sh", "-c", `. "$1"; printf %s "$VALUE"`, "sh", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(value, string(output)); diff != "" {
		t.Error(diff)
	}
}
