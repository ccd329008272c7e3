package process

import (
	"fmt"
	"io"
	"time"
)

// Progress prints one line for each step: its name, its result and its duration.
type Progress struct {
	Out io.Writer
}

type step struct {
	out   io.Writer
	begun time.Time
}

// Begin prints the first half of the line, to show what the program waits for.
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
