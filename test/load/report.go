package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cauri-dev/cauri/test/load/chart"
)

// figures are all that a run of the program measured: what it writes as JSON.
type figures struct {
	Begun    time.Time     `json:"begun"`
	Seconds  float64       `json:"seconds"`
	Settings settings      `json:"settings"`
	Machine  machine       `json:"machine"` // before everything
	Rows     []report      `json:"rows"`
	Charts   []chart.Chart `json:"charts,omitempty"`
}

// report is what a row came to.
type report struct {
	Row      string   `json:"row"`
	Tells    string   `json:"tells"`
	Seconds  float64  `json:"seconds"`
	Before   machine  `json:"machineBefore"`
	After    machine  `json:"machineAfter"`
	Figures  []figure `json:"figures"`
	Problems []string `json:"problems,omitempty"` // what the audits found
	Skipped  string   `json:"skipped,omitempty"`  // why it was not measured
}

// figure is one thing that was measured, alone or beside a floor.
type figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"`
	Value sample  `json:"value"`
	Floor *sample `json:"floor,omitempty"` // the same of what does no more than it must, in the same rounds
	Ratio *sample `json:"ratio,omitempty"` // to the floor

	// The targets: of the ratio where there is a floor, of the value elsewhere.
	AtLeast *float64 `json:"atLeast,omitempty"`
	AtMost  *float64 `json:"atMost,omitempty"`

	Plot  *plot `json:"plot,omitempty"`
	Shown bool  `json:"shown,omitempty"` // in the table, although it has no target
}

// plot says where a figure stands in a chart.
type plot struct {
	Chart  string  `json:"chart"`
	Series string  `json:"series"`
	X      float64 `json:"x"`
}

// judged is what the target is of.
func (f figure) judged() sample {
	if f.Ratio != nil {
		return *f.Ratio
	}
	return f.Value
}

func (f figure) hasTarget() bool { return f.AtLeast != nil || f.AtMost != nil }

// inTable reports whether the figure is one of those that the table shows; the others are told as they come, and in JSON.
func (f figure) inTable() bool { return f.Shown || f.hasTarget() }

// holds reports whether the median meets the targets.
func (f figure) holds() bool {
	median := f.judged().Median
	return (f.AtLeast == nil || median >= *f.AtLeast) && (f.AtMost == nil || median <= *f.AtMost)
}

// holds reports whether the row meets its targets. A row that was asked for and not measured does not.
func (r report) holds() bool {
	return r.Skipped == "" && len(r.Problems) == 0 && !slices.ContainsFunc(r.Figures, func(f figure) bool { return !f.holds() })
}

// add adds a figure to the report. The pointer is good until the next one is added.
func (b *bench) add(f figure) *figure {
	b.report.Figures = append(b.report.Figures, f)
	return &b.report.Figures[len(b.report.Figures)-1]
}

// figure adds a number that has no target.
func (b *bench) figure(name string, value float64, unit string) {
	b.add(figure{Name: name, Value: sampleOf(value), Unit: unit})
}

// target adds a number that may not be higher than a limit.
func (b *bench) target(name string, value float64, unit string, atMost float64) {
	b.add(figure{Name: name, Value: sampleOf(value), Unit: unit, AtMost: &atMost})
}

// against adds a figure beside its floor.
func (b *bench) against(name, unit string, value, floor sample) *figure {
	ratio := ratioOf(value, floor)
	return b.add(figure{Name: name, Unit: unit, Value: value, Floor: &floor, Ratio: &ratio})
}

func (f *figure) atLeast(limit float64) *figure { f.AtLeast = &limit; return f }
func (f *figure) atMost(limit float64) *figure  { f.AtMost = &limit; return f }

// shown has the table show a figure that has no target.
func (f *figure) shown() *figure { f.Shown = true; return f }

// in puts the figure into a chart.
func (f *figure) in(chart, series string, x float64) *figure {
	f.Plot = &plot{Chart: chart, Series: series, X: x}
	return f
}

// problem adds what an audit found, as one line.
func (b *bench) problem(format string, args ...any) {
	b.report.Problems = append(b.report.Problems, strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
}

// delays adds the times from due to arrival, with the targets of the 99th percentile and of the latest, in milliseconds; a
// target of 0 is none. An event that came before it was due is a problem.
func (b *bench) delays(whose string, delays []time.Duration, p99, latest float64) {
	if len(delays) == 0 {
		b.problem("no event of %s arrived", whose)
		return
	}
	slices.Sort(delays)
	if delays[0] < 0 {
		b.problem("an event of %s arrived %s before it was due", whose, -delays[0])
	}
	for _, f := range []struct {
		name   string
		delay  time.Duration
		target float64
	}{
		{"p50", percentile(delays, 50), 0}, {"p99", percentile(delays, 99), p99}, {"max", delays[len(delays)-1], latest},
	} {
		name, value := fmt.Sprintf("%s: due to arrival, %s", whose, f.name), milliseconds(f.delay)
		if f.target > 0 {
			b.target(name, value, "ms", f.target)
		} else {
			b.figure(name, value, "ms")
		}
	}
}
