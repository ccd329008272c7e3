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
		wrong := retired.in(string(french[text]))
		if slices.Contains(notYet, text) != (len(wrong) > 0) {
			t.Errorf("french.go: the French of %q has %q, and notYet the others", text, wrong)
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

// notYet are the texts of the catalog that still have a retired word.
var notYet = []english.Text{
	"410 says that it wants no more events, so the retries of an event end with it.",
	"Add the host to spec.callbackHosts of the sandbox, beside all others that get callbacks. Then send the callback again.",
	"An expectation says what has to happen: payments, events, balances, and nothing else. Cauri evaluates it until it is " +
		"met, or its time is over. A reset ends those of before.",
	"Callbacks do not arrive",
	"Callbacks do not arrive at %s",
	"Callbacks fail",
	"Callbacks of %s's own API fail.",
	"Expectations",
	"It is the callback of %s's own API, which sends it once.",
	"Its holder approves at once.",
	"Its holder enters a wrong PIN.",
	"Nothing was paid. Any four digits approve, and 0000 is a wrong PIN.",
	"Of the expectations of this sandbox, %s.",
	"Receiver refuses callbacks",
	"Retrying",
	"Sandbox `%s`: no real money moves. Do not type a real PIN. Any four digits approve, 0000 is a wrong PIN.",
	"Send again what has no retries left.",
	"The operators of this installation allow no callbacks to this address. Ask them, or use another one.",
	"The payer approves after 20 seconds.",
	"The payer approves, and no callback arrives.",
	"The payer approves, and the callback arrives before the answer.",
	"The payer approves, and the callback arrives twice.",
	"The payer approves.",
	"The payer enters a wrong PIN.",
	"The phones of your test clients. Any four digits approve, `0000` is a wrong PIN. Cancel refuses. Who does not answer " +
		"lets the payment time out.",
	"This sandbox allows no callbacks to %s",
	"Wrong PIN",
	"evaluate expectations",
	"now: enters a wrong PIN by itself",
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
