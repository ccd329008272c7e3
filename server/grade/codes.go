package grade

import (
	"strings"

	cause "github.com/cauri-dev/cauri/server/advice"
	"github.com/cauri-dev/cauri/server/english"
)

// CodeOf returns the code of the cause of a line that failed.
func CodeOf(line string) cause.Code { return cause.Code("grade." + strings.ReplaceAll(line, "-", "_")) }

// Causes returns the cause of each line, for the documents.
func Causes() (all []cause.Advice) {
	lines := Lines()
	for i := range lines {
		l := &lines[i]
		what := english.Say(english.Text("A line of the grade failed: "+l.What.String()+" (%s)"), string(l.Expects))
		all = append(all, cause.Advice{Code: CodeOf(l.ID), Title: l.What, What: what, Do: english.Say(l.Advice().Fix)})
	}
	return all
}
