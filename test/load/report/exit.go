package report

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Exit codes.
const (
	ExitMet    = 0
	exitMissed = 1
	ExitBroken = 2
)

// ProgramFlag declares the flag for another program than that of the work tree, for example an older version to
// compare.
func ProgramFlag(flags *flag.FlagSet) *string {
	return flags.String("cauri", "", "program to measure; empty: build the work tree")
}

// ExitCode returns the exit code of a run. In a smoke run only errors count.
func ExitCode(cases []Report, smoke bool, err error, stderr io.Writer) int {
	if err != nil {
		fmt.Fprintln(stderr, "load:", err)
		return ExitBroken
	}
	for _, r := range cases {
		if len(r.Problems) > 0 || !smoke && !r.holds() {
			return exitMissed
		}
	}
	return ExitMet
}

// ErrCannotMeasure is the error of a case that this machine cannot run. The other cases run, and the run counts as one
// that missed a target.
var ErrCannotMeasure = errors.New("cannot be measured here")
