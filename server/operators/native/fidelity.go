package native

import (
	"fmt"
	"strings"
)

// Fidelity is the table of an operator's calls and facts for the page of fidelity, in Markdown.
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
