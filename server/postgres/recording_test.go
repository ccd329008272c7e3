package postgres_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/postgres"
)

func TestStatementsThatRecord(t *testing.T) {
	const statement = "insert into transactions (id, created_at, due_at) values (recording_id($12), recording_time(), recording_time() + $3)"
	for name, test := range map[string]struct {
		scope postgres.Scope
		want  string
	}{
		"without a clock": {
			postgres.Scope{}.Recording(false), "insert into transactions (id, created_at, due_at) values ($12::uuid, now(), now() + $3)",
		},
		"with a clock":      {postgres.Scope{}.Recording(true), statement},
		"recording nothing": {postgres.Scope{}, statement},
	} {
		for range 2 { // the second time it is known
			if got := test.scope.TextOf(statement); got != test.want {
				t.Errorf("%s:\n%s, want\n%s", name, got, test.want)
			}
		}
	}
}

// What is sent to a sandbox without a clock knows of no clocks.
func TestStatementsThatRecordWithoutAClock(t *testing.T) {
	files, _ := filepath.Glob("sqlc/*.sql.go")
	recording := 0
	for _, file := range files {
		generated, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range strings.Split(string(generated), "const ") {
			statement, _, _ := strings.Cut(part, "`\n")
			if !strings.Contains(statement, "recording_") {
				continue
			}
			recording++
			if sent := (postgres.Scope{}).Recording(false).TextOf(statement); strings.Contains(sent, "recording_") || strings.Contains(sent, "clocks") {
				t.Errorf("sent without a clock: %s", sent)
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
