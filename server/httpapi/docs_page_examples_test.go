package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/cauri-dev/cauri/server/operators"
	"github.com/cauri-dev/cauri/server/operators/operatorapi"
	"github.com/cauri-dev/cauri/server/payments"
)

// pageLanguages are the languages of the examples of the pages, how an example in a file is run, and a command that fails on machines
// that cannot run it.
var pageLanguages = map[string]struct {
	file       string
	run, probe []string
}{
	"curl":       {"example.sh", []string{"bash", "example.sh"}, []string{"curl", "--version"}},
	"javascript": {"example.mjs", []string{"node", "example.mjs"}, []string{"node", "--version"}},
	"python":     {"example.py", []string{"python3", "example.py"}, []string{"python3", "--version"}},
	"php":        {"example.php", []string{"php", "example.php"}, []string{"php", "-r", `exit(function_exists("curl_init") ? 0 : 1);`}},
	"go":         {"main.go", []string{"./examples"}, []string{"go", "version"}},
}

// inEveryLanguage runs a test for each language that is on the machine.
func inEveryLanguage(t *testing.T, test func(t *testing.T, language string)) {
	for language, l := range pageLanguages {
		t.Run(language, func(t *testing.T) {
			if err := exec.CommandContext(t.Context(), l.probe[0], l.probe[1:]...).Run(); err != nil {
				t.Skipf("%s is not on this machine: its examples are not run here (docs/development.md)", language)
			}
			test(t, language)
		})
	}
}

// programs are the examples of a page in a language, as the page has them.
type programs struct {
	t                *testing.T
	language, folder string
	page             map[string]*html.Node // by id
}

func newPrograms(t *testing.T, address, language string) *programs {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := html.Parse(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	p := &programs{t, language, t.TempDir(), byID(t, page)}
	p.write(".curlrc", "write-out = \"\\n%{http_code}\"\n")
	if language == "go" {
		p.compile()
	}
	return p
}

func (p *programs) write(file, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.folder, file), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// code returns an example.
func (p *programs) code(id, name string) string {
	for _, example := range all(p.page[id], "details") {
		for _, pre := range all(example, "pre") {
			if attribute(example, "data-example") == name && attribute(pre, "class") == "in-"+p.language {
				return textOf(pre)
			}
		}
	}
	p.t.Fatalf("the page has no example %s of %s in %s", name, id, p.language)
	return ""
}

// goProgram has the examples as functions. They are compiled once, so the program changes ids in requests as it runs.
const goProgram = `package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

var replaced = strings.NewReplacer(strings.Fields(os.Getenv("REPLACED"))...)

type rewriting struct{}

func (rewriting) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Path, r.URL.RawPath = replaced.Replace(r.URL.Path), replaced.Replace(r.URL.RawPath)
	for name := range r.Header {
		r.Header.Set(name, replaced.Replace(r.Header.Get(name)))
	}
	if r.Body != nil {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		text = []byte(replaced.Replace(string(text)))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	}
	return http.DefaultTransport.RoundTrip(r)
}

func main() {
	http.DefaultClient.Transport = rewriting{}
	if err := examples[os.Args[1]](); err != nil {
		panic(err)
	}
}

var examples = map[string]func() error{
`

func (p *programs) compile() {
	p.t.Helper()
	text := strings.Builder{}
	text.WriteString(goProgram)
	for id, article := range p.page {
		for _, example := range all(article, "details") {
			name := attribute(example, "data-example")
			if article.Data == "article" && name != "" {
				fmt.Fprintf(&text, "%q: func() error {\n%s\n},\n", id+"/"+name, p.code(id, name))
			}
		}
	}
	p.write("main.go", text.String()+"}\n")
	p.write("go.mod", "module examples\n\ngo 1.24\n")
	runIn(p.t, p.folder, "", "go", "build", "-o", "examples", ".")
}

// send runs an example, with other ids and variables, and returns what it prints.
func (p *programs) send(t *testing.T, id, name string, replaced []string, variables ...string) (got response) {
	t.Helper()
	l := pageLanguages[p.language]
	run := l.run
	if p.language == "go" {
		run = append(run, id+"/"+name)
	} else {
		p.write(l.file, strings.NewReplacer(replaced...).Replace(p.code(id, name)))
	}
	command := exec.CommandContext(t.Context(), run[0], run[1:]...)
	command.Dir = p.folder
	command.Env = append(os.Environ(), append(variables, "CURL_HOME="+p.folder, "REPLACED="+strings.Join(replaced, " "), "CAURI_API_KEY="+key)...)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, out, p.code(id, name))
	}
	status, body, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if p.language == "curl" {
		end := strings.LastIndex(string(out), "\n")
		status, body = string(out[end+1:]), string(out[:end])
	}
	if got.status, err = strconv.Atoi(status); err != nil {
		t.Fatalf("%s printed %s", id, out)
	}
	if got.raw = strings.TrimSpace(body); got.raw != "" {
		if err := json.Unmarshal([]byte(got.raw), &got.body); err != nil {
			t.Fatalf("%s printed %s", id, out)
		}
	}
	return got
}

