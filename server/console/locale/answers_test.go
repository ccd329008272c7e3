package locale

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/english"
)

// answering are the packages that write messages of the API, and problems of checks and of expectations.
var answering = []string{
	"server/expectations", "server/faults", "server/httpapi", "server/httpapi/decode", "server/httpapi/view", "server/httpfront",
	"server/ledger/receiverchecks", "server/operators", "server/payments", "server/sandboxes", "server/service",
}

var (
	// saidByAPI matches the beginnings of messages about a request, and about a field.
	saidByAPI = regexp.MustCompile(`^(A|It|No|Nothing|Only|Send|The|There|This|an?|cannot|expected|has|is|must|unexpected)( \S+){2}`)
	// leftEnglish matches words that no French message has.
	leftEnglish = regexp.MustCompile(`(?i)\b(an|and|at least|for example|from|has|have|is|must|not|of|or|send|such|than|that|the|with|write)\b`)
	valueOf     = regexp.MustCompile(`%(\[\d\])?[a-z]`)
)

// piecesOfAnswers begin texts that stand only inside of a message, which TestAnswersAreTranslated has as a whole, or in a log.
var piecesOfAnswers = []string{
	"a fault that was set is ignored", "an answer cannot be encoded", "an http or https URL", "expected an absolute http or https URL%s", "has an %s. %s",
	"is required%s", "must not be null, as JavaScript writes NaN: send a value%s", "Send it again: nothing is recorded", "Send it again with the reference",
	"Send one like ", "The bytes are right, and ", "The connection to the database failed during this request. It is not known whether the request was recorded. ",
	"The receiver holds the right secret, and ", "The reference %q belongs to the %s %s", "The text of the secret, with its", "This sandbox may have %s, ",
	"This sandbox takes %s a minute.",
}

// Each message that the API can answer has its French, because the console shows it beside a field and in Requests.
func TestEveryMessageOfTheAPIIsTranslated(t *testing.T) {
	t.Parallel()
	read := 0
	for file, texts := range textsOf(t, answering) {
		for _, text := range texts {
			isPiece := slices.ContainsFunc(piecesOfAnswers, func(piece string) bool { return strings.HasPrefix(text, piece) })
			if !saidByAPI.MatchString(text) || isPiece {
				continue
			}
			read++
			said := valueOf.ReplaceAllString(strings.ReplaceAll(text, "%q", `"17"`), "17")
			own, known := French.Heard(said)
			if french[english.Text(text)] == "" && (!known || leftEnglish.MatchString(inCode.ReplaceAllString(own, ""))) {
				t.Errorf("%s says %q, in French %q: add it to french_answers.go", file, text, own)
			}
		}
	}
	if read < 100 {
		t.Errorf("only %d messages are found", read)
	}
}

// textsOf returns the constant texts of packages by file. A part of a text that is not constant is "%s".
func textsOf(t *testing.T, packages []string) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, name := range packages {
		files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
		if err != nil || files == nil {
			t.Fatalf("%s has no files: %v", name, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			at := name + "/" + filepath.Base(file)
			ast.Inspect(parsed, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok {
					return true
				}
				text, ok := textIn(e)
				if ok {
					all[at] = append(all[at], text)
				}
				return !ok
			})
		}
	}
	return all
}

// textIn returns the text of an expression; ok is false if it has no constant part.
func textIn(e ast.Expr) (text string, ok bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "", false
		}
		left, okLeft := textIn(e.X)
		right, okRight := textIn(e.Y)
		if !okLeft {
			left = "%s"
		}
		if !okRight {
			right = "%s"
		}
		return left + right, okLeft || okRight
	}
	return "", false
}
