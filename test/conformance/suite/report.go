package suite

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// result is the result of a rule.
type result struct {
	rule       Rule
	problems   []string // why it failed; empty: it passed
	notChecked string   // why it was not checked; empty: it was
}

// shownProblems is the number of problems to show for each rule without -v.
const shownProblems = 6

// Report prints results as they arrive, and a summary.
type Report struct {
	Out     io.Writer
	Verbose bool

	passed, failed, notChecked int
	reasons                    []string            // reasons for unchecked rules, in order of appearance
	unchecked                  map[string][]string // ids by reason
}

func (r *Report) Add(done result) {
	switch {
	case len(done.problems) > 0:
		r.failed++
		r.printFailure(done)
	case done.notChecked != "":
		r.notChecked++
		r.postpone(done)
	default:
		r.passed++
		if r.Verbose {
			fmt.Fprintf(r.Out, "ok   %s: %s\n", done.rule.ID, done.rule.Text)
		}
	}
}

func (r *Report) printFailure(failed result) {
	fmt.Fprintf(r.Out, "FAIL %s: %s\n", failed.rule.ID, failed.rule.Text)
	shown := failed.problems
	if !r.Verbose {
		shown = shown[:min(len(shown), shownProblems)]
	}
	for _, problem := range shown {
		fmt.Fprintf(r.Out, "     - %s\n", problem)
	}
	if more := len(failed.problems) - len(shown); more > 0 {
		fmt.Fprintf(r.Out, "     - and %d more: see them with -v\n", more)
	}
}

// postpone keeps an unchecked rule for the end of the report, grouped by reason.
func (r *Report) postpone(done result) {
	if r.unchecked == nil {
		r.unchecked = map[string][]string{}
	}
	if !slices.Contains(r.reasons, done.notChecked) {
		r.reasons = append(r.reasons, done.notChecked)
	}
	r.unchecked[done.notChecked] = append(r.unchecked[done.notChecked], done.rule.ID)
}

// Finish prints the end of the report and returns the exit code.
func (r *Report) Finish() int {
	for _, reason := range r.reasons {
		fmt.Fprintf(r.Out, "not checked: %s\n     %s\n", reason, strings.Join(r.unchecked[reason], ", "))
	}
	fmt.Fprintf(r.Out, "%d passed, %d failed, %d not checked\n", r.passed, r.failed, r.notChecked)
	switch {
	case r.failed > 0:
		return ExitFailed
	case r.passed == 0: // such as a mistyped -run, or a sandbox without the resources
		fmt.Fprintln(r.Out, "nothing was checked: see the reasons above, or -list for the ids of -run")
		return ExitBroken
	}
	return ExitPassed
}

func PrintRules(out io.Writer, rules []Rule) {
	for _, r := range rules {
		fmt.Fprintf(out, "%s: %s\n", r.ID, r.Text)
	}
	fmt.Fprintf(out, "%d rules\n", len(rules))
}

// Exit codes.
const (
	ExitPassed = 0
	ExitFailed = 1
	ExitBroken = 2
)
