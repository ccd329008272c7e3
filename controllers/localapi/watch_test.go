package localapi

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		draft := filepath.Join(folder, name+".swp") // editors write another file and rename it
		if err := os.WriteFile(draft, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(draft, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("shop.yaml", checkout)
	manifests, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	changes := make(chan struct{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); manifests.Watch(ctx, func() { changes <- struct{}{} }) }()
	for _, change := range []func(){
		func() { write("shop.yaml", checkout+"# changed") },
		func() { write("alice.yaml", alice) },
		func() { _ = os.Remove(filepath.Join(folder, "alice.yaml")) },
		func() { _ = os.RemoveAll(folder) },
	} {
		change()
		select {
		case <-changes:
		case <-time.After(deadline):
			t.Fatal("a change was not reported")
		}
	}
	cancel()
	<-ended
	if len(changes) > 0 {
		t.Errorf("%d changes were reported twice", len(changes))
	}
}
