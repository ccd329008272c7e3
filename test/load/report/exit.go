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

// ProgramFlag declares the flag for another program than that of the work tree: an older one, to compare them.
func ProgramFlag(flags *flag.FlagSet) *string {
	return flags.String("cauri", "", "program to measure; empty: the one of the work tree, built now")
}

// ExitCode says how a run ended. Of a short run only what is broken counts.
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

// ErrCannotMeasure is of a case that needs what this machine does not have. The others are measured, and the run has missed a target.
var ErrCannotMeasure = errors.New("cannot be measured here")
