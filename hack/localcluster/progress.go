package main

import (
	"fmt"
	"io"
	"time"
)

// progress tells a person what is going on: one line a step, with what was done and how long it took.
type progress struct {
	out io.Writer
}

type step struct {
	out   io.Writer
	begun time.Time
}

// begin writes the first half of a line, so that it can be seen what is being waited for.
func (p *progress) begin(name string) step {
	fmt.Fprintf(p.out, "  %-26s", name)
	return step{out: p.out, begun: time.Now()}
}

func (s step) done(did string) {
	fmt.Fprintf(s.out, "%s (%.1f s)\n", did, time.Since(s.begun).Seconds())
}

func (s step) failed() {
	fmt.Fprintf(s.out, "failed (%.1f s)\n", time.Since(s.begun).Seconds())
}
