package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cauri-dev/cauri/server/payments"
)

// ofAMarket matches numbers, currencies and countries that are of one market, in texts of the program.
var ofAMarket = func() *regexp.Regexp {
	var codes, countries []string
	for _, c := range payments.Countries {
		codes, countries = append(codes, c.CallingCode()), append(countries, string(c))
	}
	either := strings.Join(countries, "|")
	return regexp.MustCompile(`(\+|%2B|00|\b)(` + strings.Join(codes, "|") + `)\d{6,}|\b(` + strings.Join(payments.Texts(payments.Currencies), "|") +
		`)\b|(such as|example) .?(` + strings.ToLower(either) + "|" + either + `)\b|"(` + either + `)"`)
}()

// marketTexts are the files and folders whose texts may be of a market, with the reason. All other texts that a sandbox shows have an
// example of its own first environment (operators.ExampleNumber), or none.
var marketTexts = allowed(
	reasoned{"the description of the resources, which is that of all sandboxes",
		[]string{"api/v1alpha1"}},
	reasoned{"help of commands, which is that of all sandboxes",
		[]string{"cmd/cauri/cli"}},
	reasoned{"what stands for a request's own value in documents",
		[]string{"server/advice"}},
	reasoned{"the market is that of the number",
		[]string{"server/console/locale/locale.go"}},
	reasoned{"the description of the API. In cauri dev page_market.go puts the sandbox's market in its place, and in messages decode/examples.go",
		[]string{"server/httpapi/apidoc", "server/httpapi/wire"}},
	reasoned{"for tests",
		[]string{"server/ledgertest", "server/operators/operatorapi/operatorapitest", "server/operators/operatorstest"}},
	reasoned{"the description of the operator's API",
		[]string{"server/operators/airtel", "server/operators/moov", "server/operators/mpesa", "server/operators/mtn"}},
	reasoned{"the markets themselves",
		[]string{"server/payments"}},
)

// reasoned is a reason for files, or for all files of folders.
type reasoned struct {
	why   string
	names []string
}

func allowed(all ...reasoned) (names []string) {
	for _, r := range all {
		names = append(names, r.names...)
	}
	return names
}

func TestTextsAreOfTheSandboxesMarket(t *testing.T) {
	found := map[string][]string{}
	for _, folder := range []string{"api", "cmd", "controllers", "server"} {
		err := filepath.WalkDir(filepath.Join("../..", folder), func(path string, _ fs.DirEntry, err error) error {
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			if err != nil || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/testdata/") {
				return err
			}
			var texts []string
			switch {
			case strings.HasSuffix(name, "_templ.go"): // the template is read
			case strings.HasSuffix(name, ".go"):
				texts, err = textsOfGo(path)
			case strings.HasSuffix(name, ".templ"), strings.HasSuffix(name, ".js"):
				var text []byte
				text, err = os.ReadFile(path)
				texts = strings.Split(string(text), "\n")
			}
			for _, text := range texts {
				if ofAMarket.MatchString(text) {
					found[name] = append(found[name], text)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	used := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		at := slices.IndexFunc(marketTexts, func(allowed string) bool { return within(name, allowed) })
		if at >= 0 {
			used[marketTexts[at]] = true
		} else {
			t.Errorf("%s is of one market: %q\nWrite an example of the sandbox's first environment, or none. Else say in marketTexts why.", name, found[name])
		}
	}
	for _, name := range marketTexts {
		if !used[name] {
			t.Errorf("marketTexts: %s has no text of a market any more", name)
		}
	}
}

// textsOfGo returns the texts in a file: literals, tags of fields, and in package v1alpha1 the comments, which CRDs have.
func textsOfGo(path string) (texts []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			texts = append(texts, l.Value)
		}
		return true
	})
	if file.Name.Name == "v1alpha1" {
		for _, c := range file.Comments {
			texts = append(texts, c.Text())
		}
	}
	return texts, nil
}
