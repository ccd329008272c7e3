package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// result is what became of a rule.
type result struct {
	rule       rule
	problems   []string // why it failed; none: it holds
	notChecked string   // why it could not be checked; empty: it was
}

// shownProblems is how many problems of a rule are printed without -v.
const shownProblems = 6

// report prints results as they come, and sums them up.
type report struct {
	out     io.Writer
	verbose bool

	passed, failed, notChecked int
	reasons                    []string            // for which rules were not checked, in the order of their appearance
	unchecked                  map[string][]string // ids by reason
}

func (r *report) add(done result) {
	switch {
	case len(done.problems) > 0:
		r.failed++
		r.printFailure(done)
	case done.notChecked != "":
		r.notChecked++
		r.postpone(done)
	default:
		r.passed++
		if r.verbose {
			fmt.Fprintf(r.out, "ok   %s: %s\n", done.rule.id, done.rule.text)
		}
	}
}

func (r *report) printFailure(failed result) {
	fmt.Fprintf(r.out, "FAIL %s: %s\n", failed.rule.id, failed.rule.text)
	shown := failed.problems
	if !r.verbose {
		shown = shown[:min(len(shown), shownProblems)]
	}
	for _, problem := range shown {
		fmt.Fprintf(r.out, "     - %s\n", problem)
	}
	if more := len(failed.problems) - len(shown); more > 0 {
		fmt.Fprintf(r.out, "     - and %d more: see them with -v\n", more)
	}
}

// postpone keeps a rule that was not checked for the end of the report, where rules with one reason stand together.
func (r *report) postpone(done result) {
	if r.unchecked == nil {
		r.unchecked = map[string][]string{}
	}
	if !slices.Contains(r.reasons, done.notChecked) {
		r.reasons = append(r.reasons, done.notChecked)
	}
	r.unchecked[done.notChecked] = append(r.unchecked[done.notChecked], done.rule.id)
}

// finish prints the end of the report and returns the exit code.
func (r *report) finish() int {
	for _, reason := range r.reasons {
		fmt.Fprintf(r.out, "not checked: %s\n     %s\n", reason, strings.Join(r.unchecked[reason], ", "))
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d not checked\n", r.passed, r.failed, r.notChecked)
	if r.failed > 0 {
		return exitFailed
	}
	return exitPassed
}

func printRules(out io.Writer, rules []rule) {
	for _, r := range rules {
		fmt.Fprintf(out, "%s: %s\n", r.id, r.text)
	}
	fmt.Fprintf(out, "%d rules\n", len(rules))
}
