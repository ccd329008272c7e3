//go:build unix

package localpostgres

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// A server whose program was killed is ended by the next start, and nothing that was committed is lost.
func TestStartAfterAKill(t *testing.T) {
	home := keptHome(t)
	first := start(t, home)
	execute(t, first, "create table kept (n int); insert into kept values (1)")
	second := start(t, home) // as another process would, after the first one was killed
	select {
	case <-first.Ended():
	case <-time.After(time.Minute):
		t.Fatal("the first server still runs")
	}
	execute(t, second, "insert into kept select 2 from kept where n = 1")
	if err := second.Stop(time.Minute); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dataIn(home.Path), "postmaster.pid")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it did not end in order: %v", err)
	}
}

func TestTemporaryHomeOfAKilledProcess(t *testing.T) {
	t.Setenv("TMPDIR", passableFolder(t))
	left, err := TemporaryHome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := start(t, left)
	used, err := TemporaryHome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left.Path); err != nil {
		t.Fatalf("the home of a process that runs was removed: %v", err)
	}
	left.unlock() // as the kernel does when the process is killed
	next, err := TemporaryHome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the home of a process that was killed is left: %v", err)
	}
	<-server.Ended()
	for _, home := range []*Home{used, next} {
		if err := home.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(home.Path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", home.Path, err)
		}
	}
}

func TestKeptHomeIsLocked(t *testing.T) {
	home := keptHome(t)
	if _, err := KeptHome(home.Path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second process gets %v", err)
	}
	if err := home.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := KeptHome(home.Path)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

// passableFolder is a folder of the test that every user may enter.
func passableFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/tmp", "localpostgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func keptHome(t *testing.T) *Home {
	t.Helper()
	home, err := KeptHome(filepath.Join(passableFolder(t), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(home.unlock)
	return home
}

func start(t *testing.T, home *Home) *Server {
	t.Helper()
	server, err := Start(t.Context(), Options{Home: home, Programs: Find})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(0) })
	return server
}

func execute(t *testing.T, server *Server, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	tag, err := conn.Exec(t.Context(), sql)
	if err != nil || tag.Insert() && tag.RowsAffected() != 1 {
		t.Fatalf("%s: %s %v", sql, tag, err)
	}
}
