package dev

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/schema"
	"go.yaml.in/yaml/v3"
)

// unset matches a variable of Compose that nobody has set, with its default.
var unset = regexp.MustCompile(`\$\{[A-Z_]+:-([^}]*)\}`)

// The compose file has the form of Compose, and its variables run as in the container, which gets them beside its command.
func TestCompose(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../examples/compose/compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var form map[string]any
	if err := yaml.Unmarshal(text, &form); err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(form); err != nil {
		t.Errorf("it is not of Compose's form: %v", err)
	}
	var file struct {
		Services map[string]struct {
			Command     []string
			Environment map[string]string
		}
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	cauri := file.Services["cauri"]
	if !slices.Equal(cauri.Command, []string{"dev"}) {
		t.Errorf("the command is %q", cauri.Command)
	}
	const database = "CAURI_DATABASE_URL"
	if !strings.HasPrefix(cauri.Environment[database], "postgres://") {
		t.Errorf("%s is %q", database, cauri.Environment[database])
	}
	cauri.Environment[database] = newDatabase(t)
	var env []string
	for _, name := range slices.Sorted(maps.Keys(cauri.Environment)) {
		env = append(env, name+"="+unset.ReplaceAllString(cauri.Environment[name], "$1"))
	}
	p := startIn(t, env)
	if !strings.HasPrefix(p.key, "cauri_sk_test_") || !strings.HasPrefix(p.secret, "whsec_") {
		t.Errorf("the process has the credentials %s and %s", p.key, p.secret)
	}
	p.awaitOutput("webhooks go to " + cauri.Environment["CAURI_WEBHOOK_URL"])
	p.pay("first", "success")
}
