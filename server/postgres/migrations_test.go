package postgres

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// base is the newest migration that may create anything: those after it only add.
const base = 1

// breaking are statements that the program of the release before may not survive while a rolling upgrade runs, or after one that was
// rolled back. First a release stops using something, and a later one removes it: the statement then says so in a comment right above
// it, `-- unused since v0.4`.
var breaking = []*regexp.Regexp{
	regexp.MustCompile(`\bdrop\s+(table|column|view|function|type|schema|sequence|role|policy|trigger)\b`),
	regexp.MustCompile(`\brename\b`),
	regexp.MustCompile(`\balter\s+(column\s+)?\w+\s+(set\s+data\s+)?type\b`),
	regexp.MustCompile(`\bset\s+not\s+null\b`),
	regexp.MustCompile(`\bdrop\s+default\b`),
	regexp.MustCompile(`\brevoke\b`),
	regexp.MustCompile(`\btruncate\b`),
	regexp.MustCompile(`\badd\s+(constraint\s+\w+\s+)?(check|unique|exclude|foreign\s+key|primary\s+key)\b`),
	regexp.MustCompile(`\bcreate\s+unique\s+index\b`),
}

var (
	addedColumn = regexp.MustCompile(`\badd\s+(column\s+)?(if\s+not\s+exists\s+)?\w+\s+[^,;]*\bnot\s+null\b[^,;]*`)
	remark      = regexp.MustCompile(`(?m)--.*$`)
	unusedSince = regexp.MustCompile(`-- unused since v\d+\.\d+`)
	dollarBody  = regexp.MustCompile(`(?s)\$\w*\$.*?\$\w*\$`)
)

// breaks are the statements of a migration that the release before may not survive.
func breaks(migration string) (found []string) {
	up, _, _ := strings.Cut(migration, "-- +goose Down")
	for _, statement := range strings.Split(dollarBody.ReplaceAllString(up, "''"), ";") {
		if unusedSince.MatchString(statement) {
			continue
		}
		text := strings.ToLower(strings.TrimSpace(remark.ReplaceAllString(statement, "")))
		if strings.HasPrefix(text, "create table") { // what nobody knows yet may be as it likes
			continue
		}
		for _, pattern := range breaking {
			if pattern.MatchString(text) {
				found = append(found, text)
			}
		}
		for _, column := range addedColumn.FindAllString(text, -1) {
			if !strings.Contains(column, "default") && !strings.Contains(column, "generated") {
				found = append(found, text)
			}
		}
	}
	return found
}

func TestMigrationsAreAdditive(t *testing.T) {
	t.Parallel()
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("the migrations are %v: %v", names, err)
	}
	for _, name := range names {
		if path.Base(name) < fmt.Sprintf("%05d_", base+1) {
			continue
		}
		text, err := migrations.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range breaks(string(text)) {
			t.Errorf(
				"%s: the program of the release before may fail after\n  %s\nLeave it to a later release, when nobody uses it any more, and write `-- unused since v0.0` above it",
				name,
				statement,
			)
		}
	}
}

// Lines of SQL are read beside one another.
func TestLinesOfSQLAreShort(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"migrations/*.sql", "queries/*.sql"} {
		names, err := fs.Glob(os.DirFS("."), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for i, line := range strings.Split(string(text), "\n") {
				if utf8.RuneCountInString(line) > 110 {
					t.Errorf("%s:%d has more than 110 columns", name, i+1)
				}
			}
		}
	}
}

func TestWhatBreaksTheReleaseBefore(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string]bool{
		"alter table sims drop column name;":                                         true,
		"drop table sims;":                                                           true,
		"drop index sims_by_number;":                                                 false,
		"alter table sims rename column name to label;":                              true,
		"alter table sims alter column name type varchar(3);":                        true,
		"alter table sims alter name set data type text;":                            true,
		"alter table sims alter column name set not null;":                           true,
		"alter table sims alter column name drop not null;":                          false,
		"alter table sims add column color text;":                                    false,
		"alter table sims add column color text not null;":                           true,
		"alter table sims\n  add column a text,\n  add column color text not null;":  true,
		"alter table sims add column color text not null default 'red';":             false,
		"alter table sims add column n bigint not null default 0, add column m int;": false,
		"create table colors (name text not null, check (name <> ''));":              false,
		"create index concurrently on sims (name);":                                  false,
		"create unique index on sims (name);":                                        true,
		"alter table sims add constraint short check (length(name) < 3);":            true,
		"grant select (color) on sims to cauri_api;":                                 false,
		"revoke select on sims from cauri_api;":                                      true,
		"-- it had a column that we drop table\nselect 1;":                           false,
		"-- unused since v0.4\nalter table sims drop column name;":                   false,
		"-- unused since v0.4\nselect 1;\ndrop table sims;":                          true,
		"-- +goose Up\nselect 1;\n-- +goose Down\ndrop table sims;":                  false,
		"create function f() returns text language sql as $$ select 'rename' $$;":    false,
		"alter table sims set (fillfactor = 50);":                                    false,
	} {
		if found := breaks(statement); (len(found) > 0) != want {
			t.Errorf("%q: found %q", statement, found)
		}
	}
}
