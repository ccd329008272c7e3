//go:build unix

package localpostgres

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
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

// Everybody can write to the folder of temporary homes: what lies there is no reason to end a server or to remove its files.
func TestHomesThatOthersMade(t *testing.T) {
	parent := passableFolder(t)
	t.Setenv("TMPDIR", parent)
	victim := keptHome(t)
	server := start(t, victim)
	victim.unlock() // the lock of the home is no protection where another folder leads to the same data
	made := func(name string) string {
		home := filepath.Join(parent, prefix+name)
		if err := errors.Join(os.MkdirAll(folderIn(home), 0o700), os.WriteFile(filepath.Join(home, lockName), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		return home
	}
	link := func(target, path string) {
		if err := errors.Join(os.RemoveAll(path), os.Symlink(target, path)); err != nil {
			t.Fatal(err)
		}
	}
	link(victim.Path, filepath.Join(parent, prefix+"home"))
	link(folderIn(victim.Path), folderIn(made("server")))
	link(dataIn(victim.Path), dataIn(made("data")))
	file := dataIn(made("file"))
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	link(filepath.Join(dataIn(victim.Path), "postmaster.pid"), filepath.Join(file, "postmaster.pid"))
	if os.Geteuid() == 0 {
		if err := os.Chown(made("owner"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	next, err := TemporaryHome(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
	execute(t, server, "create table answers (n int)")
	if _, err := os.Stat(filepath.Join(dataIn(victim.Path), "postmaster.pid")); err != nil {
		t.Errorf("the server lost its lock: %v", err)
	}
	if _, err := os.Stat(filepath.Join(parent, prefix+"owner")); err != nil && os.Geteuid() == 0 {
		t.Errorf("the folder of another user was removed: %v", err)
	}
}

func TestKeptHomeOfAnotherUser(t *testing.T) {
	folder := passableFolder(t)
	link := filepath.Join(folder, "link")
	if err := os.Symlink(passableFolder(t), link); err != nil {
		t.Fatal(err)
	}
	if _, err := KeptHome(link); err == nil || !strings.Contains(err.Error(), "is a link") {
		t.Errorf("a link: %v", err)
	}
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := KeptHome(folder); err == nil || !strings.Contains(err.Error(), "every user can write") {
		t.Errorf("a folder that every user can change: %v", err)
	}
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Chmod(folder, 0o755), os.Chown(folder, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		if _, err := KeptHome(folder); err == nil || !strings.Contains(err.Error(), "belongs to the user 65534") {
			t.Errorf("a folder of another user: %v", err)
		}
	}
}

// The user that runs Postgres can change only its data: where root writes and reads beside them, a link could lead it elsewhere.
func TestOnlyTheDataBelongToPostgres(t *testing.T) {
	home := keptHome(t)
	server := start(t, home)
	for path, owner := range map[string]int{
		home.Path: os.Geteuid(), folderIn(home.Path): os.Geteuid(), dataIn(home.Path): server.account.uid(),
	} {
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || ownerOf(info) != owner {
			t.Errorf("%s does not belong to the user %d: %v, %v", path, owner, info, err)
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
