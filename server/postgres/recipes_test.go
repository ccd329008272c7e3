package postgres_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/localpostgres"
	"github.com/cauri-dev/cauri/server/postgres"
)

var sqlBlock = regexp.MustCompile("(?s)<!-- run by: server/postgres -->\n```sql\n(.*?)```")

// recipes returns the SQL of a document that this test runs. Each user's password becomes its name.
func recipes(t *testing.T, document string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + document)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range sqlBlock.FindAllStringSubmatch(string(text), -1) {
		password := regexp.MustCompile(`(?m)^(create (?:role|user) (\w+).*password )'\.\.\.'`)
		blocks = append(blocks, password.ReplaceAllString(block[1], "$1'$2'"))
	}
	return blocks
}

// The recipes of docs/install.md and docs/security.md run as they stand there, for an administrator who is no superuser. Their names
// are fixed, so each runs on a server of its own: on the version of this machine, and with CAURI_TEST_WHOLE=1 on all versions.
func TestRecipesOfTheDocuments(t *testing.T) {
	t.Parallel()
	install, security := recipes(t, "install.md"), recipes(t, "security.md")
	if len(install) != 1 || len(security) != 2 {
		t.Fatalf("%d and %d blocks", len(install), len(security))
	}
	oldest, newest := 0, 0
	if os.Getenv("CAURI_TEST_WHOLE") != "" {
		oldest, newest = localpostgres.Oldest, localpostgres.Newest
	}
	for major := oldest; major <= newest; major++ {
		for name, steps := range map[string]struct{ before, after string }{
			"an owner who may create roles":        {install[0], security[0]},
			"groups that an administrator creates": {security[1], ""},
		} {
			t.Run(fmt.Sprint(major, " ", name), func(t *testing.T) {
				t.Parallel()
				s := server{t, startPostgres(t, major), ""}
				s.run("", "", "create role admin login createrole createdb password 'admin'")
				s.run("admin", "postgres", statements(steps.before)...)
				if err := postgres.Migrate(t.Context(), s.at("cauri", "cauri")); err != nil {
					t.Fatal(err)
				}
				s.run("cauri", "cauri", statements(steps.after)...)
				s.served(s.at("cauri", "cauri"), s.at("cauri", "cauri"))
				s.served(s.at("shop_controller", "cauri"), s.at("shop_api", "cauri"))
				if err := open(t, s.at("shop_worker", "cauri")).Ping(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// statements returns the statements of a recipe, since several in one message are one transaction, in which no database can be made.
func statements(sql string) (all []string) {
	for statement := range strings.SplitSeq(regexp.MustCompile(`--.*`).ReplaceAllString(sql, ""), ";") {
		if strings.TrimSpace(statement) != "" {
			all = append(all, statement)
		}
	}
	return all
}
