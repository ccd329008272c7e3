package console_test

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

	"golang.org/x/net/html"
)

// sameEverywhere are the words that no language translates.
var sameEverywhere = []string{"Cauri", "UTC", "curl", "Express", "Flask", "JUnit", "Laravel"}

// shown are the attributes whose texts people read or hear.
var shown = []string{"aria-label", "title", "placeholder", "alt", "label"}

// elementsOfCode are the elements whose texts are never translated.
var elementsOfCode = []string{"code", "pre", "kbd"}

// Templates have no literal texts: all that people read goes through Text, which translates it.
func TestTemplatesHaveNoTextsOfTheirOwn(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_templ.go")
	if err != nil || len(files) < 5 {
		t.Fatalf("templates: %q, %v", files, err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range parsed.Decls {
			if f, ok := declared.(*ast.FuncDecl); ok {
				for _, word := range wordsOf(markupOf(f)) {
					t.Errorf("%s: %s has the text %q, which no language translates", file, f.Name.Name, word)
				}
			}
		}
	}
}

// markupOf returns the markup that a template writes, with a space for each expression.
func markupOf(f *ast.FuncDecl) string {
	var markup strings.Builder
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) != 3 {
			return true
		}
		if name, ok := call.Fun.(*ast.SelectorExpr); ok && name.Sel.Name == "WriteString" {
			if literal, ok := call.Args[2].(*ast.BasicLit); ok {
				text, _ := strconv.Unquote(literal.Value) // it compiles, so it can be unquoted
				markup.WriteString(text + " ")
			}
		}
		return true
	})
	return markup.String()
}

var word = regexp.MustCompile(`\p{L}{2,}`)

// signs matches signs that need a space before them in French. It ignores JSON.
var signs = regexp.MustCompile(`(^|[^"])[:?!;](\s|$)`)

// identifier matches names of the API, such as the beginning of its keys.
var identifier = regexp.MustCompile(`(?i)[a-z0-9]+[_=]\S+|[a-z]+(-[a-z]+)+`)

// wordsOf returns the words of a markup that people read, without code.
func wordsOf(markup string) (words []string) {
	add := func(text string) {
		for _, each := range word.FindAllString(identifier.ReplaceAllString(text, ""), -1) {
			if !slices.Contains(sameEverywhere, each) {
				words = append(words, each)
			}
		}
	}
	code := 0 // how many elements of code are open
	for reader := html.NewTokenizer(strings.NewReader(markup)); ; {
		switch reader.Next() {
		case html.ErrorToken:
			return words
		case html.TextToken:
			if code == 0 {
				text := string(reader.Text())
				add(text)
				words = append(words, signs.FindAllString(text, -1)...)
			}
		case html.EndTagToken:
			if slices.Contains(elementsOfCode, reader.Token().Data) {
				code--
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			tag := reader.Token()
			if slices.Contains(elementsOfCode, tag.Data) {
				code++
			}
			for _, attribute := range tag.Attr {
				if slices.Contains(shown, attribute.Key) {
					add(attribute.Val)
				}
			}
		}
	}
}
