package locale

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/english"
	"github.com/cauri-dev/cauri/server/faults"
	"github.com/cauri-dev/cauri/server/stories"
)

const documents = "../../../docs/"

var update = flag.Bool("update", false, "write the tables of docs/fr/pannes.md again")

// docs/fr has the presets and the stories with the words of the console.
func TestTablesOfTheFrenchDocuments(t *testing.T) {
	t.Parallel()
	told := func(text english.Text) string { return French.Text(text) }
	presets := "| panne | ce qui arrive | ce que fait une boutique correcte |\n| --- | --- | --- |\n"
	for _, p := range faults.Presets() {
		presets += fmt.Sprintf("| `%s` | %s | %s |\n", p.Name, told(p.What), told(p.Correct))
	}
	played := "| | ce qui arrive | ce que fait une boutique correcte | bac à sable |\n| --- | --- | --- | --- |\n"
	for _, s := range stories.All() {
		where := "le vôtre"
		if len(s.Needs()) > 0 {
			where = "un autre"
		}
		played += fmt.Sprintf("| `%s` | %s | %s | %s |\n", s.Name, told(s.What), told(s.Correct), where)
	}
	path := documents + "fr/pannes.md"
	page := read(t, path)
	want := page
	for name, table := range map[string]string{"presets": presets, "stories": played} {
		before, rest, _ := strings.Cut(want, "<!-- "+name+": begin -->\n")
		_, after, found := strings.Cut(rest, "<!-- "+name+": end -->\n")
		if !found {
			t.Fatalf("%s has no place for the %s", path, name)
		}
		want = before + "<!-- " + name + ": begin -->\n" + table + "<!-- " + name + ": end -->\n" + after
	}
	switch {
	case page == want:
	case *update:
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s has other tables: go test ./server/console/locale -run Tables -update", path)
	}
}

// The words that docs/french.md retires are neither in the documents nor in the catalog.
func TestGlossaryOfFrench(t *testing.T) {
	t.Parallel()
	retired := retiredWords(t)
	if len(retired) < 30 {
		t.Fatalf("docs/french.md retires only %d words", len(retired))
	}
	for _, text := range slices.Sorted(maps.Keys(french)) {
		if wrong := retired.in(string(french[text])); len(wrong) > 0 {
			t.Errorf("french.go: the French of %q has %q", text, wrong)
		}
	}
	for _, a := range frenchAnswers {
		if wrong := retired.in(a.own); len(wrong) > 0 {
			t.Errorf("french_answers.go: the French of %q has %q", a.english, wrong)
		}
	}
	pages, err := filepath.Glob(documents + "fr/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages in French: %q, %v", pages, err)
	}
	for _, page := range pages {
		for _, line := range strings.Split(notProse.ReplaceAllString(read(t, page), ""), "\n") {
			for _, wrong := range retired.in(line) {
				t.Errorf("%s: %s in %q", page, wrong, line)
			}
		}
	}
}

func TestTheTestOfTheGlossaryFindsWords(t *testing.T) {
	t.Parallel()
	retired := retiredWords(t)
	for _, wrong := range []string{"Il approuve.", "Les RAPPELS", "une réinitialisation", "Évènements :", "le mauvais PIN",
		"de test : versement"} {
		if len(retired.in(wrong)) == 0 {
			t.Errorf("%q passes", wrong)
		}
	}
	for _, right := range []string{"`approve` ou `PIN`", "PIN_INVALID", "spec.reset", "en attente", "déversement"} {
		if wrong := retired.in(right); len(wrong) > 0 {
			t.Errorf("%q has %q", right, wrong)
		}
	}
}

// notProse matches what a page shows as code, comments, where its links lead, and the name of the interface.
var notProse = regexp.MustCompile("(?ms)^```.*?^```$|<!--.*?-->|\\]\\([^)]*\\)|Mobile Money Sandbox Service")

// retiredFrench has an expression for each word of the column "never", and what to write instead.
type retiredFrench map[*regexp.Regexp]string

// in says which words a text has outside of code.
func (r retiredFrench) in(text string) (wrong []string) {
	text = inCode.ReplaceAllString(text, "")
	for word, instead := range r {
		if found := word.FindString(text); found != "" {
			wrong = append(wrong, fmt.Sprintf("%q, which is %q", strings.TrimSpace(found), instead))
		}
	}
	return wrong
}

func retiredWords(t *testing.T) retiredFrench {
	t.Helper()
	retired := retiredFrench{}
	for line := range strings.SplitSeq(read(t, documents+"french.md"), "\n") {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.TrimSpace(cells[3]) == "never" || strings.HasPrefix(cells[3], " ---") {
			continue
		}
		for word := range strings.SplitSeq(cells[3], ",") {
			if word = strings.TrimSpace(word); word == "" {
				continue
			}
			forms := regexp.QuoteMeta(word) + `(e?s|x|le|lent)?`
			if stem, verb := strings.CutSuffix(word, "er"); verb {
				forms = regexp.QuoteMeta(stem) + `\pL*`
			}
			retired[regexp.MustCompile(`(?i)(^|[^\pL\pN_.])`+forms+`([^\pL\pN_]|$)`)] = strings.TrimSpace(cells[2])
		}
	}
	return retired
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
