package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/postgres/queries"
)

func TestStatements(t *testing.T) {
	folder := t.TempDir()
	const source = "package sqlc\n\nconst a = `-- name: Book :one\ninsert into t (at) values (now())\n`\n\nconst b = `something else`\n"
	if err := os.WriteFile(filepath.Join(folder, "a.sql.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := statements(folder)
	if err != nil || len(got) != 1 || got["Book"] != "-- name: Book :one\ninsert into t (at) values (now())\n" {
		t.Errorf("the statements are %q, with the error %v", got, err)
	}
}

// The two versions differ in the time and the id of what they record, and in nothing else.
func TestVersionsOfAStatement(t *testing.T) {
	clocked, err := queries.Expanded(queries.Clocked)
	if err != nil {
		t.Fatal(err)
	}
	unclocked, err := queries.Expanded(queries.Unclocked)
	if err != nil {
		t.Fatal(err)
	}
	same := strings.NewReplacer(queries.Clocked.Time, queries.Unclocked.Time, queries.Clocked.ID, queries.Unclocked.ID)
	for _, name := range slices.Sorted(maps.Keys(clocked)) {
		if same.Replace(clocked[name]) != unclocked[name] {
			t.Errorf("%s differs in more than the time and the id", name)
		}
	}
	if !strings.Contains(clocked["payments.sql"], queries.Clocked.ID) || strings.Contains(unclocked["payments.sql"], "recording_") {
		t.Error("the versions of payments.sql are not those that they should be")
	}
}
