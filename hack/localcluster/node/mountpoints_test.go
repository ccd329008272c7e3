package node

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheLastNodeRemovesMountPoints(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	record := filepath.Join(folder, "record")
	there, missing, used := filepath.Join(folder, "there"), filepath.Join(folder, "a", "missing"), filepath.Join(folder, "used")
	if err := os.Mkdir(there, 0o700); err != nil {
		t.Fatal(err)
	}
	exists := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	leaveFirst, err := makeMountPoints(record, []string{there, missing, used})
	if err != nil {
		t.Fatal(err)
	}
	leaveSecond, err := makeMountPoints(record, []string{there, missing, used})
	if err != nil {
		t.Fatal(err)
	}
	if err := leaveFirst(); err != nil || !exists(missing) {
		t.Fatalf("the first to leave removed what the second one mounts on (%v)", err)
	}
	if err := os.WriteFile(filepath.Join(used, "file"), nil, 0o600); err != nil { // somebody else uses it now
		t.Fatal(err)
	}
	if err := leaveSecond(); err != nil || exists(missing) || !exists(there) || !exists(used) {
		t.Errorf("after the last left (%v): missing %t, there %t, used %t", err, exists(missing), exists(there), exists(used))
	}
	leave, err := makeMountPoints(record, []string{missing})
	if err != nil || !exists(missing) {
		t.Fatalf("not made again: %v", err)
	}
	if err := leave(); err != nil || exists(missing) || !exists(used) {
		t.Errorf("not removed again: %v", err)
	}
}
