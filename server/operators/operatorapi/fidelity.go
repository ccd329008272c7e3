package operatorapi

import (
	"fmt"
	"strings"
)

// ExchangesTest is the name of the test that replays recorded exchanges. Each file of exchanges is a subtest.
const ExchangesTest = "TestExchangesOfOperators"

// Summary returns the summary for the page of fidelity, in Markdown. It has the mark and the exchanges of each call,
// and the known differences from the operator's own API.
func (a *API) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s: calls | mark | exchanges |\n| --- | --- | --- |\n", a.Operator)
	for _, g := range a.groups() {
		_, file, _ := strings.Cut(g.test, "/")
		fmt.Fprintf(&b, "| %s | %s | [%s.http](../server/httpapi/testdata/native/%s.http) |\n", strings.Join(g.calls, ", "), g.mark, g.name, file)
	}
	fmt.Fprintf(&b, "\n| here | the real API |\n| --- | --- |\n")
	for _, f := range a.Facts {
		if f.Real != "" {
			fmt.Fprintf(&b, "| %s | %s |\n", f.What, f.Real)
		}
	}
	return b.String()
}

// group has the calls that share a file of exchanges and a mark.
type group struct {
	name, test string
	mark       Mark
	calls      []string
}

func (a *API) groups() (all []*group) {
	byTest := map[string]*group{}
	for _, r := range a.Routes {
		key := r.Doc.Test + string(r.Doc.Mark)
		g := byTest[key]
		if g == nil {
			g = &group{name: r.Doc.Test[strings.LastIndex(r.Doc.Test, "/")+1:], test: r.Doc.Test, mark: r.Doc.Mark}
			byTest[key], all = g, append(all, g)
		}
		if call := "`" + r.Name + "`"; !strings.Contains(strings.Join(g.calls, " "), call) {
			g.calls = append(g.calls, call)
		}
	}
	return all
}

// Fidelity returns the table of an operator's calls and facts for the page of fidelity, in Markdown.
func (a *API) Fidelity() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s: call or fact | mark | source | test |\n| --- | --- | --- | --- |\n", a.Operator)
	for _, r := range a.Routes {
		row(&b, fmt.Sprintf("`%s %s`: %s", r.Method, r.Path, r.Doc.Summary), r.Doc.Mark, r.Doc.Source, r.Doc.Test)
	}
	for _, f := range a.Facts {
		row(&b, f.What, f.Mark, f.Source, f.Test)
	}
	return b.String()
}

func row(b *strings.Builder, what string, mark Mark, source, test string) {
	fmt.Fprintf(b, "| %s | %s | %s | `%s` |\n", what, mark, source, test)
}
