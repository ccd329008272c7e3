package postgres_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/postgres"
)

// Each statement that records something has a text for sandboxes without a clock, which knows of no clocks, and no other statement has one.
func TestStatementsThatRecord(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("sqlc/*.sql.go")
	recording := 0
	for _, file := range files {
		generated, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(generated), "const ") {
			_, statement, _ := strings.Cut(part, "`")
			statement, _, ok := strings.Cut(statement, "`\n")
			if !ok {
				continue
			}
			if clocked := (postgres.Scope{}).Recording(true).TextOf(statement); clocked != statement {
				t.Errorf("sent with a clock: %s", clocked)
			}
			without := (postgres.Scope{}).Recording(false).TextOf(statement)
			if !strings.Contains(statement, "recording_") {
				if without != statement {
					t.Errorf("it records nothing, and is sent without a clock as %s", without)
				}
				continue
			}
			recording++
			if strings.Contains(without, "recording_") || strings.Contains(without, "clocks") ||
				strings.Count(without, "\n") != strings.Count(statement, "\n") {
				t.Errorf("sent without a clock: %s", without)
			}
		}
	}
	if recording < 4 {
		t.Errorf("only %d statements that record were found", recording)
	}
}

// Nobody reads the answer of a statement that follows another one.
func TestFollowingStatementsAnswerNothing(t *testing.T) {
	var f postgres.Following
	if _, err := f.Exec(t.Context(), "update transactions set provider_tx_id = $1", "n"); err != nil {
		t.Error(err)
	}
	if _, err := f.Query(t.Context(), "select 1"); err == nil || !strings.Contains(err.Error(), "returns nothing") {
		t.Errorf("a query: %v", err)
	}
	if err := f.QueryRow(t.Context(), "select 1").Scan(new(int)); err == nil {
		t.Error("a row was read")
	}
}
