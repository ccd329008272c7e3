package process

import (
	"fmt"
	"io"
	"time"
)

// Progress tells a person what is going on: one line a step, with what was done and how long it took.
type Progress struct {
	Out io.Writer
}

type step struct {
	out   io.Writer
	begun time.Time
}

// Begin writes the first half of a line, so that it can be seen what is being waited for.
func (p *Progress) Begin(name string) step {
	fmt.Fprintf(p.Out, "  %-26s", name)
	return step{out: p.Out, begun: time.Now()}
}

func (s step) Done(did string) {
	fmt.Fprintf(s.out, "%s (%.1f s)\n", did, time.Since(s.begun).Seconds())
}

func (s step) Failed() {
	fmt.Fprintf(s.out, "failed (%.1f s)\n", time.Since(s.begun).Seconds())
}