// Every example of the page runs as it stands there, in every language, against the address at which the page was opened.
func TestEveryExampleOfThePageRuns(t *testing.T) {
	inEveryLanguage(t, func(t *testing.T, language string) {
		runExamples(t, func(f *fixture) sender {
			p := newPrograms(t, f.url+"/sandboxes/team/checkout/docs", language)
			return func(t *testing.T, id string, _ describedOperation, e describedExample, ids map[string]string) response {
				var replaced []string
				for example, here := range ids {
					replaced = append(replaced, example, here)
					if tx, is := strings.CutPrefix(example, "TX_"); is {
						replaced = append(replaced, "evt_"+tx, eventOf(here))
					}
				}
				return p.send(t, id, e.name, replaced)
			}
		})
	})
}

// Every example of the operators' pages runs, with a new reference for each request that makes something.
func TestEveryExampleOfAnOperatorsPageRuns(t *testing.T) {
	for _, api := range operators.NativeAPIs() {
		inEveryLanguage(t, func(t *testing.T, language string) { runOperatorExamples(t, api, language) })
	}
}

func runOperatorExamples(t *testing.T, api *operatorapi.API, language string) {
	f := newFixture(t)
	f.config.OpeningFloat = map[payments.Currency]int64{payments.RWF: 1_000_000}
	f.enable(api.Operator)
	examples := ofOperators[api.Operator].examples(f)
	p := newPrograms(t, f.url+"/sandboxes/team/checkout/docs/"+string(api.Operator), language)
	variables := examples.variables
	for entry, value := range api.Derive(key).Secret {
		variables = append(variables, "CAURI_"+strings.ToUpper(strings.ReplaceAll(entry, "-", "_"))+"="+value)
	}
	for _, r := range api.Described() {
		raises := language == "python" && r.Doc.Status >= http.StatusBadRequest // for a product that no app here has
		if r.Doc.Query != nil || raises {                                       // the page has no example with a query
			continue
		}
		with := variables
		if r.Access == operatorapi.ByToken {
			with = append(with, "BEARER="+examples.bearer(r))
		}
		got := p.send(t, r.ID(), r.Name, examples.replaced(r), with...)
		if got.status != r.Doc.Status || isRefusal(api, r, got.raw) {
			t.Errorf("%s %s answered %d, want %d: %s", r.Method, r.Path, got.status, r.Doc.Status, got.raw)
		}
	}
}

// isRefusal reports whether a body is a refusal, which some operators answer with the status of a success.
func isRefusal(api *operatorapi.API, r *operatorapi.Route, body string) bool {
	return slices.ContainsFunc(api.Refusals(r), func(why operatorapi.Reason) bool {
		text, _ := json.Marshal(api.Refuse(operatorapi.Refuse(why)).Body)
		return string(text) == body
	})
}
